/* fits.c - launches that a kernel's checks leave no room for, told apart from those that the driver refuses in any case: too many threads, too
 * much shared memory, no blocks. These are the program's own errors, of which there is nothing to say. */
#include "real/real_priv.h"

enum { MOST_THREADS, STATIC_SHARED, REGISTERS = 4, MOST_DYNAMIC_SHARED = 8 };       /* CU_FUNC_ATTRIBUTE_* */
enum { USUAL_SHARED = 48 << 10 };

/* What the driver does not tell is taken to be the usual. */
static uint64_t may_have(void *f)
{
	int most;

	if (!ws_real_attribute_of(&f, MOST_DYNAMIC_SHARED, &most))
		return USUAL_SHARED;
	return most > 0 ? (uint64_t)most : 0;
}

/* ours: shared memory of the checks, for which is not asked. */
static bool fits(void *f, uint64_t threads, uint64_t dynamic, uint64_t ours)
{
	return ws_real_occupancy(f, threads, dynamic > ours ? dynamic - ours : 0) && dynamic <= may_have(f) + ours;
}

/* together: so many blocks at a time. */
static bool fits_alone(const struct ws_real_launching *l, uint64_t threads, uint64_t together)
{
	void *plain = ws_real_plain_for(l->function, l->kernel, 0), *f = plain ? plain : l->function;
	uint64_t ours = plain ? 0 : WS_REAL_SHARED_OF_CHECKS;

	return fits(f, threads, l->dynamic, ours) &&
	       (!together || ws_real_occupancy(f, threads, l->dynamic > ours ? l->dynamic - ours : 0) * ws_real_processors() >= together);
}

/* -1: the driver does not tell. */
static int attribute(void *f, int which)
{
	int value;

	return ws_real_attribute_of(&f, which, &value) ? value : -1;
}

/* What there is to say of it: the launch was refused with the checks, and would not be without. */
static bool is_for_checks(const struct ws_real_launching *l, const unsigned grid[3], int error)
{
	enum { INVALID_VALUE = 1, OUT_OF_RESOURCES = 701, TOO_LARGE = 720 };         /* CUresult */
	uint64_t threads = ws_real_volume(l->block);

	if (!l->kernel || l->kernel->why || l->plain || (error != INVALID_VALUE && error != OUT_OF_RESOURCES && error != TOO_LARGE) ||
	    !threads || !ws_real_volume(grid) || !fits_alone(l, threads, error == TOO_LARGE ? ws_real_volume(grid) : 0))
		return false;
	return error == TOO_LARGE || !fits(l->function, threads, l->all, 0);
}

void *ws_real_race_failed(const struct ws_real_launching *l, const unsigned grid[3], int error)
{
	struct ws_buf b = { 0 };
	void *plain;

	if (!is_for_checks(l, grid, error))
		return NULL;
	plain = ws_real_plain_for(l->function, l->kernel, l->dynamic);
	ws_buf_printf(&b, "kernel %s could not be launched with its checks (error %d)%s: %llu threads with %u bytes of shared memory, where it may have %d threads with %d "
	              "registers and %d and %d bytes of its own; there may be no room, or room for fewer blocks at a time",
	              l->kernel->plain, error, plain ? ", and was without" : "", (unsigned long long)ws_real_volume(l->block), l->all,
	              attribute(l->function, MOST_THREADS), attribute(l->function, REGISTERS), attribute(l->function, MOST_DYNAMIC_SHARED),
	              attribute(l->function, STATIC_SHARED));
	ws_report_limit(ws_real_session()->report, b.data);
	ws_buf_free(&b);
	return plain;
}

void ws_real_race_make_together(struct ws_real_launching *l, const unsigned grid[3])
{
	uint64_t blocks = ws_real_volume(grid), threads = ws_real_volume(l->block), n = ws_real_processors();
	void *plain;

	if (l->plain || !l->kernel || l->kernel->why || !threads || ws_real_occupancy(l->function, threads, l->dynamic) * n >= blocks)
		return;
	plain = ws_real_plain_for(l->function, l->kernel, l->dynamic);
	if (!plain || ws_real_occupancy(plain, threads, l->dynamic) * n < blocks)
		return;                      /* the driver says what is wrong */
	l->plain = plain;
	ws_real_runs_too_many(ws_real_kernel_of(l->function));
}
