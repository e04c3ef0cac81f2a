/* test_timing_parts.c - the parts of the clocked GPU one by one, on cases that can be computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tests/sim/clocked.h"
#include "timing/timing_priv.h"

/* ---- events ---- */
static char happened[64];

static void event(struct ws_timing *t, void *arg)
{
	strcat(happened, arg);
}

static void test_wheel(void **state)
{
	struct ws_wheel w;
	uint64_t now = 0;

	happened[0] = 0;
	ws_wheel_init(&w);
	ws_wheel_add(&w, 5 + 3 * WS_WHEEL, event, "d");  /* the slot of 5, three turns later */
	ws_wheel_add(&w, 5, event, "a");
	ws_wheel_add(&w, 5, event, "b");
	ws_wheel_add(&w, 70, event, "c");
	for (uint64_t want[] = {5, 70, 5 + 3 * WS_WHEEL}, *p = want; p < want + 3; p++) {
		now = ws_wheel_next(&w, now);
		assert_int_equal(now, *p);
		ws_wheel_run(&w, now, NULL);
	}
	assert_string_equal(happened, "abcd");
	assert_int_equal(ws_wheel_next(&w, now), WS_NEVER);
	ws_wheel_fini(&w);
}

/* ---- caches ---- */
static void test_cache_keeps_what_was_used_last(void **state)
{
	struct ws_cache c;
	struct ws_victim v;

	ws_cache_init(&c, &(struct ws_cache_size){512, 2, 128, 32});     /* two sets of two */
	ws_cache_fill(&c, 0, 1, true, &v);
	ws_cache_fill(&c, 256, 15, false, &v);
	assert_int_equal(v.dirty, 0);
	assert_int_equal(ws_cache_look(&c, 0, 3), 1);            /* one of the two sectors; line 0 was used last now */
	ws_cache_fill(&c, 512, 1, false, &v);
	assert_int_equal(v.dirty, 0);                            /* 256 went, it was clean */
	assert_int_equal(ws_cache_look(&c, 256, 15), 0);
	assert_int_equal(ws_cache_look(&c, 512, 1), 1);
	ws_cache_fill(&c, 768, 1, false, &v);
	assert_int_equal(v.addr, 0);
	assert_int_equal(v.dirty, 1);
	assert_int_equal(ws_cache_look(&c, 128, 1), 0);          /* the other set */
	ws_cache_drop(&c, 512, 1);
	assert_int_equal(ws_cache_look(&c, 512, 1), 0);
	ws_cache_fini(&c);
}

static void test_cache_fetches_whole_pieces(void **state)
{
	struct ws_cache c = {.size = {0, 0, 128, 64}};

	assert_int_equal(ws_cache_fetched(&c, 128, 1), 3);
	assert_int_equal(ws_cache_fetched(&c, 128, 4), 12);
	assert_int_equal(ws_cache_fetched(&c, 128, 6), 15);
	c.size.fetch = 128;
	assert_int_equal(ws_cache_fetched(&c, 128, 8), 15);
	assert_int_equal(ws_cache_fetched(&c, 64, 1), 3);
}

static void test_cache_halves_of_a_line(void **state)
{
	struct ws_cache c;
	struct ws_victim v;

	ws_cache_init(&c, &(struct ws_cache_size){512, 2, 128, 32});
	ws_cache_fill(&c, 64, 3, false, &v);             /* pieces of 64 bytes: the upper half of line 0 */
	assert_int_equal(ws_cache_look(&c, 0, 15), 12);
	assert_int_equal(ws_cache_look(&c, 64, 1), 1);
	ws_cache_fini(&c);
}

static void done(void *user, void *who)
{
	strcat(user, who);
}

static void test_misses_wait_for_their_sectors(void **state)
{
	struct ws_mshrs m;
	struct ws_miss *e;
	char order[8] = "";

	ws_mshrs_init(&m, 1);
	e = ws_mshrs_get(&m, 128);
	e->coming = 15;
	ws_mshrs_wait(&m, e, "a", 3);
	ws_mshrs_wait(&m, e, "b", 8);
	ws_mshrs_wait(&m, e, "c", 1);
	assert_ptr_equal(ws_mshrs_get(&m, 128), e);
	assert_null(ws_mshrs_get(&m, 256));              /* there is only one */
	ws_mshrs_arrived(&m, 128, 1, done, order);
	assert_string_equal(order, "c");
	ws_mshrs_arrived(&m, 128, 14, done, order);
	assert_string_equal(order, "cab");
	assert_non_null(ws_mshrs_get(&m, 256));
	ws_mshrs_fini(&m);
}

