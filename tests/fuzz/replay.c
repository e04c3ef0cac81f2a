/* replay.c - feeds files and folders of files to a fuzz target, without a fuzzer: every build can do that. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned done, unread;

static void feed_file(const char *path)
{
	size_t len;
	char *text = ws_read_file(path, &len);
	uint8_t *exact;

	if (!text) {
		printf("cannot read %s\n", path);
		unread++;
		return;
	}
	fprintf(stderr, "%s\n", path);           /* the last one named is the one that failed */
	exact = ws_alloc(len);                   /* without the final NUL, so that a sanitizer sees reads beyond */
	memcpy(exact, text, len);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	free(text);
	done++;
}

static void feed(const char *path)
{
	struct stat st;
	struct dirent *e;
	DIR *d;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		feed_file(path);
		return;
	}
	d = opendir(path);
	while (d && (e = readdir(d))) {
		struct ws_buf b = { 0 };

		if (e->d_name[0] == '.')
			continue;
		ws_buf_printf(&b, "%s/%s", path, e->d_name);
		feed(b.data);
		ws_buf_free(&b);
	}
	if (d)
		closedir(d);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		feed(argv[i]);
	printf("%u passed, %u failed, 0 skipped\n", done, unread);
	return unread > 0 || !done;
}
