/* wrap_occupancy.c - what a program asks of its kernels before it launches them: shared memory, registers, how many blocks run at a
 * time. Programs compute their grids from that, so it must not be told of the kernel with checks: the answer is that of the kernel as
 * it is (plain.c), where it stands beside the checked one, else that of the checked one without the shared memory of the checks.
 *
 * A kernel that waits for others in a loop may be launched with no more blocks than run at a time with checks (as a cooperative launch
 * must be): of it the program learns how many these are, unless that would be none. */
#include "real/real_priv.h"
#include "rewrite/rewrite.h"

enum { MOST_THREADS = 0, STATIC_SHARED = 1, REGISTERS = 4, MOST_DYNAMIC_SHARED = 8 };   /* CU_FUNC_ATTRIBUTE_* */

struct asked {
	const struct ws_real_checked_kernel *kernel;     /* NULL: it has no checks */
	void *own;                           /* as it is; the program's handle where it stands alone */
	bool alone;                          /* only the checked one is there */
	bool waits;
};

static struct asked asked_of(void *f)
{
	struct asked a = { .kernel = ws_real_checked_kernel_of(f), .own = f };
	void *plain;

	if (!a.kernel || a.kernel->why)
		return (struct asked){ .own = f };
	plain = ws_real_plain_for(f, a.kernel, 0);
	a.alone = !plain;
	a.own = plain ? plain : f;
	a.waits = a.kernel->loops;
	return a;
}

/* Dynamic shared memory with which the driver is to be asked. */
static size_t without_ours(const struct asked *a, size_t dynamic)
{
	if (!a->alone)
		return dynamic;
	return dynamic > WS_RACE_BLOCK_BYTES ? dynamic - WS_RACE_BLOCK_BYTES : 0;
}

/* ---- attributes ---- */
static bool is_of_code(int attribute)
{
	return attribute >= MOST_THREADS && attribute <= REGISTERS;
}

static void take_ours_off(const struct asked *a, int attribute, int *value)
{
	if (a->alone && attribute == STATIC_SHARED && value && *value >= WS_RACE_BLOCK_BYTES)
		*value -= WS_RACE_BLOCK_BYTES;
}

int ws_real_cuFuncGetAttribute(int *value, int attribute, void *f)
{
	struct asked a = { .own = f };
	int e;

	if (is_of_code(attribute) || attribute == MOST_DYNAMIC_SHARED)
		a = asked_of(f);
	e = ws_real.cuFuncGetAttribute(value, attribute, a.own);
	if (!e)
		take_ours_off(&a, attribute, value);
	return e;
}

int ws_real_cuKernelGetAttribute(int *value, int attribute, void *kernel, int device)
{
	struct asked a = { .own = kernel };
	void *plain;
	int e;

	if (is_of_code(attribute) || attribute == MOST_DYNAMIC_SHARED) {
		a.kernel = ws_real_checked_kernel_of(kernel);
		plain = a.kernel && !a.kernel->why ? ws_real_plain_in_library(kernel, a.kernel) : NULL;
		a.alone = a.kernel && !a.kernel->why && !plain;
		a.own = plain ? plain : kernel;
	}
	e = ws_real.cuKernelGetAttribute(value, attribute, a.own, device);
	if (!e)
		take_ours_off(&a, attribute, value);
	return e;
}

/* ---- blocks that run at a time ---- */
/* checked: what the driver says of the kernel with checks, unless e is an error. If it does not run at all, a launch is one of the kernel as
 * it is. */
static int no_more_than(int *value, int checked, int e)
{
	if (value && !e && checked > 0 && checked < *value)
		*value = checked;
	return 0;
}

int ws_real_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *f, int threads, size_t shared)
{
	struct asked a = asked_of(f);
	int e = ws_real.cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, a.own, threads, without_ours(&a, shared)), with = 0;

	if (e || !a.waits)
		return e;
	e = ws_real.cuOccupancyMaxActiveBlocksPerMultiprocessor(&with, f, threads, shared);
	return no_more_than(blocks, with, e);
}