/* ---- transactions ---- */
static void strided(uint64_t *addr, uint64_t base, uint64_t step)
{
	for (int l = 0; l < WS_WARP; l++)
		addr[l] = base + (uint64_t)l * step;
}

static struct ws_memop *coalesced(const struct ws_machine *m, uint64_t base, uint64_t step, uint32_t bytes)
{
	static struct ws_memop a;
	uint64_t addr[WS_WARP];

	strided(addr, base, step);
	ws_coalesce(m, 128, addr, UINT32_MAX, bytes, &a);
	return &a;
}

static void test_coalescer(void **state)
{
	struct ws_machine m = {.memory_lanes = 32};
	struct ws_memop *a = coalesced(&m, 1024, 4, 4);

	assert_int_equal(a->nseg, 1);
	assert_int_equal(a->seg[0].addr, 1024);
	assert_int_equal(a->seg[0].sectors, 15);
	assert_int_equal(a->seg[0].lanes, UINT32_MAX);
	a = coalesced(&m, 1024 + 4, 4, 4);               /* one word further: the last lane needs another piece */
	assert_int_equal(a->nseg, 2);
	assert_int_equal(a->seg[1].addr, 1152);
	assert_int_equal(a->seg[1].sectors, 1);
	assert_int_equal(a->seg[1].lanes, 1u << 31);
	a = coalesced(&m, 4096, 0, 4);
	assert_int_equal(a->nseg, 1);
	assert_int_equal(a->seg[0].sectors, 1);
	assert_int_equal(coalesced(&m, 0, 128, 4)->nseg, 32);
	a = coalesced(&m, 0, 16, 16);                    /* four words a lane */
	assert_int_equal(a->nseg, 4);
	assert_int_equal(a->seg[3].sectors, 15);
	m.memory_lanes = 16;                             /* half warps are not joined */
	a = coalesced(&m, 1024, 4, 4);
	assert_int_equal(a->nseg, 2);
	assert_int_equal(a->seg[0].sectors, 3);
	assert_int_equal(a->seg[1].sectors, 12);
}

static uint32_t passes(uint32_t banks, uint32_t lanes, uint64_t step, uint32_t bytes, bool same, uint32_t *least)
{
	struct ws_machine m = {.shared_banks = banks, .shared_lanes = lanes};
	uint64_t addr[WS_WARP];

	strided(addr, 0, step);
	return ws_bank_passes(&m, addr, UINT32_MAX, bytes, same, least);
}

static void test_banks(void **state)
{
	uint32_t least;

	assert_int_equal(passes(32, 32, 4, 4, false, &least), 1);
	assert_int_equal(least, 1);
	assert_int_equal(passes(32, 32, 8, 4, false, &least), 2);
	assert_int_equal(least, 1);
	assert_int_equal(passes(32, 32, 128, 4, false, &least), 32);
	assert_int_equal(passes(32, 32, 132, 4, false, &least), 1);      /* a row of 33 words: the usual padding */
	assert_int_equal(passes(32, 32, 0, 4, false, &least), 1);        /* all want one word: it is sent to all */
	assert_int_equal(passes(32, 32, 0, 4, true, &least), 32);        /* atomics: one after the other */
	assert_int_equal(passes(32, 32, 8, 8, false, &least), 2);
	assert_int_equal(least, 2);                                      /* 256 bytes through 128: no conflict */
	assert_int_equal(passes(32, 32, 1, 1, false, &least), 1);        /* four lanes a word */
	assert_int_equal(passes(16, 16, 4, 4, false, &least), 2);        /* two half warps */
	assert_int_equal(least, 2);
	assert_int_equal(passes(16, 16, 8, 4, false, &least), 4);
}

/* ---- DRAM ---- */
static struct ws_timing *rig(const struct ws_machine *m, struct ws_counters *c)
{
	struct ws_timing *t = ws_timing_new(m, NULL);

	memset(c, 0, sizeof *c);
	t->c = c;
	return t;
}

static uint64_t run_out(struct ws_timing *t)
{
	for (uint64_t at; (at = ws_wheel_next(&t->wheel, t->now)) != WS_NEVER;) {
		t->now = at;
		ws_wheel_run(&t->wheel, at, t);
	}
	return t->now;
}

