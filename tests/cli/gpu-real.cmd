warpsafe race --gpu=real /bin/true
