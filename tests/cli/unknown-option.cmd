warpsafe race --granularty=2 app; echo $?
warpsafe run --granularity=2 app; echo $?
warpsafe race --xyzzy app; echo $?
warpsafe race -v app; echo $?
warpsafe race --report-dir=x app; echo $?
