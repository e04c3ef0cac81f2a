/* verbs.cu - what the calls of include/warpsafe/tm.cuh do, with each engine; threads of one warp and of two blocks.
 *
 *     verbs [broken=N] [granularity=N] [NAME...]
 *
 * All checks, or those named, with granularity 4, 16 and 64, or that one. broken: step N of the engines is left out (WS_TM_BREAK). Ends
 * with 1 and a line for each check that fails. */
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
__constant__ unsigned broken;
#define WS_TM_BREAK broken
#include <warpsafe/tm.h>
#include <warpsafe/tm.cuh>

enum { THREADS = 64, BLOCKS = 2, ALL = THREADS * BLOCKS, WORDS = 4096 };

struct shared { unsigned words[WORDS]; unsigned bad; };

__device__ unsigned self(void) { return blockIdx.x * THREADS + threadIdx.x; }
__device__ void must(struct shared *s, bool right)
{
	if (!right)
		atomicAdd(&s->bad, 1u);
}

/* Every size at every offset, written and read back; every second one is cancelled. Bytes beside it stay as they are. */
__device__ void sizes(struct ws_tx *tx, struct shared *s)
{
	unsigned char *own = (unsigned char *)(s->words + self() * 16), from[16], to[16];

	for (unsigned size = 1; size <= 16; size++) {
		unsigned at = (size * 7 + self()) % 16, cancel = (size + self()) % 2;

		for (unsigned i = 0; i < 64; i++)
			own[i] = 99;
		for (unsigned i = 0; i < size; i++)
			from[i] = (unsigned char)(i * 3 + size);
		__threadfence();
		WS_TX(tx) {
			ws_tx_write(tx, own + at, from, size);
			ws_tx_read(tx, to, own + at, size);
			for (unsigned i = 0; ws_tx_ok(tx) && i < size; i++)
				must(s, to[i] == from[i]);
			if (cancel)
				ws_tx_abort(tx);
		}
		must(s, ws_tx_status(tx) == (cancel ? WS_TX_CANCELLED : WS_TX_COMMITTED));
		for (unsigned i = 0; i < 64; i++)
			must(s, own[i] == (!cancel && i >= at && i < at + size ? from[i - at] : 99));
	}
}

/* Values of each type come back as they were. */
__device__ void types(struct ws_tx *tx, struct shared *s)
{
	unsigned *w = s->words + self() * 16;

	WS_TX(tx) {
		ws_tx_write_u8(tx, (unsigned char *)w, 200);
		ws_tx_write_u16(tx, (unsigned short *)(w + 1), 60000);
		ws_tx_write_i32(tx, (int *)(w + 2), -5);
		ws_tx_write_i64(tx, (long long *)(w + 4), -6000000000);
		ws_tx_write_f32(tx, (float *)(w + 6), -0.25f);
		ws_tx_write_f64(tx, (double *)(w + 8), 1e300);
		ws_tx_write_pointer(tx, w + 10, w);
		bool right = ws_tx_read_u8(tx, (unsigned char *)w) == 200 && ws_tx_read_u16(tx, (unsigned short *)(w + 1)) == 60000;
		right = right && ws_tx_read_i32(tx, (int *)(w + 2)) == -5 && ws_tx_read_i64(tx, (long long *)(w + 4)) == -6000000000;
		right = right && ws_tx_read_f32(tx, (float *)(w + 6)) == -0.25f && ws_tx_read_f64(tx, (double *)(w + 8)) == 1e300;
		right = right && ws_tx_read_pointer(tx, w + 10) == w;
		if (ws_tx_ok(tx))
			must(s, right);
	}
	must(s, ws_tx_status(tx) == WS_TX_COMMITTED);
}

/* One read or write of the 32 bytes at `own`, by a random number: what is read is what `mirror` has. */
__device__ void mixed_step(struct ws_tx *tx, struct shared *s, unsigned char *own, unsigned char *mirror, unsigned random)
{
	unsigned size = 1u << (random >> 28 & 3), at = (random >> 20) % (32 / size) * size;
	unsigned char value[8];

	if (random >> 12 & 1) {
		for (unsigned i = 0; i < size; i++)
			value[i] = mirror[at + i] = (unsigned char)(random >> i);
		ws_tx_write(tx, own + at, value, size);
		return;
	}
	ws_tx_read(tx, value, own + at, size);
	for (unsigned i = 0; ws_tx_ok(tx) && i < size; i++)
		must(s, value[i] == mirror[at + i]);
}

/* Words of all sizes that lie in each other, read and written in any order: a read gives what was written last, and memory has it at the
 * end. Of a section that is cancelled nothing stays. */
