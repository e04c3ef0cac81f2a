for option in granularity=3 memory=local memory= seed=-1 seed=1x seed=9223372036854775808 timeout=soon timeout=-1 \
              cc=1.0 device-memory=4X 'kernel=(' same-value=maybe format=xml error-exitcode=256 color=yes \
              divergence=none schedule=fifo gpu=none detector=none max-instructions=ten threads=1025; do
	warpsafe race "--$option" /bin/true
	echo $?
done
