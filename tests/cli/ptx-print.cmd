printf '.version 9.0\n.target sm_90\n.address_size 64\n// note\n.visible .entry k()\n{\n\t  ret ;\n}\n' >k.ptx
warpsafe ptx k.ptx; echo $?
warpsafe ptx --print k.ptx | cmp - k.ptx; echo $?
warpsafe ptx --cfg - <k.ptx
