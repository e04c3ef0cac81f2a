/* clocked.c - see clocked.h. The counters of a process are two files in a folder that the command line made: text and JSON.
 * They are written at the end of the process, and before now and then, so that a program that is killed leaves some. */
#include "cuda/clocked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "units/units.h"

/* Written aside and renamed, so that there is never half a file. */
static void save(const char *folder, const char *ending, const struct ws_buf *text)
{
	struct ws_buf path = {0}, aside = {0};
	FILE *f;

	ws_buf_printf(&path, "%s/%ld.%s", folder, (long)getpid(), ending);
	ws_buf_printf(&aside, "%s.new", path.data);
	f = fopen(aside.data, "w");
	if (f) {
		fwrite(text->data, 1, text->len, f);
		if (fclose(f) == 0)
			rename(aside.data, path.data);
	}
	ws_buf_free(&path);
	ws_buf_free(&aside);
}

static void save_all(const struct ws_session *s)
{
	struct ws_buf b = {0};

	ws_timing_text(s->timing, &b);
	save(s->options.counters_dir, "txt", &b);
	b.len = 0;
	ws_timing_json(s->timing, &b);
	save(s->options.counters_dir, "json", &b);
	ws_buf_free(&b);
}

static void at_end(void)
{
	const struct ws_session *s = ws_session_if_any();

	if (s && s->timing && ws_timing_kernel(s->timing, 0, NULL))
		save_all(s);
}

void ws_clocked_start(struct ws_session *s, struct ws_gpu_config *c)
{
	struct ws_timing_options o = {.progress = isatty(STDERR_FILENO)};
	struct ws_buf why = {0};
	struct ws_sink sink = {ws_sink_to_buf, &why};
	uint32_t values[WS_UNIT_OPTIONS];
	struct ws_machine m;
	size_t len;
	char *text = ws_read_file(s->options.config, &len);

	if (!text || !ws_machine_read(&m, s->options.config, text, &sink)) {
		ws_tell("%s: %s; the program runs without a clock", s->options.config, text ? why.data : "cannot be read");
	} else {
		if (s->options.unit)
			o.unit = ws_unit_parse(s->options.unit, values, &why);
		o.unit_values = values;
		s->timing = ws_timing_new(&m, &o);
		c->clock = &ws_timing_clock;
		c->clock_self = s->timing;
		if (o.unit && o.unit->observer) {
			c->observer = o.unit->observer;
			c->observer_self = ws_timing_unit(s->timing);
		}
		c->sms = m.cores;
		c->host_threads = s->options.threads ? s->options.threads : 1;
		c->plain_calls = m.plain_calls;
		if (c->divergence == WS_DIV_AUTO)
			c->divergence = m.stack ? WS_DIV_STACK : WS_DIV_ITS;
		if (s->options.counters_dir)
			atexit(at_end);
	}
	free(text);
	ws_buf_free(&why);
}

uint64_t ws_clocked_ns(void)
{
	const struct ws_session *s = ws_session_if_any();

	return s && s->timing ? ws_timing_nanoseconds(s->timing) : ws_monotonic_ns();
}

void ws_clocked_touch(struct ws_session *s)
{
	enum { EVERY_NS = 500000000 };
	static uint64_t saved;

	if (!s->options.counters_dir || ws_monotonic_ns() - saved < EVERY_NS)
		return;
	save_all(s);
	saved = ws_monotonic_ns();
}
