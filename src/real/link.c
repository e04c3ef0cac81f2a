/* link.c - programs that link device code themselves (cuLink*): their PTX is rewritten before the driver's linker gets
 * it, and what comes out is recognized when it is loaded as a module. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "real/real_priv.h"

/* What went into a link; a state of the program's, or what a finished one made. */
struct inputs {
	void *state;                 /* NULL: finished */
	struct ws_buf entries;       /* kernels that can be checked, each with its NUL */
	const struct ws_real_table **tables; /* of its parts */
	size_t ntables, captables;
	bool whole;                  /* no input had to stay as it is */
	char *why;                   /* the first that had to: why */
	XXH128_hash_t sum;           /* finished: of what was made, and its size */
	size_t len;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct inputs *links;
static size_t nlinks, caplinks;
enum { MOST_FINISHED = 4096 };       /* a program that links without end forgets the oldest */

/* The link of a state, made if it is new. The lock is held. */
static struct inputs *link_of(void *state)
{
	struct inputs *in;

	for (size_t i = 0; i < nlinks; i++)
		if (links[i].state == state)
			return &links[i];
	in = WS_PUSH(links, nlinks, caplinks);
	*in = (struct inputs){ .state = state, .whole = true };
	return in;
}

static void drop(size_t i)
{
	ws_buf_free(&links[i].entries);
	free(links[i].tables);
	free(links[i].why);
	memmove(&links[i], &links[i + 1], (nlinks - i - 1) * sizeof *links);
	nlinks--;
}

/* why NULL: the kernels of `i` were rewritten or can be. */
static void note_input(void *state, const struct ws_real_image *i, const char *why)
{
	struct inputs *in;

	pthread_mutex_lock(&lock);
	in = link_of(state);
	if (!why) {
		ws_real_entries(i, &in->entries);
		in->entries.len--;   /* the empty name comes at the end of all */
		for (size_t k = 0; k < i->n; k++)
			if (i->parts[k].table)
				*WS_PUSH(in->tables, in->ntables, in->captables) = i->parts[k].table;
	} else {
		in->whole = false;
		if (!in->why)
			in->why = ws_strdup(why);
	}
	pthread_mutex_unlock(&lock);
}

typedef int (*add_data)(void *state, int type, void *data, size_t size, const char *name, unsigned n, int *options,
                        void **values);

static int pass_on_texts(add_data real, void *state, const struct ws_real_image *i, const char *name, unsigned n,
                         int *options, void **values)
{
	int e = 0;

	for (size_t k = 0; k < i->n && !e; k++)
		e = real(state, WS_LINK_PTX, i->parts[k].text, i->parts[k].len + 1, name, n, options, values);
	return e;
}

/* Rewrites an input and gives it to the driver. false: it has to be passed on as it is. */
static bool take(add_data real, void *state, int type, const void *data, size_t size, const char *name, unsigned n,
                 int *options, void **values, int *e)
{
	struct ws_real_session *s = ws_real_session();
	struct ws_buf why = { 0 };
	struct ws_real_image i;
	uint32_t cc;
	bool fine = false;

	if (!s || !data || !size)
		return false;
	if (type != WS_LINK_PTX && type != WS_LINK_FATBINARY) {
		note_input(state, NULL, "linked by the program from code without PTX");
		return false;
	}
	cc = ws_real_cc(false);
	ws_real_image_read(&i, data, size, cc);
	if (!i.ntexts) {
		note_input(state, NULL, i.why);
	} else if (!s->pass) {
		note_input(state, &i, NULL);
	} else if (ws_real_rewrite(&i, cc, true, &why)) {
		note_input(state, &i, NULL);
		*e = pass_on_texts(real, state, &i, name, n, options, values);
		fine = true;
	} else {
		note_input(state, NULL, why.data);
	}
	ws_buf_free(&why);
	ws_real_image_free(&i);
	return fine;
}

static int link_data(add_data real, void *state, int type, void *data, size_t size, const char *name, unsigned n,
                     int *options, void **values)
{
	int e;

	return take(real, state, type, data, size, name, n, options, values, &e) ? e
	       : real(state, type, data, size, name, n, options, values);
}

static int link_file(add_data real, int (*file)(void *, int, const char *, unsigned, int *, void **), void *state,
                     int type, const char *path, unsigned n, int *options, void **values)
{
	size_t len = 0;
	char *text = path && real ? ws_read_file(path, &len) : NULL;
	bool taken;
	int e;

	taken = text && take(real, state, type, text, len, path, n, options, values, &e);
	free(text);
	return taken ? e : file(state, type, path, n, options, values);
}

int ws_real_cuLinkAddData(void *state, int type, void *data, size_t size, const char *name, unsigned n, int *options,
                          void **values)
{
	return link_data(ws_real.cuLinkAddData, state, type, data, size, name, n, options, values);
}

int ws_real_cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned n, int *options,
                             void **values)
{
	return link_data(ws_real.cuLinkAddData_v2, state, type, data, size, name, n, options, values);
}

