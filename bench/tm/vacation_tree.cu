/* VACATION-TREE: reservations of items in red-black trees, into which new items come; see vacation.cuh. */
#ifndef WS_TM_CALLS
#define WS_TM_CALLS
#endif
#ifndef WS_TM_LOG
#define WS_TM_LOG 96        /* six ways down: little goes to the heap */
#endif
#include "vacation.cuh"

int main(int argc, char **argv)
{
	options o = read_options(argc, argv, { 120, 128, 4, 1u << 15, 4 }, { 2, 32, 1, 16, 4 });

	return play<vacation<true>>("VACATION-TREE", o) ? 1 : 0;
}
