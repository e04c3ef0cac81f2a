/* history.cu - are the transactions of include/warpsafe/tm.cuh serializable? Threads run random transactions on a few words;
 * every attempt is recorded by the header's hooks, and the host looks for a cycle.
 *
 *     history [engine=NAME] [granularity=N] [words=N] [blocks=N] [threads=N] [sections=N] [seed=N] [entries=N] [patience=N]
 *             [heap=BYTES] [broken=N] [group=1|2|3] [alone=1] [readers=1] [inner=1] [repeat=N] [looks=N] [spare=1] [--opacity]
 *
 * Every value written is unique and every word is read before it is written, so values alone tell who read from whom and in
 * which order a word's values came (Adya 1999, 4.2: dependency graph; no order is taken from the engine under test). Committed
 * transactions must form a graph without a cycle, have read only committed values, and account for the final memory.
 * For the engines with opacity, and with --opacity for all, the same must hold with the reads of aborted attempts added.
 * group: a transaction is one of a thread block (1) or of a warp (2) (tm_group.cuh), whose lanes take turns, or one on objects
 * (3) by a thread block (tm_block.cuh). The same graph must hold.
 * alone=1: attempts are counted, every fourth section becomes irrevocable half way, and those that write nothing say so.
 * readers=1: every other thread only reads, in sections that say so. With estm none of these may abort.
 * inner=1: a part of each section is an inner one (WS_TX_INNER) or an alternative (WS_TX_EITHER), of which some are undone.
 * spare=1 (with -DTHREADS_ONLY): every other word is its own lock (ws_tx_take_u64); 2: and one is read with the next of them (ws_tx_take2_u64).
 * repeat=N: with N seeds, one after the other, until one shows a violation (the random schedule of each launch is another one).
 * broken=N leaves out step N of an engine (WS_TM_BREAK): the test of this test. Ends with 1 and a line for each kind of violation.
 *
 * Compiled with -DTHREADS_ONLY there are no groups. With -DMARKED the sections are marked ones (include/warpsafe/atomic.h), and `warpsafe tm` has the engine and its
 * settings. The record is then made by the section itself, so attempts that abort leave none. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <vector>
#include <cuda_runtime.h>

struct ws_tx;
enum what { START, READ, WRITE, COMMIT, ABORT, INNER, UNDONE, KEPT };
__device__ void note(unsigned what, unsigned long long at, unsigned long long value);
__device__ void note_abort(bool read_only);

#define WS_TX_ON_START(tx) note(START, 0, 0)
#define WS_TX_ON_READ(tx, at, size, value) note(READ, at, value)
#define WS_TX_ON_WRITE(tx, at, size, value) note(WRITE, at, value)
#define WS_TX_ON_COMMIT(tx) note(COMMIT, 0, 0)
#define WS_TX_ON_ABORT(tx) note_abort((tx)->alone == WS_TX_READS && (tx)->why != WS_TM_WAITS)
__constant__ unsigned broken;
#define WS_TM_BREAK broken
__constant__ unsigned looks;         /* how often a reader looks at what is being written before it leaves its section (estm) */
#define WS_TX_ESTM_LOOKS looks
#include <warpsafe/tm.h>
#include <warpsafe/tm.cuh>
#include <warpsafe/tm_group.cuh>
#include <warpsafe/tm_block.cuh>
#define WS_ATOMIC_QUIET
#include <warpsafe/atomic.h>

struct event { unsigned what, word; unsigned long long value; };
struct recorder {
	event *events;
	unsigned alone, readers, inner, spare, all, lanes, room, *used, *start, *dropped, *reader_aborts;
	unsigned long long *words;
};
__constant__ recorder record;

/* Who has a transaction: a thread, or a group of `lanes`. */
__device__ unsigned self(void) { return (blockIdx.x * blockDim.x + threadIdx.x) / record.lanes; }

/* Half of a thread's room is for attempts that abort: when it is full they are forgotten. */
__device__ void note(unsigned what, unsigned long long at, unsigned long long value)
{
	unsigned t = self(), n = record.used[t];
	event *e = record.events + (size_t)t * record.room + n;

	if (what == START)
		record.start[t] = n;
	if (n >= record.room || (what == ABORT && n >= record.room / 2)) {
		record.used[t] = record.start[t];
		record.dropped[t] += what != ABORT;
		return;
	}
	e->what = what;
	e->word = (unsigned)((at - (unsigned long long)record.words) / 8);
	e->value = value;
	record.used[t] = n + 1;
}