__device__ void mixed(struct ws_tx *tx, struct shared *s)
{
	unsigned char *own = (unsigned char *)(s->words + self() * 8), before[32], mirror[32];

	if (self() % 4)
		return;
	for (unsigned n = 0; n < 6; n++) {
		unsigned random;

		for (unsigned i = 0; i < 32; i++)
			before[i] = own[i];
		__threadfence();
		WS_TX(tx) {
			random = self() * 2 + n;
			for (unsigned i = 0; i < 32; i++)
				mirror[i] = before[i];
			for (unsigned i = 0; i < 12; i++)
				mixed_step(tx, s, own, mirror, random = random * 1664525 + 1013904223);
			if (n % 3 == 2)
				ws_tx_abort(tx);
		}
		for (unsigned i = 0; i < 32; i++)
			must(s, own[i] == (n % 3 == 2 ? before[i] : mirror[i]));
	}
}

/* `break` and `continue` end the section and commit it. */
__device__ void leave(struct ws_tx *tx, struct shared *s)
{
	unsigned *w = s->words + self() * 16;

	WS_TX(tx) {
		ws_tx_write_u32(tx, w, 1);
		if (ws_tx_read_u32(tx, w))
			break;
		ws_tx_write_u32(tx, w, 2);
	}
	must(s, w[0] == 1 && ws_tx_status(tx) == WS_TX_COMMITTED);
	WS_TX(tx) {
		ws_tx_write_u32(tx, w, 3);
		continue;
	}
	must(s, w[0] == 3 && ws_tx_status(tx) == WS_TX_COMMITTED);
}

__device__ void add(struct ws_tx *tx, unsigned *word, unsigned n)
{
	WS_TX(tx)
		ws_tx_write_u32(tx, word, ws_tx_read_u32(tx, word) + n);
}

/* A function with a section of its own, called in a section: both words change, or none. */
__device__ void nested(struct ws_tx *tx, struct shared *s)
{
	WS_TX(tx) {
		add(tx, s->words, 1);
		add(tx, s->words + 1, 2);
	}
	must(s, ws_tx_status(tx) == WS_TX_COMMITTED);
	WS_TX(tx) {
		add(tx, s->words, 100);
		WS_TX(tx)
			ws_tx_abort(tx);
		add(tx, s->words + 1, 100);
	}
	must(s, ws_tx_status(tx) == WS_TX_CANCELLED);
}

/* Every fourth thread waits until the one after it has counted: its neighbour in the warp, in the next warp or block. */
__device__ void retry(struct ws_tx *tx, struct shared *s)
{
	unsigned t = self() / 4;

	if (self() % 4)
		return;
	WS_TX(tx) {
		if (ws_tx_read_u32(tx, s->words) != ALL / 4 - 1 - t)
			ws_tx_retry(tx);
		else
			ws_tx_write_u32(tx, s->words, ALL / 4 - t);
	}
	must(s, ws_tx_status(tx) == WS_TX_COMMITTED);
}

/* The first alternative writes and then wants what is not there: nothing of it stays, also of words that were written before
 * it, in another size, and of words on the heap. The second one sees what the first one found; both can be nested, and left
 * by break. */
__device__ void either(struct ws_tx *tx, struct shared *s)
{
	unsigned *w = s->words + self() * 30, wrote = self() % 3, deep = self() % 5 == 0 ? 12 : 1;

	WS_TX(tx) {
		ws_tx_write_u32(tx, w, 7);
		add(tx, s->words + WORDS - 1, 1);
		WS_TX_EITHER(tx) {
			for (unsigned i = 0; ws_tx_ok(tx) && i < deep; i++)
				ws_tx_write_u64(tx, (unsigned long long *)(w + 2 * i), 9);
			add(tx, s->words + WORDS - 1, 100);
			WS_TX_EITHER(tx)
				ws_tx_retry(tx);
			WS_TX_OR(tx) {
				if (wrote)
					ws_tx_retry(tx);
				ws_tx_write_u32(tx, w + 28, 1);
			}
			if (!wrote)
				break;
		}
		WS_TX_OR(tx) {
			unsigned first = ws_tx_read_u32(tx, w), second = ws_tx_read_u32(tx, w + 1);

			if (ws_tx_ok(tx))
				must(s, first == 7 && second == 0);
			if (wrote == 2)
				ws_tx_write_u8(tx, (unsigned char *)w + 1, 1);
			ws_tx_write_u32(tx, w + 29, 1);
		}
	}
	must(s, ws_tx_status(tx) == WS_TX_COMMITTED);
	must(s, w[0] == (wrote == 0 ? 9u : wrote == 1 ? 7u : 7u + 256) && w[1] == 0 && (w[2] == 9) == (!wrote && deep > 1));
	must(s, w[28] == !wrote && w[29] == (wrote != 0));
}

