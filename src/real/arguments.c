/* arguments.c - parameters of launches; see arguments.h. */
#include "real/arguments.h"

#include <string.h>

#include "real/real_priv.h"

enum { EXTRA_END, EXTRA_BUFFER, EXTRA_SIZE };                /* CU_LAUNCH_PARAM_... */

static void add_to_list(struct ws_real_arguments *a, uint32_t n, void **params)
{
	memcpy(a->list, params, n * sizeof *params);
	a->list[n] = &a->own;
	a->params = a->list;
	a->said = &a->own;
}

/* All parameters in one piece of memory, with its size. */
static void add_to_buffer(struct ws_real_arguments *a, uint32_t at, void **extra)
{
	const void *from = NULL;
	size_t bytes = 0;

	for (; *extra != (void *)EXTRA_END; extra += 2) {
		if (*extra == (void *)EXTRA_BUFFER)
			from = extra[1];
		else if (*extra == (void *)EXTRA_SIZE)
			memcpy(&bytes, extra[1], sizeof bytes);
	}
	if (bytes > at || (bytes && !from))
		return;                      /* the driver says what is wrong */
	memset(a->buffer, 0, at + sizeof *a->said);
	if (bytes)
		memcpy(a->buffer, from, bytes);
	a->bytes = at + sizeof *a->said;
	a->said = (struct ws_race_launch *)(void *)(a->buffer + at);
	a->extras[0] = (void *)EXTRA_BUFFER;
	a->extras[1] = a->buffer;
	a->extras[2] = (void *)EXTRA_SIZE;
	a->extras[3] = &a->bytes;
	a->extras[4] = (void *)EXTRA_END;
	a->extra = a->extras;
}

void ws_real_arguments(struct ws_real_arguments *a, const struct ws_real_checked_kernel *k, void **params, void **extra)
{
	a->params = params;
	a->extra = extra;
	a->said = NULL;
	if (!k || !k->compared)
		return;
	memset(&a->own, 0, sizeof a->own);
	if (params || (!k->nparams && !extra))
		add_to_list(a, k->nparams, params ? params : a->list);
	else if (extra)
		add_to_buffer(a, k->launch_at, extra);
}