__device__ void note_abort(bool read_only)
{
	if (read_only)
		atomicAdd(record.reader_aborts, 1u);
	note(ABORT, 0, 0);
}

__device__ unsigned step(unsigned *r) { return (*r = *r * 1664525u + 1013904223u) >> 8; }

/* One unique number, twice: a value that is half of one writer and half of another is none of both. In a marked section the
 * count is undone with the rest; the clock is not. */
__device__ unsigned long long unique(unsigned *count)
{
#ifdef MARKED
	unsigned long long v = (unsigned long long)(self() + 1) << 24 | (unsigned)(clock64() & 0xfffff) << 4 | (++*count & 15);
#else
	unsigned long long v = (unsigned long long)(self() + 1) << 14 | ++*count;
#endif

	return v << 32 | v;
}

#ifdef MARKED
__device__ void read_one(struct ws_tx *, unsigned long long *p) { note(READ, (unsigned long long)p, *p); }
__device__ void write_one(struct ws_tx *, unsigned long long *p, unsigned long long v)
{
	*p = v;
	note(WRITE, (unsigned long long)p, v);
}
__device__ void cancel_it(struct ws_tx *) {}
#else
#ifdef THREADS_ONLY
__device__ bool own_lock(unsigned long long *p) { return record.spare && (p - record.words) % 2 == 0; }
__device__ void read_one(struct ws_tx *tx, unsigned long long *p)
{
	unsigned long long *q = record.words + (p - record.words + 2) % record.all, a, b;

	if (own_lock(p) && record.spare > 1 && own_lock(q) && q != p)
		ws_tx_take2_u64(tx, p, q, ~0ull, &a, &b);
	else if (own_lock(p))
		ws_tx_take_u64(tx, p, ~0ull);
	else
		ws_tx_read_u64(tx, p);
}
__device__ void write_one(struct ws_tx *tx, unsigned long long *p, unsigned long long v)
{
	if (own_lock(p))
		ws_tx_put_u64(tx, p, v, ~0ull);
	else
		ws_tx_write_u64(tx, p, v);
}
#else
__device__ void read_one(struct ws_tx *tx, unsigned long long *p) { ws_tx_read_u64(tx, p); }
__device__ void write_one(struct ws_tx *tx, unsigned long long *p, unsigned long long v) { ws_tx_write_u64(tx, p, v); }
#endif
__device__ void cancel_it(struct ws_tx *tx) { ws_tx_abort(tx); }

/* A group whose lanes take turns. */
struct turns { struct ws_group *g; unsigned turn; };

__device__ bool my_turn(turns *t) { return t->turn++ % t->g->lanes == t->g->lane; }
__device__ void read_one(turns *t, unsigned long long *p)
{
	if (my_turn(t))
		ws_tx_read_u64(t->g, p);
	ws_group_sync(t->g);
}
__device__ void write_one(turns *t, unsigned long long *p, unsigned long long v)
{
	if (my_turn(t))
		ws_tx_write_u64(t->g, p, v);
	ws_group_sync(t->g);
}
__device__ void cancel_it(turns *t) { ws_tx_abort(t->g); }

/* An object is a word; it is written by one lane, and by the commit. */
__device__ void read_one(struct ws_stm *stm, unsigned long long *p)
{
	unsigned long long *copy = (unsigned long long *)ws_stm_read(stm, p, sizeof *p, WS_STM_READ);

	if (copy && stm->group.lane == 0)
		note(READ, (unsigned long long)p, *copy);
	ws_group_sync(&stm->group);
}
__device__ void write_one(struct ws_stm *stm, unsigned long long *p, unsigned long long v)
{
	unsigned long long *copy = (unsigned long long *)ws_stm_read(stm, p, sizeof *p, WS_STM_READ);

	if (copy && stm->group.lane == 0) {
		*copy = v;
		note(WRITE, (unsigned long long)p, v);
	}
	ws_stm_write_intend(stm, p);
}
__device__ void cancel_it(struct ws_stm *) {}
#endif

/* Half way through a section. */
template <typename T> __device__ bool half_way(T *) { return true; }
#ifndef MARKED
__device__ bool half_way(struct ws_tx *tx) { return tx->alone == WS_TX_READS || tx->alone == WS_TX_READS_ALONE || ws_tx_irrevocable(tx); }
#endif

