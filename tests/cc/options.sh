#!/bin/bash
# options.sh WARPSAFE FOLDER - options of `warpsafe cc`: what is written where, what is refused and how.
WS=$1 T=$2/options
mkdir -p "$T/tmp" && cd "$T" || exit 2
export TMPDIR=$T/tmp
bad=0
check() { if ! eval "$2"; then echo "FAIL: $1"; bad=1; fi; }
cat > a.cu <<'X'
#include <cstdio>
__global__ void k(float *p) { p[threadIdx.x] = sinf(p[threadIdx.x]) / 3.0f; }
int main() { return VALUE; }
X
echo 'extern "C" int other() { return 1; }' > b.cpp
check "object file beside the source" '$WS cc -DVALUE=0 -c a.cu && [ -s a.o ]'
check "ptx with lines" '$WS cc -DVALUE=0 --ptx a.cu && grep -q "\.loc" a.ptx && grep -q "target sm_70" a.ptx'
check "ptx named" '$WS cc -DVALUE=0 -ptx a.cu -o b.ptx -arch=sm_80 && grep -q "target sm_80" b.ptx'
check "gencode takes the newest" '$WS cc -DVALUE=0 --ptx a.cu -o c.ptx -gencode arch=compute_60,code=sm_60 -gencode=arch=compute_75,code=[sm_75,compute_75] && grep -q "target sm_75" c.ptx'
check "arch in the next word" '$WS cc -DVALUE=0 --ptx a.cu -o c.ptx -arch sm_60 && grep -q "target sm_60" c.ptx'
check "fast math" '$WS cc -DVALUE=0 --ptx -use_fast_math a.cu -o d.ptx && grep -q "sin.approx" d.ptx && grep -q "div.approx\|mul.*f32" d.ptx'
check "precise by default" '! grep -q "sin.approx" a.ptx'
check "device debugging" '$WS cc -DVALUE=0 --ptx -G a.cu -o e.ptx && grep -q "__local_depot" e.ptx'
check "host options of nvcc" '$WS cc -DVALUE=0 -O3 -std=c++14 -Xcompiler -Wall,-Wextra -lineinfo --expt-relaxed-constexpr --extended-lambda -m64 -Xptxas -v -maxrregcount=64 -c a.cu b.cpp && [ -s b.o ]'
check "preprocess" '$WS cc -DVALUE=77 -E a.cu | grep -q "return 77"'
check "keep" '$WS cc -DVALUE=0 --keep -c a.cu -o f.o && [ -s a.ptx ] && [ -s a.fatbin ]'
check "nothing else is left" '[ -z "$(ls tmp)" ]'
refuse() { # status 2, one line on stderr with the text, for the options
	local text=$1 status
	shift
	$WS cc "$@" > out 2> err
	status=$?
	check "refused: $*" "[ $status -eq 2 ] && [ \$(wc -l < err) -eq 1 ] && grep -qF -- '$text' err"
}
refuse "no input file"
refuse "relocatable device code" -rdc=true a.cu
refuse "relocatable device code" -dc a.cu
refuse "cannot read" missing.cu
refuse "needs a value" a.cu -o
refuse "names no GPU architecture" -arch=fermi a.cu
refuse "there are 2 inputs" -c a.cu b.cpp -o two
check "a fault of the program is shown as clang says it" '! $WS cc -c b.ptx.cu 2>/dev/null; echo "int x = ;" > g.cu; ! $WS cc -c g.cu 2> err && grep -q "g.cu:1:9: error" err'
mkdir -p none && ln -sf "$(command -v env)" none/env
check "no clang" 'PATH=$T/none $WS cc -c a.cu 2> err; [ $? -eq 2 ] && grep -q "apt install clang" err && [ $(wc -l < err) -eq 1 ]'
exit $bad
