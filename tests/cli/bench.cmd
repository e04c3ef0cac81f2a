# warpsafe bench: the races of the ten workloads and transactions by contention, small sizes, and bad usage
warpsafe bench D9; echo $?
warpsafe bench --quack; echo $?
WARPSAFE_DRIVER=/nowhere/libcuda.so.1 warpsafe bench --quick D5; echo $?
warpsafe bench --quick D2; echo $?
warpsafe bench --quick --format=json D3 >d3.json; echo $?
grep -c '"holds"' d3.json
grep DIFFERS d3.json
warpsafe bench --quick --format=json S3 >s3.json; test $? -lt 2; echo $?
grep -c 'fewer aborts than above' s3.json
exit 0