__device__ bool reads_only(unsigned seed)
{
	step(&seed);
	return step(&seed) % 4 == 0;
}

/* Reads a word, writes it perhaps, and reads it again perhaps. */
template <typename T> __device__ void access(T *tx, unsigned long long *m, unsigned words, unsigned *r, unsigned only, unsigned *count)
{
	unsigned long long *p = m + step(r) % words;
	unsigned write = step(r) % 2;

	read_one(tx, p);
	if (!only && write) {
		write_one(tx, p, unique(count));
		if (step(r) % 4 == 0)
			write_one(tx, p, unique(count));
	}
	if (step(r) % 4 == 0)
		read_one(tx, p);
}

/* The same as a part that can be undone alone. */
template <typename T> __device__ void nested(T *tx, unsigned long long *m, unsigned words, unsigned *r, unsigned only, unsigned *count)
{
	access(tx, m, words, r, only, count);
}
#ifndef MARKED
__device__ void nested(struct ws_tx *tx, unsigned long long *m, unsigned words, unsigned *r, unsigned only, unsigned *count)
{
	unsigned kind = step(r) % 4, from = *r;

	if (kind < 2) {
		WS_TX_INNER(tx) {
			*r = from;
			note(INNER, 0, 0);
			access(tx, m, words, r, only, count);
			if (kind)
				ws_tx_abort_inner(tx);
		}
		note(kind ? UNDONE : KEPT, 0, 0);
		return;
	}
	WS_TX_EITHER(tx) {
		note(INNER, 0, 0);
		access(tx, m, words, r, only, count);
		if (kind == 2)
			ws_tx_retry(tx);
	}
	WS_TX_OR(tx) {
		note(UNDONE, 0, 0);
		access(tx, m, words, r, only, count);
	}
	note(KEPT, 0, 0);
}
#endif

/* The same seed gives the same accesses in every attempt: a few reads, of which some are followed by a write. */
template <typename T> __device__ void body(T *tx, unsigned long long *m, unsigned words, unsigned seed, unsigned *count)
{
	unsigned r = seed, n = 1 + step(&r) % 4, only = step(&r) % 4 == 0, cancel = step(&r) % 16 == 0;
	unsigned alone = record.alone && step(&r) % 4 == 0, reader = record.readers && self() % 2;

	for (unsigned i = 0; i < n; i++) {
		if (alone && i == n / 2 && !half_way(tx))
			return;
		if (record.inner && i == n / 2)
			nested(tx, m, words, &r, only || reader, count);
		access(tx, m, words, &r, only || reader, count);
	}
	if (cancel && !alone && !reader)
		cancel_it(tx);
}

__global__ void work(struct ws_tm tm, unsigned words, unsigned sections, unsigned seed)
{
	unsigned count = 0, r = seed * 2654435761u + self() * 40503u + 1;
#ifndef MARKED
	WS_TX_VAR(tx, tm);
#endif

	for (unsigned i = 0; i < sections; i++) {
		unsigned now = step(&r);

#ifdef MARKED
		WS_ATOMIC {
			note(START, 0, 0);
			body((struct ws_tx *)nullptr, record.words, words, now, &count);
			note(COMMIT, 0, 0);
		}
#else
		if ((record.alone && reads_only(now)) || (record.readers && self() % 2))
			WS_TX_READ_ONLY(&tx)
				body(&tx, record.words, words, now, &count);
		else
			WS_TX(&tx)
				body(&tx, record.words, words, now, &count);
#endif
	}
}

#if !defined MARKED && !defined THREADS_ONLY
__device__ void group_work(struct ws_group *g, unsigned words, unsigned sections, unsigned seed)
{
	unsigned count = 0, r = seed * 2654435761u + self() * 40503u + 1;

	for (unsigned i = 0; i < sections; i++) {
		unsigned now = step(&r);
		turns t = { g, now };

		WS_TX_GROUP(g)
			body(&t, record.words, words, now, &count);
	}
}

__global__ void work_blocks(struct ws_tm tm, unsigned words, unsigned sections, unsigned seed)
{
	WS_TX_BLOCK_VAR(g, tm);
	group_work(&g, words, sections, seed);
}

