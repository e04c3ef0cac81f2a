/* part of library.cu */
#include <stdio.h>

int compute_it(void);

int main(void)
{
	int n = compute_it();

	printf("ok %d\n", n);
	return n != 42;
}