/* An inner section that is left is undone alone, also in another one and of words that were written before it, and one that meets a
 * conflict is run again by itself: words[WORDS - 2] counts how often that was. */
__device__ void inner(struct ws_tx *tx, struct shared *s)
{
	unsigned *w = s->words + self() * 30, odd = self() % 2, outer = 0, tries = 0, undone[3];

	WS_TX(tx) {
		outer++;
		ws_tx_write_u32(tx, w, 7);
		WS_TX_INNER(tx) {
			tries++;
			ws_tx_write_u64(tx, (unsigned long long *)w, 9);
			ws_tx_write_u32(tx, w + 2, 1);
			add(tx, s->words + WORDS - 1, 100);
			if (odd)
				ws_tx_abort_inner(tx);
		}
		undone[0] = ws_tx_inner_undone(tx);
		if (ws_tx_ok(tx))
			must(s, ws_tx_read_u32(tx, w) == (odd ? 7 : 9) || !ws_tx_ok(tx));
		WS_TX_INNER(tx) {
			WS_TX_INNER(tx) {
				ws_tx_write_u32(tx, w + 3, 5);
				ws_tx_abort_inner(tx);
			}
			undone[1] = ws_tx_inner_undone(tx);
			ws_tx_write_u32(tx, w + 4, 6);
		}
		undone[2] = ws_tx_inner_undone(tx);
	}
	must(s, ws_tx_status(tx) == WS_TX_COMMITTED && undone[0] == odd && undone[1] == 1 && undone[2] == 0);
	must(s, w[0] == (odd ? 7 : 9) && w[1] == 0 && w[2] == !odd && w[3] == 0 && w[4] == 6);
	atomicAdd(&s->words[WORDS - 2], tries - (tries < outer ? tries : outer));
	WS_TX(tx) {
		ws_tx_write_u32(tx, w + 5, 1);
		ws_tx_abort_inner(tx);                   /* in no inner section: all of it */
	}
	must(s, ws_tx_status(tx) == WS_TX_CANCELLED && w[5] == 0);
}

/* Writes many more words than a log holds in local memory. */
__device__ void spill(struct ws_tx *tx, struct shared *s)
{
	unsigned cancel = self() % 32 == 8;

	if (self() % 8)
		return;
	WS_TX(tx) {
		for (unsigned i = 0; ws_tx_ok(tx) && i < 60; i++)
			ws_tx_write_u32(tx, s->words + i, ws_tx_read_u32(tx, s->words + i) + 1);
		if (cancel)
			ws_tx_abort(tx);
	}
	must(s, ws_tx_status(tx) == (cancel ? WS_TX_CANCELLED : WS_TX_COMMITTED));
}

__device__ void too_large(struct ws_tx *tx, struct shared *s)
{
	if (self() % 4)
		return;
	WS_TX(tx)
		for (unsigned i = 0; ws_tx_ok(tx) && i < 150; i++)
			ws_tx_write_u32(tx, s->words + i, 1);
	must(s, ws_tx_status(tx) == WS_TX_TOO_LARGE);
	add(tx, s->words, 0);                    /* and goes on as if nothing had been */
	must(s, ws_tx_status(tx) == WS_TX_COMMITTED);
}

/* Two words that are always equal. Whoever sees them differ is a zombie; none may commit, and none may be in an engine with
 * opacity. Threads also write them in both orders. */
__device__ void zombies(struct ws_tx *tx, struct shared *s)
{
	unsigned first = self() % 2;

	for (unsigned i = 0; i < 4; i++) {
		unsigned a, b, ok;

		WS_TX(tx) {
			a = ws_tx_read_u32(tx, s->words + first);
			b = ws_tx_read_u32(tx, s->words + 1 - first);
			ok = ws_tx_ok(tx);
			if (ok && a != b)
				atomicAdd(s->words + 2, 1u);
			if (self() % 4 == i)
				continue;
			ws_tx_write_u32(tx, s->words + first, a + 1);
			ws_tx_write_u32(tx, s->words + 1 - first, b + 1);
		}
		must(s, ok && a == b);
	}
}

/* Of each two words at least one stays 1: whoever takes its own away has seen the other one. */
__device__ void skew(struct ws_tx *tx, struct shared *s)
{
	unsigned *own = s->words + self(), *other = s->words + (self() ^ 1);

	*own = 1;
	__syncwarp();
	WS_TX(tx)
		if (ws_tx_read_u32(tx, own) + ws_tx_read_u32(tx, other) == 2)
			ws_tx_write_u32(tx, own, 0);
	__syncwarp();
	must(s, *own + *other == 1);
}

/* Hands plain data over: what was written before a transaction can be read by one that sees its effect (not with engines
 * without opacity, where what is seen may never take effect), and what it wrote itself can be read afterwards without one. */
