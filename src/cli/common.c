/* common.c - what the verbs share: refusals, help text, folders, reading the command line. */
#include "cli/cli.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ws_cli_refuse(const char *verb, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "warpsafe%s%s: ", verb ? " " : "", verb ? verb : "");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return WS_EXIT_USAGE;
}

void ws_cli_verb_help(const struct ws_verb *verb, struct ws_buf *out)
{
	ws_buf_printf(out, "usage: warpsafe %s %s\n\n%s", verb->name, verb->usage, verb->help);
	ws_options_help(verb->name, out);
}

char *ws_cli_own_folder(void)
{
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return NULL;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	return ws_strndup(path, (size_t)(slash - path));
}

char *ws_cli_library_folder(void)
{
	static const char *const places[] = { "lib", "../lib/warpsafe" };
	char *own = ws_cli_own_folder(), *found = NULL;

	for (size_t i = 0; own && !found && i < WS_COUNT(places); i++) {
		struct ws_buf b = { 0 };
		char full[PATH_MAX];

		ws_buf_printf(&b, "%s/%s/libwarpsafe-preload.so", own, places[i]);
		if (access(b.data, R_OK) == 0) {
			*strrchr(b.data, '/') = 0;
			if (realpath(b.data, full))
				found = ws_strdup(full);
		}
		ws_buf_free(&b);
	}
	free(own);
	return found;
}

static int refuse_option(const char *verb, const char *name)
{
	const char *near = ws_options_nearest(verb, name);

	if (near)
		return ws_cli_refuse(verb, "there is no option '--%s'; did you mean '--%s'? (see 'warpsafe help %s')",
		                     name, near, verb);
	return ws_cli_refuse(verb, "there is no option '--%s' (see 'warpsafe help %s')", name, verb);
}

/* One option: "--name=value", "--name" alone of a flag, or with the value in the next word. Returns how many words it took; 0
 * after a refusal. */
static int take_option(const char *verb, char **argv, int left, struct ws_options *o)
{
	const char *word = argv[0] + 2, *equals = strchr(word, '='), *why, *value;
	char *name = equals ? ws_strndup(word, (size_t)(equals - word)) : ws_strdup(word);
	bool flag = !equals && ws_options_flag(name);
	int taken = equals || flag ? 1 : 2;

	if (!ws_options_known(verb, name)) {
		refuse_option(verb, name);
		taken = 0;
	} else if (!equals && !flag && left < 2) {
		ws_cli_refuse(verb, "--%s needs a value (see 'warpsafe help %s')", name, verb);
		taken = 0;
	} else {
		value = equals ? equals + 1 : flag ? "yes" : argv[1];
		if (!ws_options_set(o, name, value, &why)) {
			ws_cli_refuse(verb, "%s", why);
			taken = 0;
		}
	}
	free(name);
	return taken;
}

static int show_help(const struct ws_verb *verb)
{
	struct ws_buf b = { 0 };

	ws_cli_verb_help(verb, &b);
	fwrite(b.data, 1, b.len, stdout);
	ws_buf_free(&b);
	return WS_EXIT_FINE;
}

int ws_cli_parse(const struct ws_verb *verb, int argc, char **argv, struct ws_options *o, int *status)
{
	int i = 1;

	*status = WS_EXIT_USAGE;
	while (i < argc && argv[i][0] == '-') {
		int taken;

		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			*status = show_help(verb);
			return 0;
		}
		if (strncmp(argv[i], "--", 2) != 0) {
			ws_cli_refuse(verb->name, "there is no option '%s' (see 'warpsafe help %s')", argv[i], verb->name);
			return 0;
		}
		taken = take_option(verb->name, argv + i, argc - i, o);
		if (!taken)
			return 0;
		i += taken;
	}
	if (i < argc)
		return i;
	ws_cli_refuse(verb->name, "no program given; usage: warpsafe %s %s", verb->name, verb->usage);
	return 0;
}

char *ws_cli_temporary_folder(const char *name)
{
	const char *tmp = getenv("TMPDIR");
	struct ws_buf b = { 0 };
	char *full = NULL;

	ws_buf_printf(&b, "%s/%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", name);
	if (mkdtemp(b.data))
		full = realpath(b.data, NULL);       /* the program may go to another folder */
	ws_buf_free(&b);
	return full;
}

void ws_cli_take_folder(const char *folder, int (*order)(const void *, const void *),
                        void (*take)(void *user, const char *path, const char *name), void *user)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	char **names = NULL;
	size_t n = 0, cap = 0;

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			*WS_PUSH(names, n, cap) = ws_strdup(entry->d_name);
	if (d)
		closedir(d);
	if (n && order)
		qsort(names, n, sizeof *names, order);
	for (size_t i = 0; i < n; i++) {
		struct ws_buf path = { 0 };

		ws_buf_printf(&path, "%s/%s", folder, names[i]);
		if (take)
			take(user, path.data, names[i]);
		unlink(path.data);
		ws_buf_free(&path);
		free(names[i]);
	}
	free(names);
	rmdir(folder);
}
