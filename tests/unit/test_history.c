/* test_history.c - histories of transactions: which are explained by an order, and what is said of those that are not. */
#include "detect/history_log.h"
#include "detect/history_section.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { X = 0x1000, Y = 0x2004, SITES = 16 };
static char sites[SITES];

/* from, to: of the first step, whose own are the history's. */
struct seen { size_t cycles, undone, half, lost, not_own, longest; struct ws_history_step first; struct ws_history_node from, to; };

static void note(void *user, const struct ws_history_finding *f)
{
	struct seen *s = user;
	size_t *const at[] = { &s->cycles, &s->undone, &s->half, &s->lost, &s->not_own };

	if (!s->cycles && !s->undone && !s->half && !s->lost && !s->not_own) {
		s->first = f->steps[0];
		s->from = *s->first.from;
		if (s->first.to)
			s->to = *s->first.to;
	}
	++*at[f->kind];
	s->longest = f->n > s->longest ? f->n : s->longest;
	for (size_t k = 0; k < f->n && f->kind == WS_HISTORY_CYCLE; k++)
		assert_ptr_equal(f->steps[k].to, f->steps[(k + 1) % f->n].from);
}

static struct seen judge(struct ws_history *h, bool complete, struct ws_history_sum *sum)
{
	struct ws_history_sum mine;
	struct seen s = { 0 };

	ws_history_check(h, complete, note, &s, sum ? sum : &mine);
	return s;
}

static bool fine(struct seen s) { return !s.cycles && !s.undone && !s.half && !s.lost && !s.not_own; }

static struct ws_history_attempt *start(struct ws_history *h, uint32_t thread)
{
	return ws_history_start(h, (struct ws_history_who){ 0, thread }, &sites[0]);
}

static void get(struct ws_history *h, struct ws_history_attempt *a, uint64_t at)
{
	ws_history_load(h, a, &(struct ws_history_word){ at, 0, 4 }, &sites[1], true);
	ws_history_keep(a);
}

static void put(struct ws_history *h, struct ws_history_attempt *a, uint64_t at)
{
	ws_history_store(h, a, &(struct ws_history_word){ at, 1, 4 }, &sites[2]);
}

static void one_after_the_other(void **state)
{
	struct ws_history *h = ws_history_new(true, 1000);
	struct ws_history_sum sum;

	for (uint32_t t = 0; t < 5; t++) {
		struct ws_history_attempt *a = start(h, t);

		get(h, a, X);
		put(h, a, X);
		put(h, a, X);
		get(h, a, X);
		get(h, a, Y);
		put(h, a, Y);
		ws_history_end(h, a, true);
	}
	assert_true(fine(judge(h, true, &sum)));
	assert_int_equal(sum.committed, 5);
	ws_history_clear(h);
	assert_true(fine(judge(h, true, &sum)));
	assert_int_equal(sum.committed, 0);
	ws_history_free(h);
}

/* Both read before either writes: of one word, and each the other's (write skew). */
static void two_at_once(void **state)
{
	for (int skew = 0; skew < 2; skew++) {
		struct ws_history *h = ws_history_new(false, 1000);
		struct ws_history_attempt *a = start(h, 1), *b = start(h, 2);
		struct seen s;

		get(h, a, X);
		get(h, b, skew ? Y : X);
		put(h, a, skew ? Y : X);
		put(h, b, X);
		ws_history_end(h, a, true);
		ws_history_end(h, b, true);
		s = judge(h, true, NULL);
		assert_true(s.cycles && s.longest == 2);
		assert_int_equal(s.first.at, s.first.kind == WS_HISTORY_READ_BEFORE && skew ? s.first.at : X);
		assert_int_equal(s.first.bytes, 4);
		ws_history_free(h);
	}
}

static void a_cycle_of_three(void **state)
{
	struct ws_history *h = ws_history_new(false, 1000);
	struct ws_history_attempt *a[3] = { start(h, 0), start(h, 1), start(h, 2) };

	for (unsigned k = 0; k < 3; k++)
		get(h, a[k], X + 8 * k);
	for (unsigned k = 0; k < 3; k++)
		put(h, a[k], X + 8 * ((k + 1) % 3));
	for (unsigned k = 0; k < 3; k++)
		ws_history_end(h, a[k], true);
	assert_int_equal(judge(h, true, NULL).longest, 3);
	ws_history_free(h);
}

