# tests/tm: the simulated GPU with engines from which a step can be left out, for tests of tests: its number (WS_TM_BREAK) is what
# --patience has above 16 bits.
BROKEN_TM = $(B)/tests/broken-tm
$(BROKEN_TM)/tm.ptx: src/device/tm.cu $(B)/gen/device/tm.ptx
	@mkdir -p $(@D)
	$(DEVICE_CC) $(DEVICE_FLAGS) -DWS_TM_BROKEN -S $< -o $@
$(BROKEN_TM)/tm.c: $(BROKEN_TM)/tm.ptx
	{ echo '#include "rewrite/rewrite.h"'; echo 'const char ws_device_tm[] ='; \
	  sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $<; echo ';'; } > $@
$(BROKEN_TM)/tm.o: $(BROKEN_TM)/tm.c
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
$(BROKEN_TM)/lib/libwarpsafe.so: $(filter-out $(B)/obj/device/tm.o $(B)/obj/cli/% $(B)/obj/real/%,$(OBJ)) $(BROKEN_TM)/tm.o
	@mkdir -p $(@D)
	$(SHARED) -Wl,-soname,$(@F) -Wl,-Bsymbolic $^ $(LDLIBS) -o $@
$(BROKEN_TM)/warpsafe: $(B)/warpsafe $(CUDA_LIBS) $(BROKEN_TM)/lib/libwarpsafe.so
	cp $(filter-out $(L)/libwarpsafe.so,$(CUDA_LIBS)) $(BROKEN_TM)/lib/
	cp $< $@
tests: $(BROKEN_TM)/warpsafe
