/* numbered.h - texts of PTX in which # stands for a number, so that registers and labels of each piece of a random kernel are its own. */
#ifndef NUMBERED_H
#define NUMBERED_H

#include "base/base.h"

static inline void numbered(struct ws_buf *b, unsigned number, const char *text)
{
	for (; *text; text++)
		if (*text == '#')
			ws_buf_printf(b, "%u", number);
		else
			ws_buf_printf(b, "%c", *text);
}

#endif