/* An attempt whose undo meets another's store, in the midst of it. */
static void undone(void **state)
{
	struct ws_history *h = ws_history_new(false, 1000);
	struct ws_history_attempt *a = start(h, 1), *b = start(h, 2);
	struct seen s;

	put(h, a, X);
	get(h, b, X);
	ws_history_undo(h, a, (struct ws_history_mark){ 0 }, &(struct ws_history_word){ X, 0, 4 });
	ws_history_end(h, a, false);
	ws_history_end(h, b, true);
	s = judge(h, true, NULL);
	assert_true(s.undone == 1 && !s.cycles && !s.lost);
	ws_history_clear(h);
	a = start(h, 1);
	b = start(h, 2);
	put(h, a, X);
	put(h, b, X);
	ws_history_end(h, b, true);
	ws_history_undo(h, a, (struct ws_history_mark){ 0 }, &(struct ws_history_word){ X, 0, 4 });
	ws_history_end(h, a, false);
	s = judge(h, true, NULL);
	assert_true(s.lost == 1 && !s.undone);
	ws_history_clear(h);
	a = start(h, 1);
	put(h, a, X);
	ws_history_end(h, a, false);         /* and not undone at all */
	assert_int_equal(judge(h, true, NULL).undone, 1);
	ws_history_free(h);
}

static void half(void **state)
{
	struct ws_history *h = ws_history_new(false, 1000);
	struct ws_history_attempt *a = start(h, 1), *b = start(h, 2);

	put(h, a, X);
	get(h, b, X);
	put(h, a, X);
	ws_history_end(h, a, true);
	ws_history_end(h, b, true);
	assert_int_equal(judge(h, true, NULL).half, 1);
	ws_history_free(h);
}

/* An attempt that is undone has seen one word before and one after another's end. */
static void zombies(void **state)
{
	for (int opacity = 0; opacity < 2; opacity++) {
		struct ws_history *h = ws_history_new(opacity, 1000);
		struct ws_history_attempt *a = start(h, 1), *b = start(h, 2);
		struct seen s;

		get(h, a, X);
		put(h, b, X);
		put(h, b, Y);
		ws_history_end(h, b, true);
		get(h, a, Y);
		ws_history_end(h, a, false);
		s = judge(h, true, NULL);
		assert_int_equal(s.cycles > 0, opacity);
		ws_history_free(h);
	}
}

/* What is looked at again with the same value is read then; in vain, or with another value, it is not. */
static void looked_at_again(void **state)
{
	for (int kind = 0; kind < 3; kind++) {
		struct ws_history *h = ws_history_new(false, 1000);
		struct ws_history_attempt *a = start(h, 1), *b = start(h, 2);

		get(h, a, X);
		put(h, b, X);
		put(h, b, Y);
		ws_history_end(h, b, true);
		if (kind == 2)
			ws_history_drop(a);
		ws_history_load(h, a, &(struct ws_history_word){ X, kind == 1, 4 }, &sites[3], false);
		if (kind == 2)
			ws_history_drop(a);
		get(h, a, Y);
		ws_history_end(h, a, true);
		assert_int_equal(judge(h, true, NULL).cycles > 0, kind != 0);
		ws_history_free(h);
	}
}

/* Loads that were in vain, and all of an attempt that was still under way when the record ended, count for nothing. */
static void in_vain(void **state)
{
	struct ws_history *h = ws_history_new(true, 1000);
	struct ws_history_attempt *a = start(h, 1), *b = start(h, 2);
	struct ws_history_sum sum;

	ws_history_load(h, a, &(struct ws_history_word){ X, 0, 4 }, &sites[1], true);
	ws_history_drop(a);
	put(h, b, X);
	put(h, b, Y);
	ws_history_end(h, b, true);
	get(h, a, Y);
	ws_history_end(h, a, true);
	a = start(h, 1);
	b = start(h, 2);
	put(h, a, X);
	get(h, b, X);
	ws_history_end(h, b, true);
	assert_true(fine(judge(h, false, &sum)));
	assert_true(sum.committed == 3 && !sum.undone);
	ws_history_free(h);
}

