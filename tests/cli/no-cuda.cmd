warpsafe race /bin/echo hello; echo $?
warpsafe run -- /bin/echo hello; echo $?