__device__ void publish(struct ws_tx *tx, struct shared *s)
{
	unsigned t = self() % THREADS, *data = s->words + 64 * t, *full = data + 32, seen = 1;

	if (blockIdx.x == 0) {
		data[0] = 1;
		WS_TX(tx) {
			ws_tx_write_u32(tx, data + 16, 1);
			ws_tx_write_u32(tx, full, 1);
		}
		return;
	}
	WS_TX(tx) {
		if (!ws_tx_read_u32(tx, full))
			ws_tx_retry(tx);
		else if (WS_TM_OPAQUE(tx->tm.engine))
			seen = data[0];
	}
	must(s, seen == 1 && data[0] == 1 && data[16] == 1);
}

/* What one thread publishes reaches another one through a third, which has had the word in between: and given it back after a conflict at
 * `hot`, which many want, after its own commit, or as the program has cancelled it. */
__device__ void chain(struct ws_tx *tx, struct shared *s)
{
	unsigned *data = s->words + 64 * (self() / 4), *full = data + 32, *hot = s->words + WORDS - 1 - self() / 4 % 4, seen;

	if (self() % 4 == 0) {
		data[0] = 1;
		WS_TX(tx)
			ws_tx_write_u32(tx, full, 1);
		return;
	}
	for (unsigned i = 0; i < 6; i++) {
		WS_TX(tx) {
			seen = ws_tx_read_u32(tx, full);
			if (self() % 4 == 1)
				ws_tx_abort(tx);
			ws_tx_write_u32(tx, hot, ws_tx_read_u32(tx, hot) + 1);
		}
		if (seen && ws_tx_status(tx) == (self() % 4 == 1 ? WS_TX_CANCELLED : WS_TX_COMMITTED))
			must(s, data[0] == 1);
	}
}

/* The same by a word that is its own lock: the third one has looked at it, or changed it, which is not promised. */
__device__ void spare_chain(struct ws_tx *tx, struct shared *s, bool changed)
{
	unsigned *data = s->words + 64 * (self() / 4), *full = data + 32, seen;

	if (self() % 4 == 0) {
		data[0] = 1;
		WS_TX(tx) {
			seen = ws_tx_take_u32(tx, full, ~0u);
			ws_tx_put_u32(tx, full, seen | 1, ~0u);
		}
		return;
	}
	for (unsigned i = 0; i < 6; i++) {
		WS_TX(tx) {
			seen = ws_tx_take_u32(tx, full, ~0u);
			if (changed)
				ws_tx_put_u32(tx, full, seen ^ 2, ~0u);
		}
		if (seen & 1)
			must(s, data[0] == 1);
	}
}
__device__ void spare_looked(struct ws_tx *tx, struct shared *s) { spare_chain(tx, s, false); }
__device__ void spare_changed(struct ws_tx *tx, struct shared *s) { spare_chain(tx, s, true); }

/* Takes a word and puts a value there. */
#define TAKE_PUT(T, TYPE, AT, VALUE, SPARE) (ws_tx_take_##T(tx, (TYPE *)(AT), SPARE), ws_tx_put_##T(tx, (TYPE *)(AT), VALUE, SPARE))

/* Words that are their own lock, of each type: put and then taken they are what was put. A section that is cancelled leaves them as they were. */
__device__ void spare_types(struct ws_tx *tx, struct shared *s)
{
	unsigned *w = s->words + self() * 16;

	for (unsigned cancel = 0; cancel < 2; cancel++) {
		WS_TX(tx) {
			TAKE_PUT(i32, int, w, -5 - (int)cancel, -1);
			TAKE_PUT(u32, unsigned, w + 1, 5 + cancel, ~0u);
			TAKE_PUT(i64, long long, (w + 2), -6000000000, 1);
			TAKE_PUT(u64, unsigned long long, (w + 4), 6000000000 + cancel, 1);
			TAKE_PUT(f32, float, (w + 6), -0.25f, -1.0f);
			TAKE_PUT(f64, double, (w + 8), 1e300, -1);
			ws_tx_take_pointer(tx, w + 10, s + 1);
			ws_tx_put_pointer(tx, w + 10, w, s + 1);
			bool right = ws_tx_take_i32(tx, (int *)w, -1) == -5 - (int)cancel && ws_tx_take_u32(tx, w + 1, ~0u) == 5 + cancel;
			right = right && ws_tx_take_i64(tx, (long long *)(w + 2), 1) == -6000000000;
			right = right && ws_tx_take_u64(tx, (unsigned long long *)(w + 4), 1) == 6000000000 + cancel;
			right = right && ws_tx_take_f32(tx, (float *)(w + 6), -1.0f) == -0.25f;
			right = right && ws_tx_take_f64(tx, (double *)(w + 8), -1) == 1e300 && ws_tx_take_pointer(tx, w + 10, s + 1) == w;
			must(s, right || !ws_tx_ok(tx));
			if (cancel)
				ws_tx_abort(tx);
		}
		must(s, ws_tx_status(tx) == (cancel ? WS_TX_CANCELLED : WS_TX_COMMITTED));
		must(s, *(int *)w == -5 && w[1] == 5 && *(unsigned long long *)(w + 4) == 6000000000 && *(double *)(w + 8) == 1e300);
	}
}

