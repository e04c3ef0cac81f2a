/* tensors.c - the program's descriptors of tensors (CUtensorMap), for the checks of kernels that copy tiles of them.
 *
 * What is in the 128 bytes is the driver's own affair; what they mean is known from the call that makes them. The GPU gets a table by
 * their content (struct ws_race_tensor), whenever there is a launch and something has changed. Kernels may be reading the table
 * before: a row's content comes last. Where too many descriptors would be in one place, the oldest one is forgotten: of a copy by that
 * one the checks say that they do not know it. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "real/race.h"
#include "real/real_priv.h"

enum { WORDS = WS_RACE_TENSOR_WORDS, DIMS = WS_RACE_TENSOR_DIMS, MAX_BOX = 256, MAX_STEP = 8 };

struct row {
	struct ws_race_tensor tensor;
	unsigned long long version;          /* when it came there; 0 = it is free */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct row *rows;                 /* WS_RACE_TENSORS; NULL: no descriptor was made yet */
static atomic_ullong version;

/* ---- the list ---- */
static void mix(const void *map, ws_race_u64 to[2])
{
	ws_race_u64 word;

	to[0] = to[1] = 0;
	for (unsigned k = 0; k < WORDS; k++) {
		memcpy(&word, (const char *)map + 8 * k, 8);
		to[0] = WS_RACE_TENSOR_MIX(to[0], word);
		to[1] = WS_RACE_TENSOR_MIX2(to[1], word);
	}
}

/* Where that content is; where there is none, the place for it. */
static struct row *find(const ws_race_u64 m[2])
{
	struct row *oldest = NULL, *r;

	for (unsigned k = 0; k < WS_RACE_TENSOR_PROBES; k++) {
		r = &rows[(m[0] + k) % WS_RACE_TENSORS];
		if (r->tensor.mix[0] == m[0] && r->tensor.mix[1] == m[1])
			return r;
		if (!oldest || r->version < oldest->version)
			oldest = r;
	}
	return oldest;
}

static void add(const void *map, const struct ws_race_tensor *t)
{
	struct row *r;
	ws_race_u64 m[2];

	mix(map, m);
	pthread_mutex_lock(&lock);
	if (!rows)
		rows = ws_alloc(WS_RACE_TENSORS * sizeof *rows);
	r = find(m);
	if (r->tensor.mix[0] != m[0] || r->tensor.mix[1] != m[1]) {
		r->tensor = *t;
		memcpy(r->tensor.mix, m, sizeof m);
		r->version = atomic_fetch_add(&version, 1) + 1;
	}
	pthread_mutex_unlock(&lock);
}

static bool known(const void *map, struct ws_race_tensor *t)
{
	const struct row *r = NULL;
	ws_race_u64 m[2];
	bool found;

	mix(map, m);
	pthread_mutex_lock(&lock);
	if (rows)
		r = find(m);
	found = r && r->tensor.mix[0] == m[0] && r->tensor.mix[1] == m[1];
	if (found)
		*t = r->tensor;
	pthread_mutex_unlock(&lock);
	return found;
}

/* ---- the table on the GPU ---- */
uint64_t ws_real_tensors_make(struct ws_real_tensors *t, void *stream)
{
	uint64_t bytes = WS_RACE_TENSORS * sizeof(struct ws_race_tensor);

	if (ws_real.cuMemAlloc_v2(&t->base, bytes))
		return t->base = 0;
	if (ws_real.cuMemsetD8Async(t->base, 0, bytes, stream) || ws_real.cuStreamSynchronize(stream))
		t->base = 0;
	return t->base;
}

/* What was there before loses its content first. */
static bool write(uint64_t base, size_t k, void *stream)
{
	static const ws_race_u64 none[2];
	uint64_t at = base + k * sizeof(struct ws_race_tensor);
	const struct ws_race_tensor *t = &rows[k].tensor;

	return !ws_real.cuMemcpyHtoDAsync_v2(at, none, sizeof none, stream) &&
	       !ws_real.cuMemcpyHtoDAsync_v2(at + sizeof t->mix, (const char *)t + sizeof t->mix, sizeof *t - sizeof t->mix, stream) &&
	       !ws_real.cuMemcpyHtoDAsync_v2(at, t->mix, sizeof t->mix, stream);
}

static bool write_since(const struct ws_real_tensors *t, void *stream)
{
	unsigned long long since = atomic_load(&t->version);

	for (size_t k = 0; k < WS_RACE_TENSORS; k++)
		if (rows[k].version > since && !write(t->base, k, stream))
			return false;
	return !ws_real.cuStreamSynchronize(stream);
}

void ws_real_tensors_tell(struct ws_real_tensors *t, void *stream)
{
	int mode;

	if (!t->base || atomic_load(&t->version) == atomic_load(&version))
		return;
	pthread_mutex_lock(&lock);
	mode = ws_real_relax_capture(WS_REAL_RELAXED);
	if (!write_since(t, stream))
		ws_report_limit(ws_real_session()->report, "the GPU could not be told what tensors the program has described");
	ws_real_relax_capture(mode);
	atomic_store(&t->version, atomic_load(&version));
	pthread_mutex_unlock(&lock);
}

/* ---- the driver's functions ---- */
/* By CUtensorMapDataType: bytes of an element. Types that are packed otherwise are not known. */
static const unsigned char sizes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };

static bool fill(struct ws_race_tensor *t, const uint64_t *dims, const uint64_t *strides, const uint32_t *box, const uint32_t *steps)
{
	for (unsigned k = 0; k < t->rank; k++) {
		uint32_t step = k ? steps[k] : 1;        /* the first one is ignored without interleaving */

		if (!dims[k] || !box[k] || box[k] > MAX_BOX || !step || step > MAX_STEP)
			return false;
		t->less_1[k] = dims[k] - 1;
		t->box[k] = (unsigned short)box[k];
		t->step[k] = (unsigned char)step;
		if (k)
			t->stride[k - 1] = strides[k - 1];
	}
	return true;
}

int ws_real_cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *dims, const uint64_t *strides,
                                   const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill_with)
{
	static const unsigned char swizzles[] = { 0, 32, 64, 128 };
	struct ws_race_tensor t = { .address = (uint64_t)(uintptr_t)address, .rank = (unsigned char)rank };
	int e = ws_real.cuTensorMapEncodeTiled(map, type, rank, address, dims, strides, box, steps, interleave, swizzle, promotion, fill_with);

	if (e || interleave || swizzle < 0 || (size_t)swizzle >= sizeof swizzles || type < 0 || (size_t)type >= sizeof sizes || rank > DIMS ||
	    !ws_real_session() || !ws_real_session()->checks)
		return e;
	t.bytes = sizes[type];
	t.swizzle = swizzles[swizzle];
	if (fill(&t, dims, strides, box, steps))
		add(map, &t);
	return e;
}

int ws_real_cuTensorMapReplaceAddress(void *map, void *address)
{
	struct ws_race_tensor t;
	bool is = map && known(map, &t);
	int e = ws_real.cuTensorMapReplaceAddress(map, address);

	if (!e && is) {
		t.address = (uint64_t)(uintptr_t)address;
		add(map, &t);
	}
	return e;
}
