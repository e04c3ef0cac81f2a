/* race_probe.c - one block of a kernel finds out for a launch that its accesses to shared memory need no checks
 * (rewrite/probe.h). It does so once for each shape of block and each set of values of the parameters that it reads.
 *
 * The probe runs in a stream of ours, for it reads nothing that the program's streams could change (but constants, and
 * the kernel that believes a proof compares those itself), and the launch waits for it: that is part of the kernel's time.
 * Not for long: while kernels that wait for the program fill the GPU it does not begin. What it finds when nobody waits any more is
 * for the launches after that. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "real/real_priv.h"

enum { MOST_BYTES = 128, LOOKS = 512, FREE_PROBES = 16, FREE_IF_SMALL = 2, LAUNCHES_FOR_ONE = 4, LAUNCHES_WITHOUT = 1 };

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
static struct { struct ws_real_gpu *gpu; struct key key; } late;         /* a probe that goes on; gpu NULL: none */

void ws_real_race_probe_forget(void)
{
	pthread_mutex_lock(&lock);
	memset(known, 0, sizeof known);
	memset(tried, 0, sizeof tried);
	late.gpu = NULL;
	pthread_mutex_unlock(&lock);
	ws_real_race_alike_forget();
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

/* All blocks of such a launch run at a time, so a probe takes as long as the launch does with its checks: it is of use only for others behind it with
 * the same values. */
static bool is_small(const struct ws_real_launching *l)
{
	return l->grid && ws_real_volume(l->grid) <= ws_real_processors();
}

/* A kernel that is launched with other values each time is not probed each time, one whose launches may need no probe not
 * at first. */
static bool worth_it(const struct ws_real_launching *l, bool waits)
{
	struct tried *t = &tried[ws_hash(&l->function, sizeof l->function) % LOOKS];

	if (t->function != l->function)
		*t = (struct tried){ .function = l->function };
	t->launches++;
	if (waits && t->launches <= LAUNCHES_WITHOUT)
		return false;
	return t->probes < FREE_IF_SMALL || t->probes < t->launches / LAUNCHES_FOR_ONE || (t->probes < FREE_PROBES && !is_small(l));
}

/* What a probe for such a launch has found, NULL: there was none. With the lock held. */
static const struct known *known_of(const struct key *key)
{
	const struct known *k = &known[ws_hash(key, sizeof *key) % LOOKS];

	return k->is && !memcmp(&k->key, key, sizeof *key) ? k : NULL;
}

/* Has the probe that nobody waited for ended? With the lock held. */
static void take_late(void)
{
	enum ws_race_probe found = late.gpu ? ws_real_race_probe_found(late.gpu) : WS_RACE_PROBE_WAITS;
	struct known *k = &known[ws_hash(&late.key, sizeof late.key) % LOOKS];

	if (found < WS_RACE_PROBE_NOTHING)
		return;
	k->proved |= k->is && !memcmp(&k->key, &late.key, sizeof late.key) && found == WS_RACE_PROBE_NOTHING;
	late.gpu = NULL;
}

static bool run_probe(struct ws_real_gpu *gpu, const struct key *key, unsigned blocks, unsigned size, void **params)
{
	struct known *k = &known[ws_hash(key, sizeof *key) % LOOKS];
	enum ws_race_probe found;

	tried[ws_hash(&key->function, sizeof key->function) % LOOKS].probes++;
	ws_real_count(WS_FIG_PROBES, 1);
	k->key = *key;
	k->is = true;
	take_late();                         /* or it is lost */
	found = ws_real_race_run_probe(gpu, key->function, blocks, key->block, size, params);
	if (found < WS_RACE_PROBE_NOTHING) {
		late.gpu = gpu;
		late.key = *key;
	}
	k->proved = found == WS_RACE_PROBE_NOTHING;
	return k->proved;
}

struct probing {
	struct key key;
	unsigned probe, proved;              /* sizes of dynamic shared memory: the probe's, and the launch's that believes it */
};

/* false: the kernel has no probe, or not for such a launch. */
static bool can_be_probed(const struct ws_real_launching *l, struct probing *p)
{
	if (!l->kernel->probe || !ws_real_race_probe_sizes(l->function, l->block[0] * l->block[1] * l->block[2], l->dynamic,
	                                                   l->kernel->probe_unit, &p->probe, &p->proved))
		return false;
	memset(&p->key, 0, sizeof p->key);   /* its gaps are compared, too */
	p->key.function = l->function;
	p->key.dynamic = l->dynamic;
	memcpy(p->key.block, l->block, sizeof p->key.block);
	return !ws_real.cuCtxGetCurrent(&p->key.context) && take_values(l->kernel, l->params, &p->key);
}

static uint64_t variable_of(void *function, const char *name)
{
	void *module = NULL;
	bool library = false;
	size_t bytes;

	return ws_real_code_of(function, &module, &library) && module ? ws_real_variable(module, library, name, &bytes) : 0;
}

/* Also memory of pools, of which the table on the GPU does not know. */
static bool area_of_any(uint64_t address, uint64_t *start, uint64_t *end)
{
	return ws_real_area_at(address, start, end) || ws_real_memory_around(address, start, end);
}

static struct ws_real_deciding deciding(const struct ws_real_launching *l, bool proved)
{
	return (struct ws_real_deciding){ l->grid, l->block, l->params, proved, area_of_any, variable_of, l->function };
}

static bool holds(const struct ws_real_launching *l, const struct ws_real_decision *decision, bool proved)
{
	struct ws_real_deciding d = deciding(l, proved);

	return decision && l->grid && ws_real_decide(decision, &d);
}

void ws_real_race_touches(const struct ws_real_launching *l, struct ws_real_touched *out)
{
	struct ws_real_deciding d = deciding(l, false);
	const struct ws_real_decision *extents = l->kernel && !l->kernel->why && l->grid ? ws_real_table_extents(l->kernel) : NULL;

	out->known = false;
	if (extents)
		ws_real_decide_extents(extents, &d, out);
}

bool ws_real_race_told(struct ws_real_launching *l, struct ws_race_launch *said)
{
	struct ws_real_deciding d = deciding(l, l->proved);
	struct ws_race_told told;

	static_assert(sizeof told == sizeof *said, "it takes its place");
	if (!l->kernel || !l->kernel->telling || !l->grid || l->compared || l->spared || !ws_real_decide_all(l->kernel->telling, &d, &told))
		return false;
	memcpy(said, &told, sizeof told);
	l->sure = ws_real_sure_of(l, &told);
	return true;
}

bool ws_real_race_in_parts(struct ws_real_gpu *gpu, struct ws_real_launching *l)
{
	struct ws_real_deciding d = deciding(l, false);
	struct ws_real_touched touched;
	struct ws_race_told told;

	if (!gpu || !l->kernel || !l->kernel->parts || !l->grid || l->compared || l->spared || l->plain || l->together || l->asks ||
	    !holds(l, l->kernel->decision, true) || !ws_real_decide_all(l->kernel->parts, &d, &told) || !(told.truths & 1))
		return false;
	ws_real_race_touches(l, &touched);
	l->parts = ws_real_touched_again(&touched) ? ws_real_parts_beside(l) : NULL;
	if (!l->parts)
		return false;
	l->looks = (struct ws_race_parts){ .mark = 0 };
	for (uint32_t k = 0; k < l->kernel->nparts; k++)
		l->looks.part[k] = (struct ws_race_part){ (uint32_t)told.values[2 * k], (uint32_t)told.values[2 * k + 1] };
	ws_real_race_number(gpu, &l->looks);
	return true;
}

/* Does nothing in such a launch need a check, as far as the host can say? A program that knows the driver so well that it gives all
 * parameters in one piece of memory decides on the GPU. */
static bool is_silent(const struct ws_real_launching *l, bool proved)
{
	return !l->compared && holds(l, l->kernel->decision, proved);
}

/* Does no access to shared memory need a check in this launch, so that it can do without cells for it, by proofs by addresses? More of its blocks
 * have room at a time then. */
static bool needs_no_cells(const struct ws_real_launching *l)
{
	return l->kernel->bare && l->all != l->dynamic && holds(l, l->kernel->shared_decision, false);
}

/* Is a probe hardly of use for this launch, as proofs by addresses may spare what it would, or (as far as the host knows) do? */
static bool may_do_without(const struct ws_real_launching *l)
{
	return l->kernel->probe_waits && (!l->kernel->shared_decision || !l->grid || holds(l, l->kernel->shared_decision, false));
}

/* Has it launched without checks: as the program's own kernel, or with the size of shared memory that tells the kernel so. compares: its
 * constants have to be compared first, which the kernel does. false: neither is possible. */
static bool spare_checks(struct ws_real_launching *l, bool compares, unsigned *size)
{
	unsigned silent = 0;

	l->plain = compares ? NULL : ws_real_plain_of(l);
	if (!l->plain)
		silent = ws_real_race_silent_size(l, compares);
	l->spared = l->plain || silent;
	if (l->spared)
		*size = l->plain ? l->dynamic : silent;
	return l->spared;
}

static unsigned after_probe(struct ws_real_launching *l, const struct probing *p, bool proved)
{
	unsigned size = proved ? p->proved : l->all;

	ws_real_count(WS_FIG_PROVED, proved);
	l->proved = proved;
	if (proved && is_silent(l, true))
		ws_real_count(WS_FIG_SILENT, spare_checks(l, ws_real_decision_compares(l->kernel->decision), &size));
	return size;
}

/* A launch like one that has found nothing, or nothing new. */
static void if_alike(struct ws_real_gpu *gpu, struct ws_real_launching *l, unsigned *size)
{
	bool can = l->grid && !l->spared && (l->kernel->has_plain || ws_real_race_silent_size(l, false));

	bool told, spared;

	if (!can || !ws_real_race_alike(gpu, l, &told))
		return;
	spared = spare_checks(l, false, size);
	ws_real_count(told ? WS_FIG_TOLD : WS_FIG_ALIKE, spared);
	if (told && spared)
		ws_real_race_told_again(gpu);
}

static unsigned settled(struct ws_real_launching *l, bool *probe)
{
	bool can, proved, worth, silent, without;
	const struct known *k = NULL;
	unsigned size = l->all;
	struct probing p;

	can = can_be_probed(l, &p);
	without = can && may_do_without(l);
	pthread_mutex_lock(&lock);
	take_late();
	if (can)
		k = known_of(&p.key);
	proved = k && k->proved;
	worth = can && worth_it(l, without) && !k;
	pthread_mutex_unlock(&lock);
	if (proved)
		return after_probe(l, &p, true);
	silent = is_silent(l, false);
	if (silent)
		ws_real_count(WS_FIG_SILENT, spare_checks(l, false, &size));
	if (!l->spared && needs_no_cells(l))
		size = ws_real_race_bare(l);
	*probe = worth && !silent;           /* what cannot be told the kernel finds itself */
	if (*probe)
		ws_real_beside_ready(l);
	return size;
}

unsigned ws_real_race_settled(struct ws_real_gpu *gpu, struct ws_real_launching *l, bool *probe)
{
	unsigned size;

	*probe = false;
	if (!gpu || !l->kernel || ws_real_capturing())
		return l->all;
	size = settled(l, probe);
	if (l->kernel->fixed && !l->compared)
		if_alike(gpu, l, &size);
	*probe = *probe && !l->spared;
	return size;
}

unsigned ws_real_race_probed(struct ws_real_gpu *gpu, struct ws_real_launching *l)
{
	const struct known *k;
	struct probing p;
	bool proved;

	if (!l->kernel || !can_be_probed(l, &p))
		return l->all;
	pthread_mutex_lock(&lock);
	k = known_of(&p.key);                /* of another host thread, since it was asked */
	proved = k ? k->proved : run_probe(gpu, &p.key, l->kernel->probe_blocks, p.probe, l->params);
	pthread_mutex_unlock(&lock);
	return after_probe(l, &p, proved);
}
