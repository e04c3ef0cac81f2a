warpsafe race --gpu=real --granularity=4 /bin/true
