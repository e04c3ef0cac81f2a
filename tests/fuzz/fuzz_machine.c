/* Fuzz target: descriptions of machines (`warpsafe sim --config=FILE`) and of units (`--unit=`). Properties besides "no
 * crash": what is refused says why, and not without end; a machine that is accepted can be made. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "timing/timing.h"
#include "units/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t lines_of(const char *s)
{
	size_t n = 0;

	for (; (s = strchr(s, '\n')) != NULL; s++)
		n++;
	return n;
}

enum { LINES_OF_MESSAGE = 3, KEYS = 300 };      /* with the source line and a mark; no machine has so many keys */

static void machine(const char *text)
{
	struct ws_buf why = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &why };
	struct ws_timing_options o = { 0 };
	struct ws_machine m;
	bool fine = ws_machine_read(&m, "fuzz.conf", text, &sink);

	if (fine == (why.len > 0) || (!fine && lines_of(why.data) > LINES_OF_MESSAGE * (lines_of(text) + KEYS)))
		abort();
	if (fine)
		ws_timing_free(ws_timing_new(&m, &o));
	ws_buf_free(&why);
}

static void unit(const char *text)
{
	uint32_t values[WS_UNIT_OPTIONS];
	struct ws_buf why = { 0 };
	const struct ws_unit_ops *u = ws_unit_parse(text, values, &why);

	if (!u == !why.len)
		abort();
	for (size_t i = 0; u && u->options && u->options[i].name; i++)
		if (values[i] < u->options[i].low || values[i] > u->options[i].high)
			abort();
	ws_buf_free(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = ws_alloc(size + 1);

	memcpy(text, data, size);
	if (size && data[0] == '-')
		unit(text + 1);
	else
		machine(text);
	free(text);
	return 0;
}