/* More of them than are kept in registers, counted up by all threads, also in parts that are undone, beside a word that is none. */
__device__ void spare_many(struct ws_tx *tx, struct shared *s)
{
	if (self() % 4)
		return;
	WS_TX(tx) {
		for (unsigned i = 0; ws_tx_ok(tx) && i < 5; i++)
			ws_tx_put_u32(tx, s->words + i, ws_tx_take_u32(tx, s->words + i, ~0u) + 1, ~0u);
		WS_TX_INNER(tx) {
			for (unsigned i = 0; ws_tx_ok(tx) && i < 6; i++)
				TAKE_PUT(u32, unsigned, s->words + i, 1000, ~0u);
			ws_tx_abort_inner(tx);
		}
		ws_tx_put_u32(tx, s->words + 5, ws_tx_take_u32(tx, s->words + 5, ~0u) + 1, ~0u);
		WS_TX_EITHER(tx) {
			ws_tx_put_u32(tx, s->words, 1000, ~0u);
			ws_tx_write_u32(tx, s->words + 6, 1000);
			ws_tx_retry(tx);
		}
		WS_TX_OR(tx)
			ws_tx_write_u32(tx, s->words + 6, ws_tx_read_u32(tx, s->words + 6) + 1);
	}
	must(s, ws_tx_status(tx) == WS_TX_COMMITTED);
}

/* Words that are their own lock taken again, at once and behind others, while there is a place in registers for them and when there is none: each is
 * what the section has made of it; 0 where the attempt has lost. */
__device__ void spare_places(struct ws_tx *tx, struct shared *s)
{
	const unsigned long long order = 0x033121020100ull;

	if (self() % 4)
		return;
	WS_TX(tx) {
		unsigned mine[4] = { 0, 0, 0, 0 };

		for (unsigned i = 0; i < 12; i++) {
			unsigned k = (unsigned)(order >> 4 * i) & 15, value = ws_tx_take_u32(tx, s->words + k, ~0u);

			must(s, ws_tx_ok(tx) ? !mine[k] || value == mine[k] : !value);
			ws_tx_put_u32(tx, s->words + k, mine[k] = value + 1, ~0u);
		}
	}
	must(s, ws_tx_status(tx) == WS_TX_COMMITTED);
}

/* Two words at once: when no word is in registers, behind one that is, when they are there already, when there is no room for them, and in a part that is
 * undone. Both are 0 where the attempt has lost, and may then be one. What is moved between words is neither more nor less at the end. */
__device__ void spare_both(struct ws_tx *tx, struct shared *s)
{
	long long *have = (long long *)s->words;
	unsigned *count = s->words + 64;

	for (unsigned i = 0; i < 4; i += ws_tx_done(tx)) {
		unsigned p = (self() + i) % 6, q = (p + 1 + self() % 5) % 6;

		WS_TX_TRY(tx) {
			long long a, b;
			unsigned c, d;

			if (i % 2)
				ws_tx_put_u32(tx, count + 2, ws_tx_take_u32(tx, count + 2, ~0u) + 1, ~0u);
			ws_tx_take2_i64(tx, have + p, have + (ws_tx_ok(tx) ? q : p), LLONG_MIN, &a, &b);
			must(s, ws_tx_ok(tx) || (!a && !b));
			ws_tx_put_i64(tx, have + p, a - 3, LLONG_MIN);
			ws_tx_put_i64(tx, have + q, b + 3, LLONG_MIN);
			ws_tx_take2_u32(tx, count, count + 1, ~0u, &c, &d);
			ws_tx_put_u32(tx, count + 1, d + 2, ~0u);
			ws_tx_put_u32(tx, count, c + 1, ~0u);
			WS_TX_INNER(tx) {
				long long again, other;

				ws_tx_take2_i64(tx, have + q, have + p, LLONG_MIN, &other, &again);
				must(s, !ws_tx_ok(tx) || (again == a - 3 && other == b + 3));
				ws_tx_put_i64(tx, have + p, 1000, LLONG_MIN);
				ws_tx_abort_inner(tx);
			}
		}
	}
}

