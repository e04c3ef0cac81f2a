/* output.c - the counters as text for people and as JSON. */
#include "timing/timing_priv.h"

static const struct { const char *name, *text; } names[] = {
#define COUNTER(name, text) { #name, text },
#include "timing/counters.def"
#undef COUNTER
};

static uint64_t value(const struct ws_counters *c, size_t i)
{
	return ((const uint64_t *)(const void *)c)[i];
}

static double share(uint64_t a, uint64_t of)
{
	return of ? (double)a / (double)of : 0;
}

/* What follows from the counters. */
static double ipc(const struct ws_counters *c) { return share(c->issued, c->cycles); }
/* Of the time of the data buses, the part in which there were data. */
static double dram_utilization(const struct ws_timing *t, const struct ws_counters *c)
{
	uint64_t burst = (t->m.dram_burst + t->m.dram_bus - 1) / t->m.dram_bus;

	return share((c->dram_reads + c->dram_writes) * burst * t->memory_cycle, ws_fine(c->cycles) * t->m.partitions);
}
static double simd_efficiency(const struct ws_timing *t, const struct ws_counters *c)
{
	return share(c->lanes_issued, c->issued * WS_WARP * (t->m.wavefront + 1));
}
/* Requests that found their row open: it was not opened for them. */
static uint64_t row_hits(const struct ws_counters *c)
{
	return c->dram_requests > c->dram_activations ? c->dram_requests - c->dram_activations : 0;
}

static void add_line(struct ws_buf *out, const char *label, uint64_t n, double percent)
{
	ws_buf_printf(out, "  %-34s ", label);
	size_t at = out->len;

	ws_buf_add_count(out, n);
	if (out->len - at < 18) {        /* right-aligned */
		size_t pad = 18 - (out->len - at);
		struct ws_buf b = {0};

		ws_buf_add(&b, out->data + at, out->len - at);
		out->len = at;
		ws_buf_printf(out, "%*s%s", (int)pad, "", b.data);
		ws_buf_free(&b);
	}
	if (percent >= 0)
		ws_buf_printf(out, "  %5.1f %%", 100 * percent);
	ws_buf_puts(out, "\n");
}

static void add_pair(struct ws_buf *out, const char *label, uint64_t hits, uint64_t misses)
{
	if (hits + misses)
		add_line(out, label, hits, share(hits, hits + misses));
}

static void stalls(const struct ws_counters *c, struct ws_buf *out)
{
	const uint64_t *stall = &c->stall_pipeline;
	size_t first = offsetof(struct ws_counters, stall_pipeline) / sizeof(uint64_t);

	add_line(out, "scheduler cycles", c->slots, -1);
	add_line(out, "issued", c->issued, share(c->issued, c->slots));
	for (size_t i = 0; i < WS_STALL_COUNT; i++)
		if (stall[i])
			add_line(out, names[first + i].text, stall[i], share(stall[i], c->slots));
}

static void kernel_text(const struct ws_timing *t, const struct ws_tkernel *k, struct ws_buf *out)
{
	const struct ws_counters *c = &k->c;

	ws_buf_printf(out, "%s: %llu launch%s, ", k->name, (unsigned long long)c->launches, c->launches == 1 ? "" : "es");
	ws_buf_add_count(out, c->cycles);
	ws_buf_printf(out, " cycles (%.3f ms), %.3f instructions a cycle, %.1f %% of the lanes active\n",
	              (double)c->cycles / t->m.clock_core / 1000, ipc(c), 100 * simd_efficiency(t, c));
	add_line(out, "thread instructions", c->thread_instructions, -1);
	stalls(c, out);
	add_pair(out, "branches of one way", c->branches - c->diverged, c->diverged);
	if (c->shared_accesses)
		add_line(out, "passes added by bank conflicts", c->bank_conflicts, -1);
	if (c->loads + c->stores + c->atomics)
		add_line(out, "memory transactions", c->transactions, -1);
	add_pair(out, "first-level cache hits", c->l1_hits, c->l1_misses);
	add_pair(out, "constant cache hits", c->constant_hits, c->constant_misses);
	add_pair(out, "texture cache hits", c->texture_hits, c->texture_misses);
	add_pair(out, "second-level cache hits", c->l2_hits, c->l2_misses);
	if (c->dram_reads + c->dram_writes) {
		add_line(out, "DRAM bursts read", c->dram_reads, -1);
		add_line(out, "DRAM bursts written", c->dram_writes, -1);
		add_line(out, "DRAM requests to an open row", row_hits(c), share(row_hits(c), c->dram_requests));
	}
}

