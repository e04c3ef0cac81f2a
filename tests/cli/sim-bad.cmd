# machines that cannot be read: the line, and what to do
warpsafe sim --config=titan /bin/true
warpsafe sim --config=./none.conf /bin/true
printf '# mine\ncores = many\ncoers = 16\n' >mine.conf
warpsafe sim --config=mine.conf /bin/true 2>&1 | head -12
sed 's/^l2.bytes .*/l2.bytes = 200000/' "$ROOT/src/timing/configs/fermi.conf" >mine.conf
warpsafe sim --config=mine.conf /bin/true 2>errors
echo "status $?"
sed "s/:[0-9]*: error/:N: error/" errors