__global__ void work_warps(struct ws_tm tm, unsigned words, unsigned sections, unsigned seed)
{
	WS_TX_WARP_VAR(g, tm, 4);
	group_work(&g, words, sections, seed);
}

__global__ void work_objects(struct ws_tm tm, unsigned words, unsigned sections, unsigned seed)
{
	unsigned count = 0, r = seed * 2654435761u + self() * 40503u + 1;
	WS_STM_BLOCK_VAR(stm, tm);

	for (unsigned i = 0; i < sections; i++) {
		unsigned now = step(&r);

		stm.copy = (enum ws_stm_copy)(i % 4);
		do {
			ws_stm_start(&stm);
			body(&stm, record.words, words, now, &count);
		} while (!ws_stm_commit(&stm));
	}
}
#endif

/* ---- on the host ---- */

struct options {
	unsigned engine, granularity, words, blocks, threads, sections, seed, entries, patience, heap, broken, group, alone, readers, inner,
		repeat, looks, spare, opacity;
};

struct attempt {
	bool committed;
	std::unordered_map<unsigned, unsigned long long> read, written;
};

struct checker {
	std::vector<attempt> all;
	std::unordered_map<unsigned long long, unsigned> writer;    /* value -> committed attempt + 1 */
	unsigned violations = 0;
};

static void violation(checker *c, const char *what, unsigned word, unsigned long long value)
{
	if (c->violations++ < 5)
		printf("    %s: word %u, value %llx\n", what, word, value);
}

/* An inner part begins or ends. If it was undone, what was written before it is what counts; so is what was read, if it begins anew: what was
 * read in it is then judged as that of an attempt by itself. */
static void take_inner(checker *c, attempt *a, std::vector<attempt> *before, unsigned what, bool opaque)
{
	if (!before->empty()) {
		if (what != KEPT)
			a->written = before->back().written;
		if (what == INNER && opaque) {
			c->all.push_back(*a);
			c->all.back().committed = false;
		}
		if (what == INNER)
			a->read = before->back().read;
		before->pop_back();
	}
	if (what == INNER)
		before->push_back(*a);
}

/* One read or write of an attempt; reads that must not be judged (strict) are left out. */
static void take_event(checker *c, attempt *a, const event &e)
{
	if (e.what == WRITE) {
		a->written[e.word] = e.value;
		return;
	}
	if (a->written.count(e.word)) {
		if (a->written[e.word] != e.value)
			violation(c, "its own write is not what it reads", e.word, e.value);
	} else if (!a->read.count(e.word)) {
		a->read[e.word] = e.value;
	} else if (a->read[e.word] != e.value) {
		violation(c, "two reads of one word differ", e.word, e.value);
	}
}

/* An inner part that was begun anew was an attempt of its own: where those are not judged, goes on to where it begins for the last time. */
static unsigned last_try(const event *e, unsigned k, bool opaque)
{
	unsigned next = k + 1;

	while (e[next].what == READ || e[next].what == WRITE)
		next++;
	return !opaque && e[k].what == INNER && e[next].what == INNER ? last_try(e, next, opaque) : k;
}

/* Attempts from the events of one thread. The events of an attempt are judged when it is known how it ended. */
static void take_thread(checker *c, const event *e, unsigned n, bool opaque)
{
	for (unsigned i = 0, end; i < n; i = end + 1) {
		for (end = i + 1; end < n && e[end].what != COMMIT && e[end].what != ABORT; end++)
			;
		if (end == n)
			break;
		attempt a;
		a.committed = e[end].what == COMMIT;
		if (!a.committed && !opaque)
			continue;
		std::vector<attempt> before;
		for (unsigned k = i + 1; k < end; k++)
			if (e[k].what >= INNER)
				take_inner(c, &a, &before, e[k = last_try(e, k, opaque)].what, opaque);
			else
				take_event(c, &a, e[k]);
		c->all.push_back(a);
	}
}

/* Who wrote which value; of two that followed the same value, one was lost. */
typedef std::unordered_map<unsigned long long, unsigned> followers;    /* value * words + word -> attempt + 1 */

static followers find_writers(checker *c, unsigned words)
{
	followers next;

	for (unsigned i = 0; i < c->all.size(); i++)
		for (auto &w : c->all[i].written)
			if (c->all[i].committed) {
				unsigned &after = next[(c->all[i].read[w.first] & 0xffffffff) * words + w.first];
				if (after)
					violation(c, "lost update", w.first, c->all[i].read[w.first]);
				after = i + 1;
				c->writer[w.second] = i + 1;
			}
	return next;
}

