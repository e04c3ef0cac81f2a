/* dram.c - a memory channel: banks with one open row each, and a controller that takes what is ready first, then what came
 * first (FR-FCFS; Rixner et al., "Memory access scheduling", ISCA 2000): among the requests in its window a column access
 * to an open row goes before all others; a bank whose open row nobody wants any more is given the row of the oldest
 * request for it. Commands of different banks overlap; data follows on one bus. Names of times are JEDEC's. */
#include "timing/timing_priv.h"

#include <stdlib.h>
#include <string.h>

void ws_dram_init(struct ws_timing *t, struct ws_dram *d, struct ws_partition *p)
{
	memset(d, 0, sizeof *d);
	d->part = p;
	d->tick = WS_NEVER;
	d->banks = ws_alloc(t->m.dram_banks * sizeof *d->banks);
	for (uint32_t i = 0; i < t->m.dram_banks; i++)
		d->banks[i].row = WS_NEVER;
}

void ws_dram_fini(struct ws_dram *d)
{
	free(d->banks);
	free(d->queue);
}

static uint64_t cycles(const struct ws_timing *t, uint32_t n)
{
	return (uint64_t)n * t->memory_cycle;
}

static size_t window(const struct ws_timing *t, const struct ws_dram *d)
{
	return d->n < t->m.dram_queue ? d->n : t->m.dram_queue;
}

/* ---- column accesses ---- */
/* When the column command of a request whose row is open can be given. */
static uint64_t column_at(const struct ws_timing *t, const struct ws_dram *d, const struct ws_dram_request *r)
{
	uint64_t at = d->banks[r->bank].column, ahead = cycles(t, t->m.tCL);

	if (d->bus > ahead)
		at = ws_later(at, d->bus - ahead);
	return r->write ? at : ws_later(at, d->read_after);
}

/* Data on its way back. */
struct ws_filled { struct ws_partition *part; uint64_t addr; uint32_t sectors; struct ws_filled *next; };

static void arrived(struct ws_timing *t, void *arg)
{
	struct ws_filled *f = arg;

	f->next = t->free_filled;
	t->free_filled = f;
	ws_part_filled(t, f->part, f->addr, f->sectors);
}

static void column(struct ws_timing *t, struct ws_dram *d, size_t i, uint64_t now)
{
	struct ws_dram_request r = d->queue[i];
	struct ws_bank *b = &d->banks[r.bank];
	uint64_t burst = cycles(t, (t->m.dram_burst + t->m.dram_bus - 1) / t->m.dram_bus) * r.bursts, end;

	end = ws_later(now + cycles(t, t->m.tCL), d->bus) + burst;
	d->bus = end;
	b->column = now + burst;
	t->c->dram_requests++;
	if (r.write) {
		t->c->dram_writes += r.bursts;
		b->precharge = ws_later(b->precharge, end + cycles(t, t->m.tWR));
		d->read_after = end + cycles(t, t->m.tCDLR);
	} else {
		struct ws_filled *f = t->free_filled;

		t->c->dram_reads += r.bursts;
		b->precharge = ws_later(b->precharge, now + burst);
		if (f)
			t->free_filled = f->next;
		else
			f = ws_arena_alloc(t->objects, sizeof *f);
		*f = (struct ws_filled){d->part, r.addr, r.sectors, NULL};
		ws_wheel_add(&t->wheel, ws_cycle_of(end) + t->m.dram_latency, arrived, f);
	}
	d->n--;
	memmove(&d->queue[i], &d->queue[i + 1], (d->n - i) * sizeof *d->queue);
}

/* ---- rows ---- */
static bool row_is_wanted(const struct ws_timing *t, const struct ws_dram *d, uint32_t bank)
{
	for (size_t i = 0; i < window(t, d); i++)
		if (d->queue[i].bank == bank && d->queue[i].row == d->banks[bank].row)
			return true;
	return false;
}

static uint64_t row_at(const struct ws_dram *d, uint32_t bank)
{
	return d->banks[bank].row == WS_NEVER ? 0 : d->banks[bank].precharge;
}

static void open_row(struct ws_timing *t, struct ws_dram *d, const struct ws_dram_request *r, uint64_t now)
{
	struct ws_bank *b = &d->banks[r->bank];
	uint64_t at = now;

	if (b->row != WS_NEVER) {
		at += cycles(t, t->m.tRP);
		at = ws_later(at, b->activated + cycles(t, t->m.tRC));
	}
	at = ws_later(at, d->activate);
	b->row = r->row;
	b->activated = at;
	d->activate = at + cycles(t, t->m.tRRD);
	b->column = at + cycles(t, t->m.tRCD);
	b->precharge = at + cycles(t, t->m.tRAS);
	t->c->dram_activations++;
}

/* ---- the controller ---- */
/* Gives one command, if one can be given now. Else, in *next, when to try again. */
static bool give_command(struct ws_timing *t, struct ws_dram *d, uint64_t now, uint64_t *next)
{
	size_t n = window(t, d);

	*next = WS_NEVER;
	for (size_t i = 0; i < n; i++) {
		const struct ws_dram_request *r = &d->queue[i];
		uint64_t at;

		if (d->banks[r->bank].row != r->row)
			continue;
		at = column_at(t, d, r);
		if (at <= now) {
			column(t, d, i, now);
			return true;
		}
		*next = at < *next ? at : *next;
	}
	for (size_t i = 0; i < n; i++) {
		const struct ws_dram_request *r = &d->queue[i];
		uint64_t at = row_at(d, r->bank);

		if (d->banks[r->bank].row == r->row || row_is_wanted(t, d, r->bank))
			continue;
		if (at <= now) {
			open_row(t, d, r, now);
			return true;
		}
		*next = at < *next ? at : *next;
	}
	return false;
}

static void tick(struct ws_timing *t, void *arg);

static void schedule(struct ws_timing *t, struct ws_dram *d, uint64_t fine)
{
	uint64_t at = ws_later(ws_cycle_of(fine), t->now);

	if (d->tick <= at)
		return;
	d->tick = at;
	ws_wheel_add(&t->wheel, at, tick, d);
}

static void tick(struct ws_timing *t, void *arg)
{
	struct ws_dram *d = arg;
	uint64_t now = ws_later(d->command, ws_fine(t->now)), next;

	if (d->tick != t->now)
		return;                  /* an earlier event took its place */
	d->tick = WS_NEVER;
	while (d->n) {
		if (give_command(t, d, now, &next))
			next = d->command = now + t->memory_cycle;
		if (next == WS_NEVER)
			return;
		if (next >= ws_fine(t->now + 1)) {
			schedule(t, d, next);
			return;
		}
		now = next;
	}
}

void ws_dram_add(struct ws_timing *t, struct ws_dram *d, uint64_t addr, uint32_t sectors, bool write)
{
	const struct ws_machine *m = &t->m;
	uint64_t row = addr / m->dram_row;
	uint32_t bytes = (uint32_t)__builtin_popcount(sectors) * WS_SECTOR;
	struct ws_dram_request *r = WS_PUSH(d->queue, d->n, d->cap);

	*r = (struct ws_dram_request){.seq = t->seq++, .write = write, .addr = addr, .sectors = sectors,
	                              .bursts = (bytes + m->dram_burst - 1) / m->dram_burst};
	/* neighbouring rows lie in different banks; the upper part is mixed in so that steps of a power of two do too */
	r->row = row / m->dram_banks;
	r->bank = (uint32_t)((row + r->row) % m->dram_banks);
	schedule(t, d, ws_later(d->command, ws_fine(t->now)));
}