/* Words of both sizes in shared memory: what is moved between some is counted by others. */
__device__ void spare_shared(struct ws_tx *tx, struct shared *s)
{
	__shared__ long long have[4];
	__shared__ unsigned count[2];

	if (threadIdx.x < 4)
		have[threadIdx.x] = 100;
	if (threadIdx.x < 2)
		count[threadIdx.x] = 0;
	__syncthreads();
	for (unsigned i = 0; i < 3; i += ws_tx_done(tx)) {
		unsigned from = (threadIdx.x + i) % 4, to = (3 * threadIdx.x + i + 1) % 4;

		WS_TX_TRY(tx) {
			ws_tx_put_i64(tx, have + from, ws_tx_take_i64(tx, have + from, -1) - 1, -1);
			ws_tx_put_i64(tx, have + to, ws_tx_take_i64(tx, have + to, -1) + 1, -1);
			ws_tx_put_u32(tx, count + i % 2, ws_tx_take_u32(tx, count + i % 2, ~0u) + 1, ~0u);
		}
	}
	for (unsigned i = 0; i < 2; i += ws_tx_done(tx)) {
		unsigned p = threadIdx.x % 4, q = (p + 1 + i) % 4;

		WS_TX_TRY(tx) {
			long long a, b;

			ws_tx_take2_i64(tx, have + p, have + q, -1, &a, &b);
			ws_tx_put_i64(tx, have + p, a - 1, -1);
			ws_tx_put_i64(tx, have + q, b + 1, -1);
		}
	}
	__syncthreads();
	must(s, have[0] + have[1] + have[2] + have[3] == 400 && count[0] == 2 * THREADS && count[1] == THREADS);
}

/* As in publish: plain data by a word that is its own lock. */
__device__ void spare_publish(struct ws_tx *tx, struct shared *s)
{
	unsigned *data = s->words + 64 * (self() % THREADS), *full = data + 32, seen = 1;

	if (blockIdx.x == 0) {
		data[0] = 1;
		WS_TX(tx)
			TAKE_PUT(u32, unsigned, full, 1, 2);
		return;
	}
	WS_TX(tx) {
		if (!ws_tx_take_u32(tx, full, 2))
			ws_tx_retry(tx);
		else if (WS_TM_OPAQUE(tx->tm.engine))
			seen = data[0];
	}
	must(s, seen == 1 && data[0] == 1);
}

/* The same for a thread's further sections, whose fence stands before they take their word; for what a section fills
 * behind that, where a fence stands at the end; and for what it fills before it. */
__device__ void spare_again(struct ws_tx *tx, struct shared *s)
{
	unsigned *data = s->words + 64 * (self() % THREADS), *full = data + 32;

	WS_TX(tx)
		TAKE_PUT(u32, unsigned, data + 48 + blockIdx.x, 1, 2);
	for (unsigned fills = 0; fills < 3; fills++, data++, full++) {
		if (blockIdx.x == 0) {
			if (!fills)
				*data = 1;
			WS_TX(tx) {
				if (fills == 2)
					ws_tx_fill_u32(tx, data, 1);
				ws_tx_take_u32(tx, full, 2);
				if (fills == 1)
					ws_tx_fill_u32(tx, data, 1);
				ws_tx_put_u32(tx, full, 1, 2);
			}
			continue;
		}
		WS_TX(tx)
			if (!ws_tx_take_u32(tx, full, 2))
				ws_tx_retry(tx);
		must(s, *data == 1);
	}
}

/* Attempts one by one: each thread adds 1 eight times, two of which are cancelled. What was peeked at is tried again when it was out of date,
 * and an attempt sees its own writes. */
__device__ void tries(struct ws_tx *tx, struct shared *s)
{
	for (unsigned i = 0; i < 8; i += ws_tx_done(tx)) {
		WS_TX_TRY(tx) {
			unsigned *w = s->words + i % 2, value = ws_tx_peek_u32(tx, w);

			if (ws_tx_read_u32(tx, w) != value)
				ws_tx_conflict(tx);
			ws_tx_write_u32(tx, w, value + 1);
			must(s, !ws_tx_ok(tx) || ws_tx_peek_u32(tx, w) == value + 1);
			if ((i + self()) % 4 == 3)
				ws_tx_abort(tx);
		}
		if (ws_tx_done(tx))
			must(s, ws_tx_status(tx) == ((i + self()) % 4 == 3 ? WS_TX_CANCELLED : WS_TX_COMMITTED));
	}
}

/* The same with words that are their own lock: each thread adds 2 to the first and 1 to the second nine times, three times left by `break`, three by
 * `continue`; of the others one is cancelled. */
