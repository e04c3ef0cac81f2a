/* range.cu - the memory that a copy or a fill touches, for the race checks of launches beside it (src/real/range.c). A pass
 * (src/rewrite/race.c) puts a check in place of each access here, so a launch tells the checks that the range is read, or
 * written. One kernel for all, for NVIDIA's compiler makes all of the checks anew for each.
 *
 * Rows of `width` bytes, `pitch` apart, and after `of_slice` of them the next ones `slice` behind these. A warp takes 512 bytes
 * at a time, so that lines which are touched as a whole stay lines; the words at the ends are accessed word by word, and byte
 * by byte. */
#include "device.cuh"

enum { PIECE = 512, LINE = 128 };

HELPER void touch_four_words(u64 address, bool write)
{
	u32 a = 0, b = 0, c = 0, d = 0;

	if (write)
		asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(address), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
	else
		asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(address) : "memory");
}

HELPER void touch_word(u64 address, bool write)
{
	u32 v = 0;

	if (write)
		asm volatile("st.global.u32 [%0], %1;" : : "l"(address), "r"(v) : "memory");
	else
		asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(address) : "memory");
}

HELPER void touch_byte(u64 address, bool write)
{
	u32 v = 0;

	if (write)
		asm volatile("st.global.u8 [%0], %1;" : : "l"(address), "r"(v) : "memory");
	else
		asm volatile("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(address) : "memory");
}

/* The part of a word, by its lane. */
HELPER void touch_part(u64 word, u64 from, u64 to, bool write)
{
	if (word >= from && word + 4 <= to) {
		touch_word(word, write);
		return;
	}
	#pragma nounroll
	for (u64 at = word > from ? word : from; at < word + 4 && at < to; at++)
		touch_byte(at, write);
}

/* The bytes [from, to) of 512 from `piece` on, by a warp. */
HELPER void touch_piece(u64 piece, u64 from, u64 to, u32 lane, bool write)
{
	if (piece >= from && piece + PIECE <= to) {
		touch_four_words(piece + 16 * lane, write);
		return;
	}
	#pragma nounroll
	for (u64 line = piece; line < piece + PIECE; line += LINE)
		touch_part(line + 4 * lane, from, to, write);
}

extern "C" __attribute__((global)) void range(u64 at, u64 width, u64 pitch, u64 rows, u64 slice, u64 of_slice,
                                                        u32 write)
{
	u64 warp = (u64)(block_x() * threads_x() + thread_x()) / 32, warps = (u64)blocks_x() * threads_x() / 32;
	u64 each = width / PIECE + 2;        /* pieces that a row may have a part in */

	#pragma nounroll
	for (u64 n = warp; n < each * rows; n += warps) {
		u64 row = n / each, from = at + row / of_slice * slice + row % of_slice * pitch, to = from + width;
		u64 piece = from / PIECE * PIECE + n % each * PIECE;

		if (piece < to)
			touch_piece(piece, from, to, thread_x() % 32, write);
	}
}
