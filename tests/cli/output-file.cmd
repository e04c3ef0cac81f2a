warpsafe race --format=html --output=page.html /bin/echo hello; echo $?
head -1 page.html
warpsafe race --output=/nonexistent/x /bin/echo hello; echo $?
warpsafe race --output=- /bin/echo hello 2>errors; echo $?
cat errors
