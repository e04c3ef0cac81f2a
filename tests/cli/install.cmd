# what `make install` puts elsewhere works from there
make -s -C "$ROOT" B="${B:-build}" PREFIX="$PWD/usr" install 2>&1 || exit
(cd usr && find . -maxdepth 4 \( -name '*.so*' -prune \) -o -type f -print | grep -vE 'doc/|include/' | LC_ALL=C sort)
printf '__global__ void k(int *p) { p[0] = threadIdx.x; }\nint main() { int *p; cudaMalloc(&p, 4); k<<<1, 2>>>(p); return cudaDeviceSynchronize(); }\n' >k.cu
usr/bin/warpsafe cc k.cu -o k || exit
usr/bin/warpsafe race ./k 2>&1 | grep -E '^R|^warpsafe'
make -s -C "$ROOT" B="${B:-build}" PREFIX="$PWD/usr" uninstall 2>&1
find usr -type f