static void outside(void **state)
{
	struct ws_history *h = ws_history_new(false, 1000);
	struct ws_history_who who = { 0, 9 };
	struct ws_history_attempt *a;
	struct ws_history_sum sum;

	ws_history_plain(h, who, X, 4, false, true, &sites[4]);      /* nobody has touched it yet */
	a = start(h, 1);
	get(h, a, X);
	ws_history_plain(h, who, X, 16, true, false, &sites[4]);
	judge(h, false, &sum);
	assert_int_equal(sum.plain, 0);
	ws_history_plain(h, who, X + 2, 1, false, true, &sites[4]);
	put(h, a, X);
	ws_history_end(h, a, true);
	assert_true(judge(h, true, &sum).cycles > 0);
	assert_int_equal(sum.plain, 1);
	ws_history_clear(h);
	a = start(h, 1);
	put(h, a, X);
	ws_history_plain(h, who, X, 8, true, false, &sites[4]);      /* X + 4 is not written yet */
	put(h, a, X + 4);
	ws_history_end(h, a, true);
	assert_true(judge(h, true, &sum).cycles > 0);
	ws_history_free(h);
}

/* What was recorded before is judged, and nothing else. */
static void a_full_record(void **state)
{
	struct ws_history *h = ws_history_new(false, 4);
	struct ws_history_attempt *a = start(h, 1), *b = start(h, 2);
	struct ws_history_sum sum;

	put(h, a, X);
	put(h, a, Y);
	ws_history_end(h, a, true);
	for (unsigned k = 0; k < 6; k++)
		put(h, b, X + 8 * k);
	get(h, b, X);
	ws_history_undo(h, b, (struct ws_history_mark){ 0 }, &(struct ws_history_word){ X, 0, 4 });
	ws_history_end(h, b, true);
	assert_null(start(h, 3));
	ws_history_plain(h, (struct ws_history_who){ 0, 9 }, X, 4, false, true, &sites[4]);
	ws_history_store(h, NULL, &(struct ws_history_word){ X, 0, 4 }, NULL);
	assert_true(fine(judge(h, true, &sum)));
	assert_true(sum.full && sum.committed == 1);
	ws_history_free(h);
}

/* ---- logs (history_log.h) ---- */
enum { THREADS = 8 };
static const char *const places[] = { "a.cu:1", "a.cu:2", "a.cu:3" };

struct logged { struct ws_tm_log_entry entries[64]; size_t n; };

static void add(struct logged *l, uint32_t thread, unsigned kind, uint64_t at, uint64_t value, uint32_t since)
{
	l->entries[l->n++] = (struct ws_tm_log_entry){ .at = at, .value = value, .since = since, .site = kind < WS_TM_LOG_LOAD ? 1 + kind % 3 : 0,
		                                       .who = thread | UINT64_C(4) << WS_TM_LOG_BYTES_AT | (uint64_t)kind << WS_TM_LOG_KIND_AT };
}

/* since: how many entries there are. */
static void now(struct logged *l, uint32_t thread, unsigned kind, uint64_t at, uint64_t value) { add(l, thread, kind, at, value, (uint32_t)l->n); }

static void log_get(struct logged *l, uint32_t thread, uint64_t at, uint32_t since)
{
	now(l, thread, WS_TM_EVENT_READ, at, 0);
	add(l, thread, WS_TM_LOG_LOAD, at, 0, since);
	now(l, thread, WS_TM_EVENT_DONE, 0, 0);
}

static void log_put(struct logged *l, uint32_t thread, uint64_t at, uint32_t since)
{
	now(l, thread, WS_TM_EVENT_WRITE, at, 0);
	add(l, thread, WS_TM_LOG_STORE, at, 0, since);
	now(l, thread, WS_TM_EVENT_DONE, 0, 0);
}

static void log_end(struct logged *l, uint32_t thread)
{
	now(l, thread, WS_TM_EVENT_ENDING, 0, 0);
	now(l, thread, WS_TM_EVENT_ENDED, 0, WS_TM_STATE_COMMITTED);
}