static bool unit_counter(const struct ws_timing *t, unsigned i, struct ws_unit_counter *c)
{
	const struct ws_unit_ops *u = t->options.unit;

	return u && u->counter && u->counter(t->unit, i, c);
}

static void unit_text(const struct ws_timing *t, struct ws_buf *out)
{
	struct ws_unit_counter c;

	if (t->options.unit)
		ws_buf_printf(out, "unit %s:\n", t->options.unit->name);
	for (unsigned i = 0; unit_counter(t, i, &c); i++)
		add_line(out, c.text, c.value, -1);
	for (unsigned i = 0; t->options.unit && t->options.unit->found; i++) {
		size_t before = out->len;

		ws_buf_puts(out, "  ");
		if (!t->options.unit->found(t->unit, i, out, NULL)) {
			out->len = before;
			break;
		}
		ws_buf_puts(out, "\n");
	}
}

void ws_timing_text(const struct ws_timing *t, struct ws_buf *out)
{
	ws_buf_printf(out, "machine %s: %u cores at %u MHz\n", t->m.name, t->m.cores, t->m.clock_core);
	for (size_t i = 0; i < t->nkernels; i++)
		kernel_text(t, &t->kernels[i], out);
	unit_text(t, out);
}

static void found_json(const struct ws_timing *t, struct ws_buf *out)
{
	struct ws_buf one = {0};

	if (!t->options.unit->found)
		return;
	ws_buf_puts(out, ", \"found\": [");
	for (unsigned i = 0; t->options.unit->found(t->unit, i, NULL, &one); i++) {
		ws_buf_puts(out, i ? ",\n  " : "\n  ");
		ws_buf_add(out, one.data, one.len);
		one.len = 0;
	}
	ws_buf_puts(out, "]");
	ws_buf_free(&one);
}

static void unit_json(const struct ws_timing *t, struct ws_buf *out)
{
	struct ws_unit_counter c;

	if (!t->options.unit)
		return;
	ws_buf_printf(out, ", \"unit\": {\"name\": \"%s\"", t->options.unit->name);
	for (unsigned i = 0; unit_counter(t, i, &c); i++)
		ws_buf_printf(out, ", \"%s\": %llu", c.name, (unsigned long long)c.value);
	found_json(t, out);
	ws_buf_puts(out, "}");
}

void ws_timing_json(const struct ws_timing *t, struct ws_buf *out)
{
	ws_buf_puts(out, "{\"schema\": 1, \"machine\": ");
	ws_buf_add_json(out, t->m.name);
	ws_buf_printf(out, ", \"clock_mhz\": %u, \"cores\": %u, \"schedulers\": %u, \"kernels\": [", t->m.clock_core, t->m.cores,
	              t->m.schedulers);
	for (size_t i = 0; i < t->nkernels; i++) {
		const struct ws_counters *c = &t->kernels[i].c;

		ws_buf_puts(out, i ? ",\n {\"name\": " : "\n {\"name\": ");
		ws_buf_add_json(out, t->kernels[i].name);
		for (size_t k = 0; k < WS_COUNT(names); k++)
			ws_buf_printf(out, ", \"%s\": %llu", names[k].name, (unsigned long long)value(c, k));
		ws_buf_printf(out, ", \"ipc\": %.6f, \"simd_efficiency\": %.6f, \"dram_utilization\": %.6f}", ipc(c),
		              simd_efficiency(t, c), dram_utilization(t, c));
	}
	ws_buf_puts(out, "\n]");
	unit_json(t, out);
	ws_buf_puts(out, "}\n");
}