/* A clock for all, so that cycles are those of the table: tRCD 12, tCL 10, tRP 10; a burst of 32 bytes takes 4. */
static struct ws_machine dram_machine(void)
{
	struct ws_machine m = clocked_named("fermi");

	m.clock_memory = m.clock_core;
	m.dram_latency = 0;
	return m;
}

static void test_dram_times(void **state)
{
	struct ws_machine m = dram_machine();
	struct ws_counters c;
	struct ws_timing *t = rig(&m, &c);
	struct ws_dram *d = &t->parts[0].dram;
	uint64_t before;

	ws_dram_add(t, d, 0, 1, false);
	assert_int_equal(run_out(t), 12 + 10 + 4);               /* activate, read, data */
	before = t->now = 100;
	ws_dram_add(t, d, 64, 1, false);                         /* the row is open */
	assert_int_equal(run_out(t) - before, 10 + 4);
	before = t->now = 200;
	ws_dram_add(t, d, 9 * 2048 * 8, 3, false);               /* another row of bank 1; two bursts */
	assert_int_equal(run_out(t) - before, 12 + 10 + 8);
	before = t->now = 300;
	ws_dram_add(t, d, 8 * 2048 * 8, 1, false);               /* another row of bank 0: precharge first */
	assert_int_equal(run_out(t) - before, 10 + 12 + 10 + 4);
	assert_int_equal(c.dram_reads, 5);
	assert_int_equal(c.dram_requests, 4);
	assert_int_equal(c.dram_activations, 3);
	ws_timing_free(t);
}

static void test_dram_takes_the_open_row_first(void **state)
{
	struct ws_machine m = dram_machine();
	struct ws_counters c;
	struct ws_timing *t = rig(&m, &c);
	struct ws_dram *d = &t->parts[0].dram;

	/* rows A, B, A of one bank: in order it would be three activations */
	ws_dram_add(t, d, 0, 1, false);
	ws_dram_add(t, d, 8 * 2048 * 8, 1, false);
	ws_dram_add(t, d, 32, 1, false);
	run_out(t);
	assert_int_equal(c.dram_activations, 2);
	ws_timing_free(t);
}

static void test_dram_banks_overlap(void **state)
{
	struct ws_machine m = dram_machine();
	struct ws_counters c;
	struct ws_timing *t = rig(&m, &c);
	struct ws_dram *d = &t->parts[0].dram;

	ws_dram_add(t, d, 0, 1, false);
	ws_dram_add(t, d, 2048, 1, false);                       /* bank 1: activated tRRD after the other */
	assert_int_equal(run_out(t), 8 + 12 + 10 + 4);
	ws_timing_free(t);
}

static void test_dram_read_after_write(void **state)
{
	struct ws_machine m = dram_machine();
	struct ws_counters c;
	struct ws_timing *t = rig(&m, &c);
	struct ws_dram *d = &t->parts[0].dram;

	ws_dram_add(t, d, 0, 1, true);
	ws_dram_add(t, d, 32, 1, false);
	/* written data ends at 26; tCDLR, then the read */
	assert_int_equal(run_out(t), 26 + 6 + 10 + 4);
	assert_int_equal(c.dram_writes, 1);
	ws_timing_free(t);
}

/* ---- the network ---- */
static struct ws_timing *network_rig(uint32_t topology, struct ws_counters *c)
{
	struct ws_machine m = clocked_named("fermi");  /* 16 cores, 8 partitions of 256 bytes: two stages of 4 x 4 */

	m.topology = topology;
	m.radix = 4;
	m.clock_network = m.clock_core;
	return rig(&m, c);
}

static void deliver(struct ws_timing *t)
{
	for (uint32_t i = 0; i < WS_BOXES; i++)
		ws_network_deliver(t, i);
	ws_network_arrive(t);
}

/* When the last flit of a packet from that core to that partition is there. */
static uint64_t sent(struct ws_timing *t, uint32_t core, uint32_t part, uint32_t flits)
{
	struct ws_packet *k = ws_packet_new(t);

	*k = (struct ws_packet){.core = &t->cores[core], .kind = WS_PACKET_ATOMIC, .addr = 256 * part, .sectors = 1,
	                        .lanes = (1u << (flits * 4 - 1)) - 1};   /* 8 bytes a lane and 8 of the header: 32 a flit */
	ws_network_to_memory(t, k);
	deliver(t);
	assert_int_equal(k->part->index, part);
	return ws_cycle_of(k->part->in);
}

