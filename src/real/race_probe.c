/* race_probe.c - one block of a kernel finds out for a launch that its accesses to shared memory need no checks
 * (rewrite/probe.h). It does so once for each shape of block and each set of values of the parameters that it reads.
 *
 * The probe runs in a stream of ours, for it reads nothing that the program's streams could change (but constants, and
 * the kernel that believes a proof compares those itself), and the launch waits for it: that is part of the kernel's time.
 * Not for long: while kernels that wait for the program fill the GPU it does not begin. */
#include <pthread.h>
#include <string.h>

#include "real/real_priv.h"

enum { MOST_BYTES = 128, LOOKS = 512, FREE_PROBES = 16, LAUNCHES_FOR_ONE = 4, LAUNCHES_WITHOUT = 1 };

struct key {                             /* what a probe depends on */
	void *function, *context;
	unsigned block[3], dynamic, bytes;
	unsigned char values[MOST_BYTES];
};

struct known { struct key key; bool is, proved; };
struct tried { void *function; unsigned probes, launches; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known known[LOOKS];
static struct tried tried[LOOKS];

void ws_real_race_probe_forget(void)
{
	pthread_mutex_lock(&lock);
	memset(known, 0, sizeof known);
	memset(tried, 0, sizeof tried);
	pthread_mutex_unlock(&lock);
}

/* false: too many values. */
static bool take_values(const struct ws_real_checked_kernel *k, void *const *params, struct key *key)
{
	for (uint32_t n = 0; n < k->nprobe_reads; n++) {
		const struct ws_real_probe_value *v = &k->probe_reads[n];

		if (v->bytes > MOST_BYTES - key->bytes || !params || !params[v->param])
			return false;
		memcpy(key->values + key->bytes, (const char *)params[v->param] + v->offset, v->bytes);
		key->bytes += v->bytes;
	}
	return true;
}

/* A kernel that is launched with other values each time is not probed each time, one whose launches may need no probe not
 * at first. */
static bool worth_it(void *function, bool waits)
{
	struct tried *t = &tried[ws_hash(&function, sizeof function) % LOOKS];

	if (t->function != function)
		*t = (struct tried){ .function = function };
	t->launches++;
	if (waits && t->launches <= LAUNCHES_WITHOUT)
		return false;
	return t->probes < FREE_PROBES || t->probes < t->launches / LAUNCHES_FOR_ONE;
}

static bool ask(struct ws_real_gpu *gpu, const struct key *key, bool waits, unsigned size, void **params)
{
	struct known *k = &known[ws_hash(key, sizeof *key) % LOOKS];
	bool worth = worth_it(key->function, waits);

	if (k->is && !memcmp(&k->key, key, sizeof *key))
		return k->proved;
	if (!worth)
		return false;
	tried[ws_hash(&key->function, sizeof key->function) % LOOKS].probes++;
	ws_real_count(WS_FIG_PROBES, 1);
	k->key = *key;
	k->is = true;
	k->proved = ws_real_race_run_probe(gpu, key->function, key->block, size, params);
	return k->proved;
}

/* The size with which it is launched where a probe has found nothing, else `all`. */
static unsigned with_probe(struct ws_real_gpu *gpu, const struct ws_real_checked_kernel *kernel, void *function,
                           const unsigned block[3], unsigned dynamic, unsigned all, void **params)
{
	unsigned threads = block[0] * block[1] * block[2], probe, proved;
	struct key key;
	bool is;

	if (!kernel->probe || !ws_real_race_probe_sizes(function, threads, dynamic, &probe, &proved))
		return all;
	memset(&key, 0, sizeof key);         /* its gaps are compared, too */
	key.function = function;
	key.dynamic = dynamic;
	memcpy(key.block, block, sizeof key.block);
	if (ws_real.cuCtxGetCurrent(&key.context) || !take_values(kernel, params, &key))
		return all;
	pthread_mutex_lock(&lock);
	is = ask(gpu, &key, kernel->probe_waits, probe, params);
	pthread_mutex_unlock(&lock);
	ws_real_count(WS_FIG_PROVED, is);
	return is ? proved : all;
}

/* The size with which it is launched if the host can say that nothing needs a check, else `size`. A program that knows the
 * driver so well that it gives all parameters in one piece of memory decides on the GPU. */
static unsigned if_silent(const struct ws_real_checked_kernel *kernel, void *function, const struct ws_real_deciding *l,
                          unsigned dynamic, unsigned size)
{
	unsigned silent;

	if (!kernel->decision || !l->grid || !ws_real_decide(kernel->decision, l))
		return size;
	silent = ws_real_race_silent_size(function, l->block[0] * l->block[1] * l->block[2], dynamic,
	                                  l->proved && ws_real_decision_compares(kernel->decision));
	ws_real_count(WS_FIG_SILENT, silent != 0);
	return silent ? silent : size;
}

unsigned ws_real_race_probed(struct ws_real_gpu *gpu, void *function, const unsigned grid[3], const unsigned block[3],
                             unsigned dynamic, unsigned all, void **params)
{
	const struct ws_real_checked_kernel *kernel = gpu && !ws_real_capturing() ? ws_real_checked_kernel_of(function) : NULL;
	struct ws_real_deciding l = { grid, block, params, false, ws_real_area_at };
	unsigned size;

	if (!kernel)
		return all;
	size = if_silent(kernel, function, &l, dynamic, all);
	if (size != all)
		return size;
	size = with_probe(gpu, kernel, function, block, dynamic, all, params);
	l.proved = size != all;
	return l.proved ? if_silent(kernel, function, &l, dynamic, size) : size;
}
