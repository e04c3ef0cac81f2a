/* Fuzz target: the reader of fat binaries. Property besides "no crash": what is found lies inside the input. */
#include <stdlib.h>

#include "cuda/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ws_fatbin f = {0};
	const char *why = NULL;
	size_t i, len;

	if (!ws_fatbin_read(&f, data, size, &why) && !why)
		abort();
	for (i = 0; i < f.n; i++) {
		if (f.images[i].data < data || f.images[i].len > size - (size_t)(f.images[i].data - data))
			abort();
		if (f.images[i].plain_len <= 1 << 20)
			free(ws_image_text(&f.images[i], &len, &why));
	}
	ws_fatbin_ptx(&f, 90);
	ws_fatbin_free(&f);
	return 0;
}
