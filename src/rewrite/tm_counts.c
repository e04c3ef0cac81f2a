/* tm_counts.c - sums and words for what transactions counted; see tm_counts.h. */
#include "rewrite/tm_counts.h"

static void sum(struct ws_tm_stats *to, const struct ws_tm_stats *from)
{
	to->commits += from->commits;
	to->serial += from->serial;
	to->unallocated += from->unallocated;
	to->read_only += from->read_only;
	to->read_only_aborts += from->read_only_aborts;
	to->parts += from->parts;
	for (unsigned k = 0; k < WS_TM_REASONS; k++)
		to->aborts[k] += from->aborts[k];
}

void ws_tm_counts_add(struct ws_tm_counts *c, const void *counters)
{
	const struct ws_tm_stripe *s = counters;

	for (unsigned i = 0; i < WS_TM_STRIPES; i++)
		sum(&c->sum, &s[i].sum);
}

void ws_tm_counts_sum(struct ws_tm_counts *c, const struct ws_tm_counts *more)
{
	sum(&c->sum, &more->sum);
}

static void add(struct ws_buf *out, uint64_t n, const char *one, const char *more)
{
	ws_buf_add_count(out, n);
	ws_buf_printf(out, " %s", n == 1 ? one : more);
}

static void add_aborts(const struct ws_tm_stats *s, struct ws_buf *out)
{
	static const char *const names[WS_TM_REASONS] = { "at a read", "at a write", "at the end", "for want of memory",
		                                          "by retry", "cancelled", "too large", "to run alone", "to wait" };
	uint64_t all = 0;
	bool first = true;

	for (unsigned k = 0; k < WS_TM_REASONS; k++)
		all += s->aborts[k];
	add(out, all, "abort", "aborts");
	for (unsigned k = 0; k < WS_TM_REASONS; k++) {
		if (!s->aborts[k])
			continue;
		ws_buf_puts(out, first ? ": " : ", ");
		ws_buf_add_count(out, s->aborts[k]);
		ws_buf_printf(out, " %s", names[k]);
		first = false;
	}
}

void ws_tm_counts_tell(const struct ws_tm_counts *c, unsigned sections, bool stats, struct ws_buf *out)
{
	const struct ws_tm_stats *s = &c->sum;

	if (!sections)
		ws_buf_puts(out, "warpsafe: no marked section was found in the kernels of this program: nothing was made "
		            "atomic\n");
	if (s->aborts[WS_TM_TOO_LARGE])
		ws_buf_puts(out, "warpsafe: error: a transaction was larger than the memory for long ones; give more with "
		            "--heap\n");
	if (s->unallocated) {
		ws_buf_puts(out, "warpsafe: warning: ");
		add(out, s->unallocated, "allocation", "allocations");
		ws_buf_puts(out, " found no memory; give more with --pool\n");
	}
	if (!stats || !sections)
		return;
	ws_buf_puts(out, "warpsafe: ");
	add(out, sections, "marked section", "marked sections");
	ws_buf_puts(out, "; ");
	add(out, s->commits, "transaction", "transactions");
	ws_buf_puts(out, " committed, ");
	ws_buf_add_count(out, s->serial);
	ws_buf_puts(out, " of them alone; ");
	add_aborts(s, out);
	if (s->read_only || s->read_only_aborts) {
		ws_buf_puts(out, "; ");
		add(out, s->read_only, "transaction only read, with ", "transactions only read, with ");
		add(out, s->read_only_aborts, "abort", "aborts");
	}
	if (s->parts) {
		ws_buf_puts(out, "; ");
		add(out, s->parts, "part of a section was undone alone", "parts of sections were undone alone");
	}
	ws_buf_puts(out, "\n");
}
