/* clocked.h - a machine with a clock for the tests of the simulator. */
#ifndef TEST_CLOCKED_H
#define TEST_CLOCKED_H

#include <stdio.h>
#include <stdlib.h>
#include "timing/timing.h"

/* Reads the description; ends the test program if it cannot. */
static inline struct ws_machine clocked_machine(const char *path)
{
	struct ws_buf why = {0};
	struct ws_sink sink = {ws_sink_to_buf, &why};
	struct ws_machine m;
	size_t len;
	char *text = ws_read_file(path, &len);

	if (!text || !ws_machine_read(&m, path, text, &sink)) {
		fprintf(stderr, "%s: %s\n", path, text ? why.data : "cannot be read");
		exit(2);
	}
	free(text);
	ws_buf_free(&why);
	return m;
}

/* One of those that come with the program. */
static inline struct ws_machine clocked_named(const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "src/timing/configs/%s.conf", name);
	return clocked_machine(path);
}

#endif