static struct seen judge_log(const struct logged *l, size_t room, size_t *doubts, struct ws_history_sum *sum)
{
	struct ws_history_log log = { .entries = l->entries, .n = l->n, .room = room, .threads = THREADS, .places = places, .nplaces = 3 };
	struct ws_history *h = ws_history_new(true, 1000);
	struct seen s;

	*doubts = ws_history_replay(h, &log);
	s = judge(h, true, sum);
	ws_history_free(h);
	return s;
}

/* Both read and then both write. between: a load that began before the other thread's store had its entry, and one that did not. */
static void a_log(void **state)
{
	for (int overlaps = 0; overlaps < 2; overlaps++) {
		struct logged l = { .n = 0 };
		struct ws_history_sum sum;
		size_t doubts;
		struct seen s;

		now(&l, 1, WS_TM_EVENT_START, 0, 0);
		now(&l, THREADS + 2, WS_TM_EVENT_START, 0, 0);
		log_get(&l, 1, X, 2);
		log_get(&l, THREADS + 2, X, 5);
		log_put(&l, 1, X, overlaps ? 3 : 9);         /* began before the other's load had its entry */
		log_put(&l, THREADS + 2, X, 12);
		log_end(&l, 1);
		log_end(&l, THREADS + 2);
		s = judge_log(&l, 64, &doubts, &sum);
		assert_int_equal(sum.committed, 2);
		assert_int_equal(doubts, overlaps ? 2 : 0);
		assert_int_equal(s.cycles > 0, !overlaps);
		if (!overlaps) {
			assert_true(s.from.who.block != s.to.who.block && s.first.first && s.first.second);
			assert_string_equal(s.from.begin, places[WS_TM_EVENT_START % 3]);
		}
	}
}

/* A load that began before a store had its entry, and one that began behind it. */
static void a_log_of_one_after_the_other(void **state)
{
	struct logged l = { .n = 0 };
	struct ws_history_sum sum;
	size_t doubts;

	now(&l, 1, WS_TM_EVENT_START, 0, 0);
	log_put(&l, 1, X, 2);
	now(&l, 2, WS_TM_EVENT_START, 0, 0);
	log_get(&l, 2, X, 1);
	log_get(&l, 2, X, (uint32_t)l.n);
	log_end(&l, 1);
	log_end(&l, 2);
	assert_true(fine(judge_log(&l, 64, &doubts, &sum)));
	assert_int_equal(doubts, 1);
}

/* What is behind the room is not judged, and it is said. */
static void a_full_log(void **state)
{
	struct logged l = { .n = 0 };
	struct ws_history_sum sum;
	size_t doubts;

	now(&l, 1, WS_TM_EVENT_START, 0, 0);
	log_put(&l, 1, X, 1);
	log_end(&l, 1);
	now(&l, 2, WS_TM_EVENT_START, 0, 0);
	log_get(&l, 2, X, 7);
	log_put(&l, 2, X, 10);
	log_end(&l, 2);
	assert_true(fine(judge_log(&l, 8, &doubts, &sum)));
	assert_true(sum.full);
	assert_int_equal(sum.committed, 1);
	assert_true(fine(judge_log(&l, 64, &doubts, &sum)));
	assert_true(!sum.full);
	assert_int_equal(sum.committed, 2);
}

static void tell(struct ws_history *h, struct ws_history_lane *l, enum ws_tm_event kind, uint64_t at, uint32_t bytes, const void *site)
{
	ws_history_tell(h, l, (struct ws_history_who){ 0, 1 }, &(struct ws_history_told){ .kind = kind, .at = at, .bytes = bytes, .site = site });
}

static void tell_value(struct ws_history *h, struct ws_history_lane *l, uint64_t value)
{
	ws_history_tell(h, l, (struct ws_history_who){ 0, 1 }, &(struct ws_history_told){ .kind = WS_TM_EVENT_VALUE, .value = value });
}

static void tell_read(struct ws_history *h, struct ws_history_lane *l, uint64_t at, uint32_t bytes, uint64_t value)
{
	tell(h, l, WS_TM_EVENT_READ, at, bytes, &sites[1]);
	tell_value(h, l, value);
	tell(h, l, WS_TM_EVENT_DONE, 0, 0, NULL);
}

