warpsafe rcae app; echo $?
warpsafe something; echo $?
warpsafe --race app; echo $?
