/* Fat binaries: plain, zstd and LZ4 entries, the choice of an image, damaged containers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lz4.h>
#include <zstd.h>

#include "cuda/fatbin.h"

enum { PLAIN = 0x11, LZ4 = 0x2011, ZSTD = 0x8011 };

static void put(struct ws_buf *b, uint64_t v, unsigned bytes)
{
	ws_buf_add(b, &v, bytes);
}

static void begin(struct ws_buf *b)
{
	put(b, 0xBA55ED50, 4);
	put(b, 1, 2);
	put(b, 16, 2);
	put(b, 0, 8);
}

static void finish(struct ws_buf *b)
{
	uint64_t body = b->len - 16;

	memcpy(b->data + 8, &body, 8);
}

static void entry(struct ws_buf *b, unsigned kind, unsigned sm, uint64_t flags, const char *text)
{
	size_t len = strlen(text), packed = 0, payload = len;
	char out[4096];

	if (flags == ZSTD)
		payload = packed = ZSTD_compress(out, sizeof out, text, len, 3);
	else if (flags == LZ4)
		payload = packed = (size_t)LZ4_compress_default(text, out, (int)len, sizeof out);
	else
		memcpy(out, text, len);
	while (payload % 8)
		out[payload++] = 0;
	put(b, kind, 2);
	put(b, 0x101, 2);
	put(b, 64, 4);
	put(b, payload, 8);
	put(b, packed, 4);
	put(b, 0, 4);
	put(b, 9 << 16, 4);
	put(b, sm, 4);
	put(b, 0, 8);
	put(b, flags, 8);
	put(b, 0, 8);
	put(b, flags == PLAIN ? 0 : len, 8);
	ws_buf_add(b, out, payload);
}

static void text_is(const struct ws_image *i, const char *want)
{
	const char *why = NULL;
	size_t len;
	char *text = ws_image_text(i, &len, &why);

	assert_non_null(text);
	assert_string_equal(text, want);
	assert_int_equal(len, strlen(want));
	free(text);
}

static const char ptx[] = ".version 9.0\n.target sm_90\n.address_size 64\n// a a a a a a a a a a a a a a a a a\n";

static void compressions(void **state)
{
	static const uint64_t flags[] = {PLAIN, LZ4, ZSTD};
	size_t i;

	for (i = 0; i < WS_COUNT(flags); i++) {
		struct ws_buf b = {0};
		struct ws_fatbin f = {0};
		const char *why = NULL;

		begin(&b);
		entry(&b, WS_IMAGE_ELF, 90, PLAIN, "\177ELF...");
		entry(&b, WS_IMAGE_PTX, 90, flags[i], ptx);
		finish(&b);
		assert_true(ws_fatbin_read(&f, b.data, b.len, &why));
		assert_int_equal(f.n, 2);
		assert_true(ws_fatbin_has_elf(&f));
		text_is(ws_fatbin_ptx(&f, 90), ptx);
		ws_fatbin_free(&f);
		ws_buf_free(&b);
	}
}

static unsigned chosen(const struct ws_fatbin *f, unsigned cc)
{
	const struct ws_image *i = ws_fatbin_ptx(f, cc);

	return i ? i->sm : 0;
}

static void choice(void **state)
{
	struct ws_buf b = {0};
	struct ws_fatbin f = {0};
	const char *why = NULL;

	begin(&b);
	entry(&b, WS_IMAGE_PTX, 80, PLAIN, ptx);
	entry(&b, WS_IMAGE_PTX, 75, ZSTD, ptx);
	entry(&b, WS_IMAGE_PTX, 120, PLAIN, ptx);
	entry(&b, WS_IMAGE_PTX, 100, PLAIN, ptx);
	finish(&b);
	assert_true(ws_fatbin_read(&f, b.data, b.len, &why));
	assert_int_equal(chosen(&f, 90), 80);
	assert_int_equal(chosen(&f, 75), 75);
	assert_int_equal(chosen(&f, 70), 75);
	assert_int_equal(chosen(&f, 110), 100);
	ws_fatbin_free(&f);
	assert_int_equal(chosen(&f, 90), 0);
	ws_buf_free(&b);
}

static void text_alone(void **state)
{
	struct ws_fatbin f = {0};
	const char *why = NULL;

	assert_true(ws_fatbin_read(&f, ptx, sizeof ptx, &why));
	assert_int_equal(f.images[0].sm, 90);
	text_is(&f.images[0], ptx);
	ws_fatbin_free(&f);
	assert_true(ws_fatbin_read(&f, "\177ELF\2\1\1", 7, &why));
	assert_null(ws_fatbin_ptx(&f, 90));
	ws_fatbin_free(&f);
	assert_false(ws_fatbin_read(&f, "\1\2\3\4\5", 5, &why));
	assert_non_null(why);
	ws_fatbin_free(&f);
}

/* Every prefix, and every byte of the headers set to extreme values: no read beyond the buffer, no acceptance of what
 * is longer than it (the sanitizer build sees the reads). */
static void damaged(void **state)
{
	struct ws_buf b = {0};
	size_t at, cut, len;
	const char *why = NULL;

	begin(&b);
	entry(&b, WS_IMAGE_PTX, 90, ZSTD, ptx);
	finish(&b);
	for (cut = 0; cut < b.len; cut++) {
		char *copy = malloc(cut ? cut : 1);
		struct ws_fatbin f = {0};

		memcpy(copy, b.data, cut);
		assert_false(ws_fatbin_read(&f, copy, cut, &why));
		ws_fatbin_free(&f);
		free(copy);
	}
	for (at = 4; at < 80; at++) {
		uint8_t old = (uint8_t)b.data[at];
		struct ws_fatbin f = {0};

		b.data[at] = (char)0xff;
		if (ws_fatbin_read(&f, b.data, b.len, &why) && ws_fatbin_ptx(&f, 90))
			free(ws_image_text(ws_fatbin_ptx(&f, 90), &len, &why));
		ws_fatbin_free(&f);
		b.data[at] = (char)old;
	}
	ws_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compressions),
		cmocka_unit_test(choice),
		cmocka_unit_test(text_alone),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
