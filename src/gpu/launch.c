/* launch.c - creation of a simulated GPU, and kernel launches: checks, host threads, the end. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"

/* What one SM of the simulated GPU holds: figures of compute capability 9.0 (CUDA C++ Programming Guide, Technical
 * Specifications per Compute Capability). */
enum { SM_THREADS = 2048, SM_BLOCKS = 32, SM_REGISTERS = 65536, SM_SHARED = WS_MAX_SHARED };

double ws_now(void)
{
	return (double)ws_monotonic_ns() * 1e-9;
}

/* ---- the GPU ---- */
static void fill_defaults(struct ws_gpu_config *c)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (!c->host_threads)
		c->host_threads = cores < 1 ? 1 : (uint32_t)cores;
	if (!c->sms)
		c->sms = 132;
	if (!c->cc)
		c->cc = 90;
	if (!c->memory)
		c->memory = 16ull << 30;
	if (!c->stack_bytes)
		c->stack_bytes = 64 << 10;
	if (c->stack_bytes > 1u << 30)
		c->stack_bytes = 1u << 30;
	if (!c->heap_bytes)
		c->heap_bytes = 256ull << 20;
}

/* Recursive: an observer may ask about kernels while a launch runs. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

struct ws_gpu *ws_gpu_create(const struct ws_gpu_config *config)
{
	struct ws_gpu *g = ws_alloc(sizeof *g);

	g->config = *config;
	fill_defaults(&g->config);
	g->cc = g->config.cc;
	if (!ws_memmap_init(&g->map, g->config.memory, g->config.heap_bytes, config->watch_host, config->observer,
	                    config->observer_self)) {
		free(g);
		return NULL;
	}
	init_lock(&g->lock);
	for (size_t i = 0; i < WS_COUNT(g->stripes); i++)
		pthread_mutex_init(&g->stripes[i], NULL);
	return g;
}

void ws_gpu_destroy(struct ws_gpu *g)
{
	if (!g)
		return;
	while (g->modules)
		ws_gpu_module_unload(g, g->modules);
	ws_memmap_fini(&g->map);
	for (size_t i = 0; i < WS_COUNT(g->stripes); i++)
		pthread_mutex_destroy(&g->stripes[i]);
	pthread_mutex_destroy(&g->lock);
	free(g->flat);
	free(g->fns);
	free(g);
}

const struct ws_gpu_config *ws_gpu_config(const struct ws_gpu *g)
{
	return &g->config;
}

void ws_gpu_observe(struct ws_gpu *g, const struct ws_observer_ops *ops, void *self)
{
	pthread_mutex_lock(&g->lock);
	g->config.observer = ops;
	g->config.observer_self = self;
	pthread_mutex_unlock(&g->lock);
}

uint32_t ws_gpu_occupancy(const struct ws_gpu *g, const struct ws_gpu_kernel *k, uint32_t threads,
                          uint64_t shared_dynamic)
{
	struct ws_image *im =
		ws_image_get((struct ws_gpu_kernel *)(uintptr_t)k);      /* as if it had always been there */
	uint32_t rounded = (threads + WS_WARP - 1) / WS_WARP * WS_WARP, n = SM_BLOCKS;
	uint64_t shared = im->shared_dynamic + shared_dynamic;

	if (!threads || threads > WS_MAX_THREADS || shared > SM_SHARED)
		return 0;
	if (SM_THREADS / rounded < n)
		n = SM_THREADS / rounded;
	if (SM_REGISTERS / (rounded * im->regs) < n)
		n = SM_REGISTERS / (rounded * im->regs);
	if (shared && SM_SHARED / shared < n)
		n = (uint32_t)(SM_SHARED / shared);
	return n;
}

/* ---- checks ---- */
static bool bad(struct ws_gpu_error *err, const struct ws_gpu_kernel *k, enum ws_gpu_errcode code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return false;
	err->code = code;
	va_start(ap, fmt);
	ws_buf_vprintf(&err->text, fmt, ap);
	va_end(ap);
	ws_buf_printf(&err->text, "\n  kernel: %s", k->name);
	return false;
}