/* A section writes twelve bytes, then four of them again, and reads `value` of the last eight. */
static struct seen own(uint64_t value, bool opacity, bool committed)
{
	struct ws_history *h = ws_history_new(opacity, 100);
	struct ws_history_lane l = { 0 };
	struct seen s;

	tell(h, &l, WS_TM_EVENT_START, 0, 0, &sites[0]);
	tell(h, &l, WS_TM_EVENT_WRITE, X, 12, &sites[2]);
	tell_value(h, &l, UINT64_C(0x0807060504030201));
	tell_value(h, &l, UINT64_C(0x9999999912111009));             /* the upper half is none of it */
	tell(h, &l, WS_TM_EVENT_DONE, 0, 0, NULL);
	tell(h, &l, WS_TM_EVENT_WRITE, X + 6, 2, &sites[3]);
	tell_value(h, &l, UINT64_C(0x77777777eeff));
	tell(h, &l, WS_TM_EVENT_DONE, 0, 0, NULL);
	tell_read(h, &l, X, 4, 0x04030201);
	tell_read(h, &l, X + 16, 8, 5);                              /* another's */
	tell_read(h, &l, X + 4, 8, value);
	tell(h, &l, WS_TM_EVENT_ENDING, 0, 0, NULL);
	ws_history_tell(h, &l, (struct ws_history_who){ 0, 1 }, &(struct ws_history_told){ .kind = WS_TM_EVENT_ENDED, .committed = committed });
	s = judge(h, true, NULL);
	ws_history_lane_free(&l);
	ws_history_free(h);
	return s;
}

static void test_own(void **state)
{
	struct seen s;

	(void)state;
	assert_true(fine(own(UINT64_C(0x12111009eeff0605), false, true)));
	s = own(UINT64_C(0x1211100908070605), false, true);          /* the second write is forgotten */
	assert_int_equal(s.not_own, 1);
	assert_int_equal(s.first.at, X + 6);
	assert_ptr_equal(s.first.first, &sites[3]);
	assert_ptr_equal(s.first.second, &sites[1]);
	s = own(UINT64_C(0x00111009eeff0605), true, true);
	assert_int_equal(s.not_own, 1);
	assert_int_equal(s.first.at, X + 11);
	assert_true(fine(own(0, false, false)));
	assert_int_equal(own(0, true, false).not_own, 1);
}

static void tell_part(struct ws_history *h, struct ws_history_lane *l, enum ws_tm_next next)
{
	tell(h, l, WS_TM_EVENT_PART_ENDING, 0, 0, NULL);
	ws_history_tell(h, l, (struct ws_history_who){ 0, 1 }, &(struct ws_history_told){ .kind = WS_TM_EVENT_PART_ENDED, .value = next });
}

static void lane_write(struct ws_history *h, struct ws_history_lane *l, uint64_t value)
{
	tell(h, l, WS_TM_EVENT_WRITE, X, 4, &sites[2]);
	tell_value(h, l, value);
	ws_history_data(h, l, false, true, &(struct ws_history_word){ X, value, 4 });
	tell(h, l, WS_TM_EVENT_DONE, 0, 0, NULL);
}

static void lane_read(struct ws_history *h, struct ws_history_lane *l, uint64_t at, uint64_t value)
{
	tell(h, l, WS_TM_EVENT_READ, at, 4, &sites[1]);
	ws_history_data(h, l, false, false, &(struct ws_history_word){ at, value, 4 });
	tell_value(h, l, value);
	tell(h, l, WS_TM_EVENT_DONE, 0, 0, NULL);
}

/* A section writes 1, its part 2, and what the part has done is put back, or not. Then it reads `value`, and another one what is there. */
static struct seen part(bool put_back, uint64_t value, enum ws_tm_next next)
{
	struct ws_history *h = ws_history_new(true, 100);
	struct ws_history_lane l = { 0 };
	struct ws_history_attempt *b;
	struct seen s;

