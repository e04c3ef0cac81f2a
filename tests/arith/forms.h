/* forms.h - every arithmetic instruction form that is compared with a GPU: its PTX, its sources.
 *
 * A form is a kernel of one thread a row: it loads four 64-bit words, makes them registers, executes the form and
 * stores its one or two results as 64-bit words. Kinds of registers are letters:
 *     w integer 16       h f16         e pair of 8-bit floats (16 bits)
 *     i integer 32       f f32         H f16x2     B bf16x2     s small integer 32
 *     l integer 64       g f64         b bf16      p predicate  - none
 * Rows come from a table of special values and a fixed generator: the same on every machine. */
#ifndef WS_ARITH_FORMS_H
#define WS_ARITH_FORMS_H

#include "base/base.h"

enum { ARITH_ROWS = 2048, ARITH_SOURCES = 4, ARITH_SAMPLE = 32 };

struct arith_form {
	char name[80];           /* the instruction: unique */
	char dst[3], src[5];     /* kinds */
	char body[200];          /* PTX with $d, $q (second result) and $a $b $c $e */
	double bound;            /* > 0: an approximation; meaning in check.c */
};

/* All forms, in a fixed order. */
const struct arith_form *arith_forms(size_t *n);
/* The module of forms [first, last): kernels f0000, f0001, ... numbered over all forms. */
void arith_ptx(struct ws_buf *out, size_t first, size_t last);
/* Row r of the sources of kinds src. */
void arith_row(const char *src, unsigned r, uint64_t x[ARITH_SOURCES]);
/* How many bits a result of this kind has. */
unsigned arith_bits(char kind);

#endif