static std::vector<std::vector<unsigned>> edges(checker *c, const followers &next, unsigned words)
{
	std::vector<std::vector<unsigned>> to(c->all.size());

	for (unsigned i = 0; i < c->all.size(); i++)
		for (auto &r : c->all[i].read) {
			auto after = next.find((r.second & 0xffffffff) * words + r.first);
			if (r.second && !c->writer.count(r.second))
				violation(c, "a value that nobody committed was read", r.first, r.second);
			else if (r.second && c->writer[r.second] - 1 != i)
				to[c->writer[r.second] - 1].push_back(i);
			if (after != next.end() && after->second - 1 != i)
				to[i].push_back(after->second - 1);
		}
	return to;
}

/* Takes away what has no predecessor until nothing is left; what is left has a cycle. */
static unsigned in_cycles(const std::vector<std::vector<unsigned>> &to)
{
	std::vector<unsigned> before(to.size()), ready;
	unsigned left = (unsigned)to.size();

	for (auto &list : to)
		for (unsigned t : list)
			before[t]++;
	for (unsigned i = 0; i < to.size(); i++)
		if (!before[i])
			ready.push_back(i);
	while (!ready.empty()) {
		unsigned i = ready.back();
		ready.pop_back();
		left--;
		for (unsigned t : to[i])
			if (!--before[t])
				ready.push_back(t);
	}
	return left;
}

/* From 0 through all committed values to the one that is in memory. */
static void check_memory(checker *c, const followers &next, const std::vector<unsigned long long> &memory)
{
	unsigned words = (unsigned)memory.size(), seen = 0;

	for (unsigned w = 0; w < words; w++) {
		unsigned long long v = 0;
		for (auto n = next.find(w); n != next.end() && seen <= next.size(); seen++) {
			v = c->all[n->second - 1].written[w];
			n = next.find((v & 0xffffffff) * words + w);
		}
		if (v != memory[w])
			violation(c, "the last committed value is not in memory", w, memory[w]);
	}
	if (seen != next.size())
		violation(c, "committed writes that follow nothing", 0, next.size() - seen);
}

template <typename T> static T *device(size_t n)
{
	T *p = nullptr;

	if (cudaMalloc((void **)&p, n * sizeof(T)) || cudaMemset(p, 0, n * sizeof(T)))
		exit((fprintf(stderr, "history: no device memory\n"), 2));
	return p;
}

template <typename T> static std::vector<T> host(const T *p, size_t n)
{
	std::vector<T> v(n);

	if (cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost))
		exit((fprintf(stderr, "history: the kernel failed\n"), 2));
	return v;
}

