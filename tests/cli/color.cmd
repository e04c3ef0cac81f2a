warpsafe race --color=always /bin/true
warpsafe race --color=never /bin/true
warpsafe race /bin/true
