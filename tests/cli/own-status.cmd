printf '#!/bin/sh\nexit 7\n' >seven; chmod +x seven
warpsafe race ./seven; echo $?
warpsafe run ./seven; echo $?
printf '#!/bin/sh\nkill -9 $$\n' >killed; chmod +x killed
warpsafe race ./killed; echo $?
warpsafe run ./killed; echo $?
