printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\tadd.u33 %%r1, 2, 3;\n}\n' >bad.ptx
warpsafe ptx bad.ptx >out; echo $?
wc -c <out
warpsafe ptx --print - <bad.ptx | cmp - bad.ptx && echo "kept as it is"
