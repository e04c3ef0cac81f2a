warpsafe race --seed; echo $?
warpsafe race --seed=1; echo $?
warpsafe race --seed 1 --; echo $?
warpsafe run; echo $?