static bool check_threads(const struct ws_gpu_kernel *k, const struct ws_gpu_launch *l, struct ws_gpu_error *err)
{
	const struct ws_ptx_func *f = k->fn->ptx;
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2], max = ws_ptx_threads(f->maxntid);

	for (int i = 0; i < 3; i++)
		if (!l->grid[i] || !l->block[i])
			return bad(err, k, WS_GPU_BAD_LAUNCH,
			           "a launch needs at least one block and one thread in each dimension");
	if (threads > WS_MAX_THREADS || l->block[2] > 64)
		return bad(err, k, WS_GPU_BAD_LAUNCH,
		           "%u x %u x %u threads are more than a block may have (1024, 64 in z)",
		           l->block[0], l->block[1], l->block[2]);
	if (max && threads > max)
		return bad(err, k, WS_GPU_BAD_LAUNCH, "%llu threads are more than the kernel's .maxntid allows (%llu)",
		           (unsigned long long)threads, (unsigned long long)max);
	for (int i = 0; i < 3; i++)
		if (f->reqntid[0] && l->block[i] != (f->reqntid[i] ? f->reqntid[i] : 1))
			return bad(err, k, WS_GPU_BAD_LAUNCH,
			           "the block is not of the size that the kernel's .reqntid demands");
	return true;
}

static bool check(struct ws_gpu *g, const struct ws_gpu_kernel *k, const struct ws_gpu_launch *l,
                  struct ws_gpu_error *err)
{
	const struct ws_image *im = k->image;
	uint64_t shared = (uint64_t)im->shared_dynamic + l->shared_dynamic, blocks;
	uint32_t cluster[3];

	if (im->refused)
		return bad(err, k, im->refused, "%s", im->why.data ? im->why.data : "cannot be simulated");
	if (!check_threads(k, l, err))
		return false;
	if (k->fn->ptx->blocksareclusters)
		return bad(err, k, WS_GPU_UNSUPPORTED,
		           "grids that are counted in clusters (.blocksareclusters) are not simulated");
	if (!ws_cluster_size(k, l, cluster, err))
		return false;
	if (shared > WS_MAX_SHARED)
		return bad(err, k, WS_GPU_BAD_LAUNCH, "%llu bytes of shared memory are more than a block may have (%u)",
		           (unsigned long long)shared, WS_MAX_SHARED);
	blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	if (l->cooperative) {
		uint64_t fit = (uint64_t)ws_gpu_occupancy(g, k, l->block[0] * l->block[1] * l->block[2],
		                                          l->shared_dynamic) *
		               g->config.sms;

		if (blocks > fit)
			return bad(err, k, WS_GPU_BAD_LAUNCH,
			           "a cooperative launch of %llu blocks, but only %llu can be resident at once",
			           (unsigned long long)blocks, (unsigned long long)fit);
	}
	return true;
}

/* ---- set-up ---- */
static bool use_its(const struct ws_gpu *g, const struct ws_gpu_kernel *k)
{
	if (g->config.divergence != WS_DIV_AUTO)
		return g->config.divergence == WS_DIV_ITS;
	return k->fn->unit->ptx->sm >= 70 || g->config.cc >= 70;
}

/* The barrier of a cooperative grid: %envreg1 and %envreg2 are the halves of its address; the library counts arrivals
 * in the second word. */
static void set_workspace(struct ws_launch *la)
{
	struct ws_gpu *g = la->gpu;

	if (!la->l->cooperative)
		return;
	if (!g->workspace)
		g->workspace = ws_memmap_new(&g->map, 4096, 0, WS_MEM_SYMBOL, "grid barrier", NULL);
	if (!g->workspace)
		return;
	memset(g->workspace->host, 0, g->workspace->size);
	la->envreg_workspace = g->workspace->addr;
}

static uint32_t resident_limit(const struct ws_launch *la)
{
	uint64_t fit;

	if (la->l->cooperative)
		return UINT32_MAX;
	fit = (uint64_t)ws_gpu_occupancy(la->gpu, la->kernel, la->obs.threads,
	                                 la->l->shared_dynamic) * la->gpu->config.sms;
	fit = (fit / la->cluster_blocks + la->nexec - 1) / la->nexec;
	return fit < 1 ? 1 : (uint32_t)fit;
}