static void test_crossbar(void **state)
{
	struct ws_counters c;
	struct ws_timing *t = network_rig(WS_CROSSBAR, &c);

	assert_int_equal(sent(t, 0, 0, 2), 2 + 60);
	assert_int_equal(sent(t, 4, 1, 2), 2 + 60);              /* other ports: at the same time */
	assert_int_equal(sent(t, 8, 0, 3), 2 + 60 + 3);          /* the same port of exit */
	assert_int_equal(sent(t, 0, 2, 1), 2 + 1 + 60);          /* the same port of entry */
	ws_timing_free(t);
}

static struct ws_packet *queued(struct ws_timing *t, uint32_t core, uint32_t part, uint32_t flits)
{
	struct ws_packet *k = ws_packet_new(t);

	*k = (struct ws_packet){.core = &t->cores[core], .kind = WS_PACKET_ATOMIC, .addr = 256 * part, .sectors = 1,
	                        .lanes = (1u << (flits * 4 - 1)) - 1};
	ws_network_to_memory(t, k);
	return k;
}

/* A partition with room for four flits of a core; a packet to another one waits behind it, or has a channel of its own. */
static void test_channels(void **state)
{
	for (uint32_t channels = 1; channels <= 2; channels++) {
		struct ws_counters c;
		struct ws_timing *t = network_rig(WS_CROSSBAR, &c);
		struct ws_packet *k;
		uint64_t when = 0;

		t->m.channels = channels;
		t->m.buffer = 4;
		t->window_end = t->m.network_latency;
		for (uint32_t i = 0; i < t->m.cores; i++) {
			ws_channels_fini(&t->cores[i]);
			ws_channels_init(&t->m, &t->cores[i]);
		}
		k = queued(t, 0, 0, 3);
		queued(t, 0, 0, 2);
		queued(t, 0, 1, 1);
		deliver(t);
		assert_int_equal(c.credit_waits, channels == 1 ? 2 : 1);
		assert_int_equal(ws_cycle_of(t->parts[0].in), 3 + 60);
		assert_int_equal(ws_cycle_of(t->parts[1].in), channels == 1 ? 0 : 3 + 1 + 60);
		assert_true(ws_network_ready(t, &t->cores[0], &when));
		queued(t, 0, 0, 4);
		queued(t, 0, 0, 4);
		queued(t, 0, 0, 4);
		queued(t, 0, 0, 4);
		assert_false(ws_network_ready(t, &t->cores[0], &when));
		assert_int_equal(when, WS_NEVER);
		/* the partition has taken the first one: 60 cycles later the second one goes, and what was behind it */
		t->now = 10;
		ws_network_taken(t, k);
		deliver(t);
		t->now = t->window = 70;
		ws_wheel_run(&t->wheel, 70, t);
		deliver(t);
		assert_int_equal(ws_cycle_of(t->parts[0].in), 70 + 2 + 60);
		assert_int_equal(ws_cycle_of(t->parts[1].in), channels == 1 ? 70 + 2 + 1 + 60 : 3 + 1 + 60);
		ws_timing_free(t);
	}
}

static void test_butterfly(void **state)
{
	struct ws_counters c;
	struct ws_timing *t = network_rig(WS_BUTTERFLY, &c);

	assert_int_equal(sent(t, 0, 0, 2), 2 + 60);
	assert_int_equal(sent(t, 4, 1, 2), 2 + 60 + 2);          /* from switch to switch both need the link of digits 0 0 */
	assert_int_equal(sent(t, 5, 2, 2), 2 + 60);              /* digits 0 1 */
	assert_int_equal(sent(t, 8, 4, 2), 2 + 60);              /* digits 1 0 */
	ws_timing_free(t);
}

/* ---- schedulers ---- */
static void fill_scheduler(struct ws_sched *s, struct ws_twarp *w, uint32_t n)
{
	memset(s, 0, sizeof *s);
	s->n = n;
	for (uint32_t i = 0; i < n; i++) {
		w[i] = (struct ws_twarp){.born = n - i};         /* the last slot has the oldest warp */
		s->warp[i] = &w[i];
	}
}