static unsigned play(const options &o)
{
	unsigned lanes = o.group == 0 ? 1 : o.group == 2 ? 32 : o.threads, n = o.blocks * o.threads / lanes, room = o.sections * 40 + 100;
	recorder r = { device<event>((size_t)n * room), o.alone, o.readers, o.inner, o.spare, o.words, lanes, room, device<unsigned>(n), device<unsigned>(n),
	               device<unsigned>(n), device<unsigned>(1), device<unsigned long long>(o.words) };
	bool opaque = WS_TM_OPAQUE(o.engine) || o.opacity;
	struct ws_tm_config config = { (enum ws_tm_engine)o.engine, o.granularity, o.entries, o.patience, o.heap, o.alone };
	struct ws_tm_stats stats;
	struct ws_tm tm;
	checker c;

	if (ws_tm_create(&tm, &config) || cudaMemcpyToSymbol(record, &r, sizeof r) ||
	    cudaMemcpyToSymbol(broken, &o.broken, sizeof o.broken) || cudaMemcpyToSymbol(looks, &o.looks, sizeof o.looks))
		exit((fprintf(stderr, "history: set-up failed\n"), 2));
#if !defined MARKED && !defined THREADS_ONLY
	if (o.group)
		(o.group == 1 ? work_blocks : o.group == 2 ? work_warps : work_objects)<<<o.blocks, o.threads>>>(tm, o.words, o.sections, o.seed);
	else
#endif
		work<<<o.blocks, o.threads>>>(tm, o.words, o.sections, o.seed);
	if (ws_tm_read_stats(&tm, &stats))
		exit((fprintf(stderr, "history: the kernel failed\n"), 2));
	auto events = host(r.events, (size_t)n * room);
	auto used = host(r.used, n), dropped = host(r.dropped, n);
	auto memory = host(r.words, o.words);
	unsigned reader_aborts = host(r.reader_aborts, 1)[0];
	for (unsigned t = 0; t < n; t++) {
		take_thread(&c, events.data() + (size_t)t * room, used[t], opaque);
		if (dropped[t])
			violation(&c, "the record of a thread is too short", t, dropped[t]);
	}
	followers next = find_writers(&c, o.words);
	auto graph = edges(&c, next, o.words);
	check_memory(&c, next, memory);
	if (unsigned cycle = in_cycles(graph))
		violation(&c, "transactions in cycles or behind them", 0, cycle);
#ifndef MARKED
	if (stats.commits + stats.aborts[WS_TM_CANCELLED] != (unsigned long long)n * o.sections)
		violation(&c, "sections that did not end as they should", 0, stats.commits);
#else
	if (c.all.size() != (size_t)n * o.sections)
		violation(&c, "sections that did not end as they should", 0, c.all.size());
#endif
	if (o.readers && o.engine == WS_TM_ESTM && reader_aborts)
		violation(&c, "read-only sections that have aborted", 0, reader_aborts);
	if (o.readers)
		printf("%s: read-only sections: %u aborts, %llu times gone through again\n", ws_tm_engine_name(o.engine), reader_aborts,
		       stats.aborts[WS_TM_WAITS]);
	printf("%s granularity %u: %llu commits, %llu alone, %u attempts in the graph, %u violations\n",
	       ws_tm_engine_name(o.engine), o.granularity, stats.commits, stats.serial, (unsigned)c.all.size(), c.violations);
	ws_tm_destroy(&tm);
	cudaFree(r.events), cudaFree(r.used), cudaFree(r.start), cudaFree(r.dropped), cudaFree(r.words), cudaFree(r.reader_aborts);
	return c.violations;
}

static unsigned *option(options *o, const char *name, size_t length)
{
	static const char *const names[] = { "granularity", "words", "blocks", "threads", "sections", "seed", "entries",
	                                     "patience", "heap", "broken", "group", "alone", "readers", "inner", "repeat", "looks", "spare" };
	unsigned *const at[] = { &o->granularity, &o->words, &o->blocks, &o->threads, &o->sections, &o->seed, &o->entries,
	                         &o->patience, &o->heap, &o->broken, &o->group, &o->alone, &o->readers, &o->inner, &o->repeat, &o->looks, &o->spare };

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i]) == length && !strncmp(name, names[i], length))
			return at[i];
	return nullptr;
}

int main(int argc, char **argv)
{
	options o = { 0, 4, 6, 2, 64, 4, 1, 1024, 24, 65536, 0, 0, 0, 0, 0, 1, 4096, 0, 0 };
#ifdef MARKED
	unsigned first = WS_TM_ISTM, last = first + 1, bad = 0, *at;
#else
	unsigned first = 0, last = WS_TM_ENGINES, bad = 0, *at;
#endif

	for (int i = 1; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		if (!strcmp(argv[i], "--opacity") && (o.opacity = 1))
			continue;
		if (!value)
			return fprintf(stderr, "history: what is '%s'?\n", argv[i]), 2;
		if (!strncmp(argv[i], "engine=", 7)) {
			for (first = 0; first < WS_TM_ENGINES && strcmp(ws_tm_engine_name(first), value + 1); first++)
				;
			last = first + 1;
		} else if ((at = option(&o, argv[i], (size_t)(value - argv[i])))) {
			*at = (unsigned)strtoul(value + 1, nullptr, 0);
		} else {
			return fprintf(stderr, "history: what is '%s'?\n", argv[i]), 2;
		}
	}
#ifndef THREADS_ONLY
	if (o.spare)
		return fprintf(stderr, "history: without -DTHREADS_ONLY no word is its own lock\n"), 2;
#endif
	for (; o.repeat && !bad; o.repeat--, o.seed++)
		for (o.engine = first; o.engine < last; o.engine++)
			if (o.group != 3 || o.engine == WS_TM_BLOCK || o.engine == WS_TM_BLOCK_PESSIMISTIC)
				bad += play(o);
	return bad ? 1 : 0;
}
