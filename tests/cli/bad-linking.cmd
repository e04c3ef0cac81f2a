echo 'int main(void) { return 0; }' >app.c
$CC -static app.c -o static && warpsafe race ./static; echo $?
cat >kernels.c <<X
__attribute__((section(".nv_fatbin"), used)) static int image = 1;
int main(void) { return 0; }
X
$CC kernels.c -o whole && strip -o stripped whole
warpsafe race ./stripped; echo $?
cp whole other-user && chmod u+s other-user && warpsafe race ./other-user; echo $?
