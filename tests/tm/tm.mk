# tests/tm: the simulated GPU with engines from which a step can be left out, for tests of tests: its number (WS_TM_BREAK) is what
# --patience has above 16 bits.
BROKEN_TM = $(B)/tests/broken-tm
$(GEN)/broken-tm/%.ptx: src/device/%.cu $(GEN)/device/%.ptx
	@mkdir -p $(@D)
	$(DEVICE_CC) $(DEVICE_FLAGS) -DWS_TM_BROKEN -S $< -o $@
$(GEN)/broken-tm/%.c: $(GEN)/broken-tm/%.ptx
	{ echo '#include "rewrite/rewrite.h"'; echo 'const char ws_device_$*[] ='; \
	  sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $<; echo ';'; } > $@
.PRECIOUS: $(GEN)/broken-tm/%.ptx $(GEN)/broken-tm/%.c
$(BROKEN_TM)/%.o: $(GEN)/broken-tm/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
$(BROKEN_TM)/lib/libwarpsafe.so: $(filter-out $(B)/obj/device/tm.o $(B)/obj/device/tm_logged.o $(B)/obj/cli/% $(B)/obj/real/%,$(OBJ)) \
                               $(BROKEN_TM)/tm.o $(BROKEN_TM)/tm_logged.o
	@mkdir -p $(@D)
	$(SHARED) -Wl,-soname,$(@F) -Wl,-Bsymbolic $^ $(LDLIBS) -o $@
$(BROKEN_TM)/lib/libwarpsafe-real.so: $(REAL_OBJ) $(BROKEN_TM)/tm.o $(BROKEN_TM)/tm_logged.o $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -Wl,-z,nodelete -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -Wl,-soname,$(@F) $^ $(REAL_LINK) -o $@
$(BROKEN_TM)/warpsafe: $(B)/warpsafe $(CUDA_LIBS) $(BROKEN_TM)/lib/libwarpsafe.so $(BROKEN_TM)/lib/libwarpsafe-real.so
	cp $(filter-out $(L)/libwarpsafe.so,$(CUDA_LIBS)) $(BROKEN_TM)/lib/
	cp $< $@
tests: $(BROKEN_TM)/warpsafe
