/* arguments.h - what a kernel is launched with: the program's parameters, and one more for kernels that are told where their
 * launch stands in the order of launches (device/race.h). */
#ifndef WS_REAL_ARGUMENTS_H
#define WS_REAL_ARGUMENTS_H

#include <stdalign.h>
#include <stddef.h>

#include "device/race.h"

enum { WS_REAL_MOST_PARAMS = 128, WS_REAL_PARAM_BYTES = 4096 };

struct ws_real_arguments {
	void **params, **extra;              /* for the driver */
	struct ws_race_launch *said;         /* the parameter more, so far zero; NULL: the kernel has none */
	struct ws_race_launch own;
	void *list[WS_REAL_MOST_PARAMS + 1], *extras[5];
	size_t bytes;
	alignas(16) char buffer[WS_REAL_PARAM_BYTES];
};
/* k: what the pass for races says of the kernel, NULL: nothing. params and extra as the program gives them to the driver; a must stay
 * where it is until the driver has them. */
struct ws_real_checked_kernel;
void ws_real_arguments(struct ws_real_arguments *a, const struct ws_real_checked_kernel *k, void **params, void **extra);

#endif