	tell(h, &l, WS_TM_EVENT_START, 0, 0, &sites[0]);
	lane_write(h, &l, 1);
	tell(h, &l, WS_TM_EVENT_PART, 0, 0, &sites[4]);
	lane_write(h, &l, 2);
	tell(h, &l, WS_TM_EVENT_PART_ENDING, 0, 0, NULL);
	if (put_back)
		ws_history_data(h, &l, false, true, &(struct ws_history_word){ X, 1, 4 });
	ws_history_tell(h, &l, (struct ws_history_who){ 0, 1 }, &(struct ws_history_told){ .kind = WS_TM_EVENT_PART_ENDED, .value = next });
	lane_read(h, &l, X, value);
	tell(h, &l, WS_TM_EVENT_PART_DONE, 0, 0, NULL);
	tell(h, &l, WS_TM_EVENT_ENDING, 0, 0, NULL);
	ws_history_tell(h, &l, (struct ws_history_who){ 0, 1 }, &(struct ws_history_told){ .kind = WS_TM_EVENT_ENDED, .committed = true });
	b = start(h, 2);
	get(h, b, X);
	ws_history_end(h, b, true);
	s = judge(h, true, NULL);
	ws_history_lane_free(&l);
	ws_history_free(h);
	return s;
}

static void a_part_is_undone(void **state)
{
	struct seen s;

	(void)state;
	assert_true(fine(part(true, 1, WS_TM_NEXT_UNDONE)));
	assert_true(fine(part(true, 1, WS_TM_NEXT_AGAIN)));
	assert_int_equal(part(true, 2, WS_TM_NEXT_UNDONE).not_own, 1);
	s = part(false, 2, WS_TM_NEXT_UNDONE);          /* read by the section itself, and by the other one; and it stays there */
	assert_true(s.undone == 2 && s.lost == 1);
	assert_ptr_equal(s.from.begin, &sites[0]);
}

/* A part reads what is written before it ends: if it is undone for that, and runs again, that was an attempt by itself. kept: or its read
 * still counts. */
static struct seen part_reads(bool opacity, bool kept, bool torn, struct ws_history_sum *sum)
{
	struct ws_history *h = ws_history_new(opacity, 100);
	struct ws_history_lane l = { 0 };
	struct ws_history_attempt *b;
	struct seen s;

	tell(h, &l, WS_TM_EVENT_START, 0, 0, &sites[0]);
	tell(h, &l, WS_TM_EVENT_PART, 0, 0, &sites[4]);
	lane_read(h, &l, X, 0);
	b = start(h, 2);
	get(h, b, X);
	put(h, b, X);
	put(h, b, Y);
	ws_history_end(h, b, true);
	if (torn)
		lane_read(h, &l, Y, 1);
	tell_part(h, &l, kept ? WS_TM_NEXT_UNDONE : WS_TM_NEXT_AGAIN);
	lane_read(h, &l, Y, 1);
	tell(h, &l, WS_TM_EVENT_PART_DONE, 0, 0, NULL);
	tell(h, &l, WS_TM_EVENT_ENDING, 0, 0, NULL);
	ws_history_tell(h, &l, (struct ws_history_who){ 0, 1 }, &(struct ws_history_told){ .kind = WS_TM_EVENT_ENDED, .committed = true });
	s = judge(h, true, sum);
	ws_history_lane_free(&l);
	ws_history_free(h);
	return s;
}

static void what_a_part_has_read(void **state)
{
	struct ws_history_sum sum;

	(void)state;
	assert_true(fine(part_reads(true, false, false, &sum)));
	assert_true(sum.committed == 2 && sum.undone == 1);
	assert_int_equal(part_reads(false, true, false, &sum).longest, 2);
	assert_true(fine(part_reads(false, false, true, &sum)));
	assert_int_equal(part_reads(true, false, true, &sum).longest, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other), cmocka_unit_test(two_at_once), cmocka_unit_test(a_cycle_of_three),
		cmocka_unit_test(undone), cmocka_unit_test(half), cmocka_unit_test(zombies), cmocka_unit_test(looked_at_again),
		cmocka_unit_test(in_vain), cmocka_unit_test(outside), cmocka_unit_test(a_full_record),
		cmocka_unit_test(a_log), cmocka_unit_test(a_log_of_one_after_the_other), cmocka_unit_test(a_full_log),
		cmocka_unit_test(test_own), cmocka_unit_test(a_part_is_undone), cmocka_unit_test(what_a_part_has_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
