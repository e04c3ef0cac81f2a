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
	for (int real = 0; real < 2 && write(fd, data, size) == (ssize_t)size; real++) {
		ws_cli_check_program(path, real, &text);
		ws_buf_free(&text);
		text = (struct ws_buf){ 0 };
		if (lseek(fd, 0, SEEK_SET))
			break;
	}
	close(fd);
	return 0;
}
