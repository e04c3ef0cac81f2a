printf 'kernel=a\n\tkernl=b\n' >rules
warpsafe race --suppress=rules /bin/true; echo $?
warpsafe race --suppress=missing /bin/true; echo $?
