/* source.c - finds the source lines that a report shows. */
#include "report/report_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_SOURCE = 16 << 20 };      /* bytes; a larger file is no source text of a person */

struct file {
	char *path;                  /* as asked for */
	char *text;                  /* NULL: not found */
	size_t len;
};

struct ws_sources {
	char *dirs;
	struct file *files;
	size_t nfiles, capfiles;
};

struct ws_sources *ws_sources_new(const char *dirs)
{
	struct ws_sources *s = ws_alloc(sizeof *s);

	s->dirs = dirs ? ws_strdup(dirs) : NULL;
	return s;
}

void ws_sources_free(struct ws_sources *s)
{
	for (size_t i = 0; i < s->nfiles; i++) {
		free(s->files[i].path);
		free(s->files[i].text);
	}
	free(s->files);
	free(s->dirs);
	free(s);
}

static char *read_source(const char *path, size_t *len)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_SOURCE)
		return NULL;
	return ws_read_file(path, len);
}

static char *read_below(const char *dir, size_t dirlen, const char *path, size_t *len)
{
	char *text = NULL;

	for (const char *tail = path; !text && tail; tail = strchr(tail, '/')) {
		struct ws_buf b = { 0 };

		while (*tail == '/')
			tail++;
		ws_buf_printf(&b, "%.*s/%s", (int)dirlen, dir, tail);
		text = read_source(b.data, len);
		ws_buf_free(&b);
	}
	return text;
}

static char *find_source(const struct ws_sources *s, const char *path, size_t *len)
{
	char *text = read_source(path, len);
	const char *dir = s->dirs;

	while (!text && dir && *dir) {
		size_t n = strcspn(dir, ":");

		if (n)
			text = read_below(dir, n, path, len);
		dir += n + (dir[n] == ':');
	}
	return text;
}

static const struct file *get_file(struct ws_sources *s, const char *path)
{
	struct file *f;

	for (size_t i = 0; i < s->nfiles; i++)
		if (strcmp(s->files[i].path, path) == 0)
			return &s->files[i];
	f = WS_PUSH(s->files, s->nfiles, s->capfiles);
	*f = (struct file){ .path = ws_strdup(path) };
	f->text = find_source(s, path, &f->len);
	return f;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

const char *ws_sources_line(struct ws_sources *s, const char *path, uint32_t line, size_t *len)
{
	const struct file *f = get_file(s, path);
	const char *at = f->text, *end, *stop;

	if (!at || !line)
		return NULL;
	end = at + f->len;
	while (--line) {
		at = memchr(at, '\n', (size_t)(end - at));
		if (!at)
			return NULL;
		at++;
	}
	stop = memchr(at, '\n', (size_t)(end - at));
	stop = stop ? stop : end;
	while (at < stop && blank(*at))
		at++;
	while (stop > at && blank(stop[-1]))
		stop--;
	*len = (size_t)(stop - at);
	return *len ? at : NULL;
}
