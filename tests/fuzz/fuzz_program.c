/* Fuzz target: the look at a program before it is started (ELF files). */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("program", 0);
	struct ws_buf text = { 0 };
	char path[40];

	if (fd < 0)
		return 0;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		ws_cli_check_program(path, &text);
	ws_buf_free(&text);
	close(fd);
	return 0;
}
