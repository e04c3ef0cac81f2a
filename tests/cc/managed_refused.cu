// error: __managed__ variables are not supported; use cudaMallocManaged or a __device__ variable
__managed__ int shared_by_both;
int main() { return 0; }
