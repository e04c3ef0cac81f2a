warpsafe race ./missing; echo $?
warpsafe race missing-everywhere; echo $?
warpsafe race /dev/null; echo $?
mkdir folder && warpsafe race ./folder; echo $?
echo 'int main(void) { return 0; }' >app.c
warpsafe race ./app.c; echo $?
cp app.c app.cu && warpsafe race ./app.cu; echo $?
cp app.c text && chmod +x text && warpsafe race ./text; echo $?
cp app.c local && chmod +x local && warpsafe race local; echo $?
printf '\177ELF' >short && chmod +x short && warpsafe race ./short; echo $?
head -c 4096 /bin/true >cut && chmod +x cut && warpsafe race ./cut; echo $?