/* A kernel whose launches were short so far is not worth the start of threads (SHORT thread-instructions take less
 * than a few hundred microseconds). */
static uint32_t host_threads(const struct ws_launch *la)
{
	enum { SHORT = 400000, SHARES = 4 };
	const struct ws_gpu_kernel *k = la->kernel;
	uint32_t n = la->gpu->config.host_threads;

	if (!la->gpu->config.clock && k->launches && k->thread_instructions / k->launches < SHORT)
		return 1;
	if (la->gpu->config.clock && n > 1)
		n *= SHARES;             /* of cores: src/timing/hosts.c */
	return la->units < n ? (uint32_t)la->units : n;
}

/* A barrier of the cluster is told as one even where every block is a cluster of its own. */
static void fill_cluster(struct ws_launch *la)
{
	uint32_t *o = la->obs.cluster;

	ws_cluster_size(la->kernel, la->l, o, NULL);
	la->explicit_cluster = o[0] != 0;
	la->cluster_blocks = 1;
	for (int i = 0; i < 3; i++) {
		la->cluster[i] = o[i] ? o[i] : 1;
		la->cluster_blocks *= la->cluster[i];
		if (la->image->cluster_barrier)
			o[i] = la->cluster[i];
	}
}

static void fill_launch(struct ws_launch *la, struct ws_gpu *g, struct ws_gpu_kernel *k, const struct ws_gpu_launch *l)
{
	struct ws_obs_launch *o = &la->obs;

	la->gpu = g;
	la->kernel = k;
	la->image = k->image;
	la->l = l;
	o->kernel = k;
	o->name = k->name;
	o->serial = ++g->launches;
	memcpy(o->grid, l->grid, sizeof o->grid);
	memcpy(o->block, l->block, sizeof o->block);
	fill_cluster(la);
	o->blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	la->units = o->blocks / la->cluster_blocks;
	o->threads = l->block[0] * l->block[1] * l->block[2];
	o->warps = (o->threads + WS_WARP - 1) / WS_WARP;
	la->nexec = host_threads(la);
	o->host_threads = la->nexec;
	la->dynamic_offset = la->image->shared_dynamic;
	la->shared_bytes = l->shared_dynamic ? la->dynamic_offset + l->shared_dynamic : la->image->shared_static;
	o->shared_bytes = la->shared_bytes;
	o->its = use_its(g, k);
	o->cooperative = l->cooperative;
	o->stream = l->stream;
	/* lanes' stacks do not start at the same place of a cache set */
	la->stack_bytes = g->config.stack_bytes + la->image->codes[0]->local_bytes;
	la->stack_stride = (uint32_t)((la->stack_bytes + 4095) / 4096 * 4096 + 192);
	la->resident_limit = resident_limit(la);
	la->params = ws_alloc(k->param_bytes + 16);
	if (l->params)
		memcpy(la->params, l->params, l->param_bytes && l->param_bytes < k->param_bytes ? l->param_bytes : k->param_bytes);
	set_workspace(la);
	la->started = ws_now();
	la->deadline = g->config.timeout_s > 0 ? la->started + g->config.timeout_s : 0;
}

static void fill_exec(struct ws_exec *x, struct ws_launch *la, uint32_t i)
{
	x->launch = la;
	x->gpu = la->gpu;
	x->image = la->image;
	x->index = i;
	x->its = la->obs.its;
	x->shared_bytes = la->shared_bytes;
	x->cache = ws_alloc((la->image->ncache + 1) * sizeof *x->cache);
	x->rng = la->gpu->config.seed * 0x2545f4914f6cdd1dull + la->obs.serial * 977 + i;
	x->ops = la->gpu->config.observer;
	x->self = la->gpu->config.observer_self;
	x->arena = ws_arena_new();
	x->clocked = la->gpu->config.clock != NULL;
}

static void free_exec(struct ws_exec *x)
{
	ws_blocks_free(x);
	ws_arena_free(x->arena);
	ws_buf_free(&x->scratch);
	free(x->cache);
}

/* ---- the run ---- */
static void *thread_main(void *arg)
{
	ws_exec_run(arg);
	return NULL;
}