int ws_real_cuLinkAddFile(void *state, int type, const char *path, unsigned n, int *options, void **values)
{
	return link_file(ws_real.cuLinkAddData, ws_real.cuLinkAddFile, state, type, path, n, options, values);
}

int ws_real_cuLinkAddFile_v2(void *state, int type, const char *path, unsigned n, int *options, void **values)
{
	return link_file(ws_real.cuLinkAddData_v2, ws_real.cuLinkAddFile_v2, state, type, path, n, options, values);
}

/* A copy of the link's notes that outlives its state. */
static void note_finished(void *state, const void *cubin, size_t len)
{
	struct inputs done;
	const struct inputs *in;

	pthread_mutex_lock(&lock);
	in = link_of(state);
	done = (struct inputs){ .whole = in->whole, .why = in->why ? ws_strdup(in->why) : NULL, .len = len,
		                .sum = XXH3_128bits(cubin, len) };
	ws_buf_add(&done.entries, in->entries.data ? in->entries.data : "", in->entries.len);
	for (size_t k = 0; k < in->ntables; k++)
		*WS_PUSH(done.tables, done.ntables, done.captables) = in->tables[k];
	*WS_PUSH(links, nlinks, caplinks) = done;
	for (size_t i = 0; i < nlinks && nlinks > MOST_FINISHED; i++)
		if (!links[i].state)
			drop(i--);
	pthread_mutex_unlock(&lock);
}

int ws_real_cuLinkComplete(void *state, void **cubin, size_t *size)
{
	size_t len = 0;
	int e = ws_real.cuLinkComplete(state, cubin, &len);

	if (size)
		*size = len;
	if (!e && cubin && *cubin && len && ws_real_session())
		note_finished(state, *cubin, len);
	return e;
}

int ws_real_cuLinkDestroy(void *state)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; state && i < nlinks; i++)
		if (links[i].state == state) {
			drop(i);
			break;
		}
	pthread_mutex_unlock(&lock);
	return ws_real.cuLinkDestroy(state);
}

struct ws_real_code *ws_real_linked(const void *data, size_t readable)
{
	struct ws_real_code *c = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < nlinks && !c; i++) {
		const struct inputs *in = &links[i];

		if (in->state || in->len > readable || !XXH128_isEqual(XXH3_128bits(data, in->len), in->sum))
			continue;
		c = ws_alloc(sizeof *c);
		for (size_t k = 0; k < in->ntables; k++)
			ws_real_code_add_table(c, in->tables[k]);
		if (in->whole)
			break;
		if (in->entries.len) {
			c->entries = ws_alloc(in->entries.len + 1);
			memcpy(c->entries, in->entries.data, in->entries.len);
		}
		c->why = ws_strdup(in->why);
	}
	pthread_mutex_unlock(&lock);
	return c;
}
