/* length.c - how much code the checks of a kernel, and of a module, come to: whether they are calls, and whether there are probes. */
#include "rewrite/length.h"

/* Would checks at their places come to more code than an instruction cache of 128 KB holds? Below that calls cost more (on an H200), but for those of shared
 * memory, which are calls always. In bytes, as ptxas 13 compiles them for sm_90. (The driver's compiler has more to do, too: about 2 MB of PTX a second.) */
enum ws_calls ws_length_calls(const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, const struct ws_needless *needless,
                              const struct ws_ranges *ranges, const struct ws_shared_ranges *shared)
{
	enum { MOST = 120000, GLOBAL = 3200, BARRIER = 700, CALL = 400 };
	uint32_t bytes = 0, global = 0;

	for (uint32_t k = 0; k < n; k++) {
		const struct ws_rw_access *a = &list[k];

		if (a->rw_class != WS_RW_CHECK || needless[k].skip)
			continue;
		if (a->space == WS_SPACE_SHARED || (ranges && ws_ranges_may(ranges, a)) || (shared && ws_shared_ranges_may(shared, a)))
			bytes += CALL;
		else if (a->space == WS_SPACE_GLOBAL)
			global++;
	}
	for (uint32_t k = 0; k < f->ninsts; k++)
		bytes += f->insts[k].op == WS_OP_bar || f->insts[k].op == WS_OP_barrier ? BARRIER : 0;
	return bytes + global * GLOBAL <= MOST ? WS_CALLS_NONE : bytes + global * CALL <= MOST ? WS_CALLS_GLOBAL : WS_CALLS_ALL;
}

/* The driver's compiler takes about half a second for a megabyte of PTX, of which a check at its place is 2 to 5 KB, and a
 * probe as much as the kernel: a module of hundreds of kernels shall not take ten times as long as without. *short_enough: they are those
 * of a few kernels, or all of them are no more instructions than that: their probes have calls, too, and double the time of what
 * has checks by calls. */
bool ws_length_many_checks(const struct ws_reach *r, bool *short_enough)
{
	enum { MANY = 1000, FEW = 8, SHORT = 60000 };
	uint32_t checks = 0, insts = 0, n;

	for (uint32_t k = 0; k < r->m->nfuncs; k++) {
		struct ws_ptx_func *f = r->m->funcs[k];
		const struct ws_rw_access *list = r->funcs[f->sym->index].hooks ? ws_rw_accesses(f, &n) : NULL;

		for (uint32_t i = 0; list && i < n; i++)
			checks += list[i].rw_class == WS_RW_CHECK;
		insts += list ? f->ninsts : 0;
	}
	*short_enough = r->nkernels <= FEW || insts <= SHORT;
	return checks > MANY;
}
