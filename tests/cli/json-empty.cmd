# the report alone is on standard output
warpsafe race --format=json --seed=5 /bin/echo hello 2>errors; echo $?
cat errors
