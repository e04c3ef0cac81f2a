warpsafe help race && warpsafe race --help | cmp - <(warpsafe help race) && warpsafe race --seed=1 -h | cmp - <(warpsafe help race)
