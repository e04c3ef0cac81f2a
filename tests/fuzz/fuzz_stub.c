/* Fuzz target: the reader of the installed driver's functions. What it finds are whole names, and a library can be made
 * for them; a library made for a file can be read, and has the same names. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "real/stub.h"

static void check(const struct ws_stub_names *s)
{
	struct ws_stub_names again;
	struct ws_buf b = { 0 };
	const char *why = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->len; i++)
		n += !s->names[i];
	if (n != s->n || !s->len || s->names[s->len - 1])
		abort();
	if (ws_stub_make(s, "/lib/libwarpsafe-real.so", &b, &why)) {
		if (!ws_stub_parse(b.data, b.len, &again, &why) || again.n != s->n || again.len != s->len ||
		    memcmp(again.names, s->names, s->len) != 0)
			abort();
		ws_stub_names_free(&again);
	} else if (s->machine == EM_X86_64) {
		abort();
	}
	ws_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t *copy = ws_alloc(size + 8);         /* aligned, as a mapped file is */
	struct ws_stub_names s;
	const char *why = NULL;

	memcpy(copy, data, size);
	if (ws_stub_parse(copy, size, &s, &why)) {
		check(&s);
		ws_stub_names_free(&s);
	} else if (!why) {
		abort();
	}
	free(copy);
	return 0;
}
