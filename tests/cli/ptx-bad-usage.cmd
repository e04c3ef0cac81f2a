warpsafe ptx; echo $?
warpsafe ptx --prnt x; echo $?
warpsafe ptx a b; echo $?
warpsafe ptx /nonexistent.ptx; echo $?
