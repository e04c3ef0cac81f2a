// error: __cluster_dims__ is not supported
__global__ void __cluster_dims__(2, 1, 1) k(int *p) { *p = 1; }
int main() { return 0; }