int ws_real_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *f, int threads, size_t shared, unsigned flags)
{
	struct asked a = asked_of(f);
	int with = 0;
	int e = ws_real.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, a.own, threads, without_ours(&a, shared), flags);

	if (e || !a.waits)
		return e;
	e = ws_real.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&with, f, threads, shared, flags);
	return no_more_than(blocks, with, e);
}

int ws_real_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, void *f, int blocks, int threads)
{
	struct asked a = asked_of(f);
	size_t with = 0;
	int e = ws_real.cuOccupancyAvailableDynamicSMemPerBlock(dynamic, a.own, blocks, threads);

	if (!e && a.alone && !a.waits && dynamic && *dynamic)
		*dynamic += WS_RACE_BLOCK_BYTES;
	if (!e && a.waits && !a.alone && !ws_real.cuOccupancyAvailableDynamicSMemPerBlock(&with, f, blocks, threads) && with && dynamic &&
	    with < *dynamic)
		*dynamic = with;
	return e;
}

/* ---- the block that fills a multiprocessor best ---- */
static _Thread_local struct {
	const struct asked *asked;
	size_t (*shared_of)(int threads);    /* the program's */
	size_t shared;
} size;                                      /* of dynamic shared memory, while the driver is asked */

static size_t size_for(int threads)
{
	return without_ours(size.asked, size.shared_of ? size.shared_of(threads) : size.shared);
}

/* With the number of blocks that the whole GPU runs at a time. */
static void no_more_blocks(int *grid, void *f, int threads, size_t shared)
{
	no_more_than(grid, (int)(ws_real_occupancy(f, (unsigned)threads, shared) * ws_real_processors()), 0);
}

/* flags: NULL, where the driver is asked without. */
static int potential_block(int *grid, int *block, void *f, size_t (*shared_of)(int threads), size_t shared, int limit,
                           const unsigned *flags)
{
	struct asked a = asked_of(f);
	int e;

	size.asked = &a;
	size.shared_of = shared_of;
	size.shared = shared;
	e = flags ? ws_real.cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, a.own, size_for, shared, limit, *flags)
		  : ws_real.cuOccupancyMaxPotentialBlockSize(grid, block, a.own, size_for, shared, limit);
	if (!e && a.waits && grid && block)
		no_more_blocks(grid, f, *block, shared_of ? shared_of(*block) : shared);
	return e;
}

int ws_real_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *f, size_t (*shared_of)(int threads), size_t shared,
                                             int limit)
{
	return potential_block(grid, block, f, shared_of, shared, limit, NULL);
}

int ws_real_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, void *f, size_t (*shared_of)(int threads), size_t shared,
                                                      int limit, unsigned flags)
{
	return potential_block(grid, block, f, shared_of, shared, limit, &flags);
}

/* ---- clusters ---- */
static const struct ws_real_config *config_without_ours(const struct asked *a, const struct ws_real_config *config,
                                                        struct ws_real_config *copy)
{
	if (!a->alone || !config)
		return config;
	*copy = *config;
	copy->shared = (unsigned)without_ours(a, config->shared);
	return copy;
}

static int clusters(int *value, void *f, const struct ws_real_config *config,
                    int (*ask)(int *value, void *f, const void *config))
{
	struct asked a = asked_of(f);
	struct ws_real_config copy;
	int e = ask(value, a.own, config_without_ours(&a, config, &copy)), with = 0;

	if (e || !a.waits)
		return e;
	e = ask(&with, f, config);
	return no_more_than(value, with, e);
}

int ws_real_cuOccupancyMaxActiveClusters(int *value, void *f, const void *config)
{
	return clusters(value, f, config, ws_real.cuOccupancyMaxActiveClusters);
}

int ws_real_cuOccupancyMaxPotentialClusterSize(int *value, void *f, const void *config)
{
	return clusters(value, f, config, ws_real.cuOccupancyMaxPotentialClusterSize);
}