__device__ void spare_tries(struct ws_tx *tx, struct shared *s)
{
	for (unsigned i = 0; i < 9; i += ws_tx_done(tx)) {
		WS_TX_TRY(tx) {
			unsigned from = ws_tx_take_u32(tx, s->words, ~0u), to;

			ws_tx_put_u32(tx, s->words, from + 2, ~0u);
			to = ws_tx_take_u32(tx, s->words + 1, ~0u);
			ws_tx_put_u32(tx, s->words + 1, to + 1, ~0u);
			if (i % 3 == 0)
				break;
			if (i % 3 == 1)
				continue;
			if (i == 5)
				ws_tx_abort(tx);
		}
		if (ws_tx_done(tx))
			must(s, ws_tx_status(tx) == (i == 5 ? WS_TX_CANCELLED : WS_TX_COMMITTED));
	}
}

/* What is done after ws_tx_irrevocable is done once and by one at a time, and needs no log; before it, it can still be cancelled. */
__device__ void irrevocable(struct ws_tx *tx, struct shared *s)
{
	unsigned *count = s->words, *plain = s->words + 1;

	if (self() % 8)
		return;
	add(tx, s->words + 2, 1);
	WS_TX(tx) {
		ws_tx_write_u32(tx, count, ws_tx_read_u32(tx, count) + 1);
		if (!ws_tx_irrevocable(tx))
			continue;
		*(volatile unsigned *)plain = *(volatile unsigned *)plain + 1;
		for (unsigned i = 0; i < 150; i++)
			ws_tx_write_u32(tx, s->words + 10 + i, ws_tx_read_u32(tx, s->words + 10 + i) + 1);
		must(s, ws_tx_irrevocable(tx) && ws_tx_read_u32(tx, count) == *(volatile unsigned *)plain);
		ws_tx_write_u8(tx, (unsigned char *)(s->words + 3) + 1, 7);
	}
	must(s, ws_tx_status(tx) == WS_TX_COMMITTED);
	add(tx, s->words + 2, 1);
	WS_TX(tx) {
		add(tx, s->words + 2, 100);
		ws_tx_abort(tx);
		if (ws_tx_irrevocable(tx))
			must(s, false);
	}
	must(s, ws_tx_status(tx) == WS_TX_CANCELLED);
}

/* Sections that only read abort once at most, whatever the others do. */
__device__ void read_only(struct ws_tx *tx, struct shared *s)
{
	unsigned attempts, sum;

	if (self() % 8 == 0)
		for (unsigned i = 0; i < 6; i++)
			for (unsigned k = 0; k < 2; k++)
				WS_TX(tx) {
					ws_tx_write_u32(tx, s->words + k, ws_tx_read_u32(tx, s->words + k) + 1);
					ws_tx_write_u32(tx, s->words + 2 + k, ws_tx_read_u32(tx, s->words + 2 + k) - 1);
				}
	if (self() % 8 != 1)
		return;
	for (unsigned i = 0; i < 4; i++) {
		attempts = sum = 0;
		WS_TX_READ_ONLY(tx) {
			attempts++;
			sum = 0;
			for (unsigned k = 0; k < 4; k++)
				sum += ws_tx_read_u32(tx, s->words + k);
		}
		must(s, sum == 0 && attempts <= 2);
	}
}

#define CHECKS(X) X(sizes) X(types) X(mixed) X(leave) X(nested) X(retry) X(either) X(inner) X(spill) X(too_large) X(zombies) X(skew) X(publish) \
	X(irrevocable) X(read_only) X(tries) X(spare_tries) X(spare_types) X(spare_many) X(spare_places) X(spare_shared) X(spare_publish) X(spare_again) \
	X(chain) X(spare_looked) X(spare_changed) X(spare_both)
#define KERNEL(NAME) \
	__global__ void k_##NAME(struct ws_tm tm, struct shared *s) \
	{ \
		WS_TX_VAR(tx, tm); \
		NAME(&tx, s); \
	}
CHECKS(KERNEL)

