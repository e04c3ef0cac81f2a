# warpsafe bench: the races of the ten workloads, small sizes, and bad usage
warpsafe bench D9; echo $?
warpsafe bench --quack; echo $?
WARPSAFE_DRIVER=/nowhere/libcuda.so.1 warpsafe bench --quick D5; echo $?
warpsafe bench --quick D2; echo $?
warpsafe bench --quick --format=json D3 >d3.json; echo $?
grep -c '"holds"' d3.json
grep DIFFERS d3.json
exit 0