static void test_policies(void **state)
{
	struct ws_machine m = {.policy = WS_POLICY_LRR, .active = 2};
	struct ws_twarp w[4];
	struct ws_sched s;

	fill_scheduler(&s, w, 4);
	s.last = 1;
	assert_int_equal(ws_policy_pick(&m, &s, 0xf), 2);
	assert_int_equal(ws_policy_pick(&m, &s, 0x3), 0);        /* round the end */
	m.policy = WS_POLICY_GTO;
	assert_int_equal(ws_policy_pick(&m, &s, 0xf), 1);        /* the same again */
	assert_int_equal(ws_policy_pick(&m, &s, 0xd), 3);        /* else the oldest */
	assert_int_equal(ws_policy_candidates(&m, &s, 0xf), 0xf);
}

static void test_two_level(void **state)
{
	struct ws_machine m = {.policy = WS_POLICY_TWO_LEVEL, .active = 2};
	struct ws_twarp w[4];
	struct ws_sched s;

	fill_scheduler(&s, w, 4);
	assert_int_equal(ws_policy_candidates(&m, &s, 0xf), 0xc);        /* the two oldest are active */
	s.at[3] = 100;                                                   /* a short wait: it keeps its place */
	assert_int_equal(ws_policy_candidates(&m, &s, 0x7), 0x4);
	s.at[3] = WS_NEVER;                                              /* memory: it loses it to the next oldest */
	assert_int_equal(ws_policy_candidates(&m, &s, 0x7), 0x6);
}

/* ---- descriptions ---- */
static void test_descriptions(void **state)
{
	static const char *const names[] = {"fermi", "fermi30", "fx5800", "gtx480", "h200"};

	for (size_t i = 0; i < WS_COUNT(names); i++)
		assert_string_equal(clocked_named(names[i]).name, names[i]);
	assert_int_equal(clocked_named("fermi").cores, 16);            /* holey-2015, table 5.1 */
	assert_int_equal(clocked_named("fx5800").l1.ways, 6);          /* table 6.1 */
	assert_int_equal(clocked_named("fermi30").l2.ways, 64);        /* ramamurthy-2011, table 6.1 */
}

static void refused(const char *add, const char *words)
{
	struct ws_buf text = {0}, why = {0};
	struct ws_sink sink = {ws_sink_to_buf, &why};
	struct ws_machine m;
	size_t len;
	char *fermi = ws_read_file("src/timing/configs/fermi.conf", &len);

	ws_buf_add(&text, fermi, len);
	ws_buf_puts(&text, add);
	assert_false(ws_machine_read(&m, "x.conf", text.data, &sink));
	if (!strstr(why.data, words))
		fail_msg("'%s' is not in: %s", words, why.data);
	free(fermi);
	ws_buf_free(&text);
	ws_buf_free(&why);
}

static void test_bad_descriptions(void **state)
{
	struct ws_buf why = {0};
	struct ws_sink sink = {ws_sink_to_buf, &why};
	struct ws_machine m;

	refused("core.active\n", "expected 'key = value'");
	refused("core.activ = 3\n", "there is no key 'core.activ'; did you mean 'core.active'?");
	refused("cores = 3\n", "'cores' was given before, in line ");
	refused("core.active = 0x10\n", "'core.active' must be a whole number from 1 to 64");
	refused("core.active = \n", "'core.active' must be a whole number");
	refused("l1.global = perhaps\n", "'l1.global' is none of no|yes");
	assert_false(ws_machine_read(&m, "empty.conf", "# nothing\n", &sink));
	assert_non_null(strstr(why.data, "'clock.core' is missing; add a line 'clock.core = ...'"));
	ws_buf_free(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wheel),
		cmocka_unit_test(test_cache_keeps_what_was_used_last),
		cmocka_unit_test(test_cache_fetches_whole_pieces),
		cmocka_unit_test(test_cache_halves_of_a_line),
		cmocka_unit_test(test_misses_wait_for_their_sectors),
		cmocka_unit_test(test_coalescer),
		cmocka_unit_test(test_banks),
		cmocka_unit_test(test_dram_times),
		cmocka_unit_test(test_dram_takes_the_open_row_first),
		cmocka_unit_test(test_dram_banks_overlap),
		cmocka_unit_test(test_dram_read_after_write),
		cmocka_unit_test(test_crossbar),
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_butterfly),
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_two_level),
		cmocka_unit_test(test_descriptions),
		cmocka_unit_test(test_bad_descriptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