static bool after(const char *name, const struct ws_tm *tm, const struct shared *s, const struct ws_tm_stats *n)
{
	bool right = s->bad == 0;

	if (!strcmp(name, "nested"))
		right = right && s->words[0] == ALL && s->words[1] == 2 * ALL && n->aborts[WS_TM_CANCELLED] == ALL;
	else if (!strcmp(name, "retry"))
		right = right && s->words[0] == ALL / 4 && n->aborts[WS_TM_RETRY] > 0;
	else if (!strcmp(name, "either"))
		right = right && s->words[WORDS - 1] == ALL + 100 * ((ALL + 2) / 3);
	else if (!strcmp(name, "inner"))
		right = right && s->words[WORDS - 1] == 100 * ALL / 2 && (tm->engine != WS_TM_PSTM || s->words[WORDS - 2]);
	else if (!strcmp(name, "tries"))
		right = right && s->words[0] == 3 * ALL && s->words[1] == 3 * ALL && n->aborts[WS_TM_CANCELLED] == 2 * ALL;
	else if (!strcmp(name, "spare_tries"))
		right = right && s->words[0] == 16 * ALL && s->words[1] == 8 * ALL && n->aborts[WS_TM_CANCELLED] == ALL;
	else if (!strcmp(name, "zombies"))
		right = right && (!WS_TM_OPAQUE(tm->engine) || s->words[2] == 0) && s->words[0] == 3 * ALL;
	else if (!strcmp(name, "too_large"))
		right = right && n->aborts[WS_TM_TOO_LARGE] == ALL / 4 && s->words[0] == 0;
	else if (!strcmp(name, "irrevocable"))
		right = right && s->words[0] == ALL / 8 && s->words[1] == ALL / 8 && s->words[2] == ALL / 4 && s->words[3] == 7 << 8 &&
		        s->words[10] == ALL / 8 && s->words[159] == ALL / 8;
	else if (!strcmp(name, "read_only"))
		right = right && s->words[0] == ALL / 8 * 6 && s->words[1] == ALL / 8 * 6;
	else if (!strcmp(name, "spare_places"))
		right = right && s->words[0] == 5 * ALL / 4 && s->words[1] == 3 * ALL / 4 && s->words[2] == ALL / 2 && s->words[3] == ALL / 2;
	else if (!strcmp(name, "spare_both")) {
		const long long *have = (const long long *)s->words;

		right = right && have[0] + have[1] + have[2] + have[3] + have[4] + have[5] == 0 && s->words[64] == 4 * ALL && s->words[65] == 8 * ALL && s->words[66] == 2 * ALL;
	}
	for (int i = 0; i < 7 && !strcmp(name, "spare_many"); i++)
		right = right && s->words[i] == ALL / 4;
	for (int i = 0; i < 60 && !strcmp(name, "spill"); i++)
		right = right && s->words[i] == ALL / 8 - ALL / 32;
	return right;
}

typedef void kernel(struct ws_tm, struct shared *);

static int play(const char *name, kernel *k, unsigned engine, unsigned granularity)
{
	static struct shared host;
	struct ws_tm_config config = ws_tm_defaults();
	struct ws_tm_stats stats;
	struct ws_tm tm;
	struct shared *s;
	bool right;

	config.engine = (enum ws_tm_engine)engine;
	config.granularity = granularity;
	config.entries = 1000;
	config.patience = 24;
	config.alone = !strcmp(name, "irrevocable") || !strcmp(name, "read_only");
	config.heap = config.alone || !strcmp(name, "too_large") ? 1024 : 5120;    /* spill: enough for one at a time */
	if (ws_tm_create(&tm, &config) || cudaMalloc((void **)&s, sizeof *s) || cudaMemset(s, 0, sizeof *s))
		return printf("%s: set-up failed\n", name), 2;
	k<<<BLOCKS, THREADS>>>(tm, s);
	right = ws_tm_read_stats(&tm, &stats) == cudaSuccess;
	right = cudaMemcpy(&host, s, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess && right && after(name, &tm, &host, &stats);
	if (!right)
		printf("%s, engine %s, granularity %u: wrong (%u)\n", name, ws_tm_engine_name(engine), granularity, host.bad);
	cudaFree(s);
	ws_tm_destroy(&tm);
	return !right;
}

/* Takes `name=N` out of the arguments. */
static unsigned take(int *argc, char **argv, const char *name, unsigned otherwise)
{
	size_t n = strlen(name);

	if (*argc < 2 || strncmp(argv[1], name, n) || argv[1][n] != '=')
		return otherwise;
	otherwise = (unsigned)atoi(argv[1] + n + 1);
	memmove(argv + 1, argv + 2, (size_t)(--*argc) * sizeof *argv);
	return otherwise;
}

int main(int argc, char **argv)
{
	unsigned step = take(&argc, argv, "broken", 0), only = take(&argc, argv, "granularity", 0);
	int bad = 0;

	if (cudaMemcpyToSymbol(broken, &step, sizeof step))
		return 2;
	for (unsigned engine = 0; engine < WS_TM_ENGINES; engine++)
		for (unsigned granularity = only ? only : 4; granularity <= (only ? only : 64); granularity *= 4) {
			bool wanted;
#define PLAY(NAME) \
			wanted = argc == 1; \
			for (int i = 1; i < argc; i++) \
				wanted = wanted || !strcmp(argv[i], #NAME); \
			if (wanted) \
				bad += play(#NAME, k_##NAME, engine, granularity);
			CHECKS(PLAY)
		}
	return bad ? 1 : 0;
}