static void run_all(struct ws_launch *la)
{
	const struct ws_gpu_config *c = &la->gpu->config;
	pthread_t threads[256];
	uint32_t n = la->nexec < 256 ? la->nexec : 256, started = 1;

	if (c->clock) {
		unsigned fp = ws_lanes_fp_enter();

		c->clock->run(c->clock_self, &la->exec[0]);
		ws_lanes_fp_leave(fp);
		return;
	}
	for (; started < n; started++)
		if (pthread_create(&threads[started], NULL, thread_main, &la->exec[started]))
			break;
	for (uint32_t i = started; i < la->nexec; i++)
		la->exec[i].stuck_at = UINT64_MAX;       /* no such thread: it will never do anything */
	ws_exec_run(&la->exec[0]);
	for (uint32_t i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
}

/* Of several that failed, with a clock the one that one host thread alone would have come to first. */
static struct ws_exec *first_failed(const struct ws_launch *la)
{
	struct ws_exec *best = NULL;

	for (uint32_t i = 0; i < la->nexec; i++) {
		struct ws_exec *x = &la->exec[i];

		if (x->failed && (!best || x->cycle < best->cycle || (x->cycle == best->cycle && x->core < best->core)))
			best = x;
	}
	return best;
}

static bool take_error(struct ws_launch *la, struct ws_gpu_error *err)
{
	struct ws_exec *failed = first_failed(la);

	if (failed && err) {
		*err = failed->err;
		memset(&failed->err, 0, sizeof failed->err);
	}
	for (uint32_t i = 0; i < la->nexec; i++)
		ws_buf_free(&la->exec[i].err.text);
	return !failed;
}

static void take_stats(struct ws_launch *la, struct ws_gpu_stats *stats)
{
	struct ws_gpu_stats s = {.seconds = ws_now() - la->started};

	for (uint32_t i = 0; i < la->nexec; i++) {
		s.thread_instructions += la->exec[i].tinsts;
		s.warp_instructions += la->exec[i].winsts;
		s.divergent_branches += la->exec[i].divergent;
		s.barriers += la->exec[i].barriers;
		la->obs.untold += la->exec[i].untold;
	}
	la->kernel->launches++;
	la->kernel->thread_instructions += s.thread_instructions;
	if (stats)
		*stats = s;
}

static bool run_launch(struct ws_launch *la, struct ws_gpu_stats *stats, struct ws_gpu_error *err)
{
	const struct ws_observer_ops *ops = la->gpu->config.observer;
	void *self = la->gpu->config.observer_self;
	bool ok;

	la->exec = ws_alloc(la->nexec * sizeof *la->exec);
	for (uint32_t i = 0; i < la->nexec; i++)
		fill_exec(&la->exec[i], la, i);
	if (ops && ops->launch_begin)
		ops->launch_begin(self, &la->obs);
	la->obs.unwritten_untold = la->obs.unwritten_untold && ws_written_mark(la);
	for (uint32_t i = 0; i < la->nexec; i++)
		la->exec[i].told_from = la->obs.unwritten_untold ? la->obs.serial : 0;
	run_all(la);
	take_stats(la, stats);
	ok = take_error(la, err);
	for (uint32_t i = 0; i < la->nexec; i++)
		free_exec(&la->exec[i]);
	if (ops && ops->launch_end)
		ops->launch_end(self, &la->obs, ok);
	ws_held_free(la);
	free(la->exec);
	free(la->params);
	ws_memmap_settle(&la->gpu->map);
	return ok;
}

bool ws_gpu_launch(struct ws_gpu *g, struct ws_gpu_kernel *k, const struct ws_gpu_launch *l, struct ws_gpu_stats *stats,
                   struct ws_gpu_error *err)
{
	struct ws_launch la;
	bool ok;

	memset(&la, 0, sizeof la);
	pthread_mutex_lock(&g->lock);
	ws_image_get(k);
	ok = check(g, k, l, err);
	if (ok) {
		fill_launch(&la, g, k, l);
		ok = run_launch(&la, stats, err);
	}
	pthread_mutex_unlock(&g->lock);
	return ok;
}
