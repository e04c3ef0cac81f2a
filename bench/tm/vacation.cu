/* VACATION: reservations of items in tables; see vacation.cuh. */
#include "vacation.cuh"

int main(int argc, char **argv)
{
	options o = read_options(argc, argv, { 128, 128, 4, 1u << 15, 4 }, { 4, 32, 2, 128, 4 });

	return play<vacation<false>>("VACATION", o) ? 1 : 0;
}
