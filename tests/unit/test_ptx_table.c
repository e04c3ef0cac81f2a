/* The tables behind the PTX front end: no row twice, every row complete, every word readable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx_priv.h"

static void no_opcode_twice(void **state)
{
	for (unsigned a = 1; a < WS_OP_COUNT; a++)
		for (unsigned b = a + 1; b < WS_OP_COUNT; b++)
			assert_string_not_equal(ws_op_info(a)->name, ws_op_info(b)->name);
}

static void every_opcode_complete(void **state)
{
	for (unsigned op = 1; op < WS_OP_COUNT; op++) {
		const struct ws_op_info *n = ws_op_info(op);
		const struct op_row *r = &ws_ptx_ops[op];

		assert_true(*n->name && *n->section);
		assert_in_range(n->ptx_version, 10, 90);
		assert_in_range(n->sm, 10, 120);
		assert_in_range(n->ndst, 0, 2);
		assert_true(r->min_types <= r->max_types && r->max_types <= 3);
		assert_int_equal(strspn(r->args, "dpqwWyabcehulPximtLv?*"), strlen(r->args));
		for (unsigned k = 0; k < r->max_types && !r->any_types; k++)
			assert_true(r->types[k]);
		if (r->mods & M_RAW)
			continue;
		/* operands written come first; the pattern says the same as ndst */
		if (n->ndst && !strchr(r->args, '*') && op != WS_OP_mov)
			assert_non_null(strchr("dpwWyuv", r->args[0]));
		if (n->ndst == 2)
			assert_int_equal(r->args[1], 'q');
	}
	assert_true(WS_OP_COUNT > 120);
}

/* What may order threads or memory must say so: nothing may pass it over as harmless. */
static void synchronizing_opcodes_marked(void **state)
{
	static const enum ws_op sync[] = {WS_OP_bar,
					  WS_OP_barrier,
					  WS_OP_membar,
					  WS_OP_fence,
					  WS_OP_atom,
					  WS_OP_red,
					  WS_OP_cp,
					  WS_OP_mbarrier,
					  WS_OP_tensormap,
					  WS_OP_multimem,
					  WS_OP_wgmma,
					  WS_OP_tcgen05,
					  WS_OP_clusterlaunchcontrol,
					  WS_OP_griddepcontrol};

	for (unsigned k = 0; k < WS_COUNT(sync); k++)
		assert_true(ws_op_info(sync[k])->fx &
			    (WS_FX_BARRIER | WS_FX_FENCE | WS_FX_ATOMIC | WS_FX_ASYNC | WS_FX_SYNC));
}

static void no_modifier_twice(void **state)
{
	for (unsigned a = 0; a < ws_ptx_nmods; a++) {
		const struct mod_row *x = &ws_ptx_mods[a];

		assert_true(x->classes);
		assert_in_range(strlen(x->word), 2, 40);
		for (unsigned b = a + 1; b < ws_ptx_nmods; b++) {
			const struct mod_row *y = &ws_ptx_mods[b];

			if (strcmp(x->word, y->word) == 0 && x->field == y->field && x->value == y->value)
				assert_false(x->classes & y->classes);
		}
	}
}

/* A row that an earlier row of the same word hides from every opcode is dead. */
static void every_modifier_reachable(void **state)
{
	for (unsigned a = 0; a < ws_ptx_nmods; a++) {
		const struct mod_row *x = &ws_ptx_mods[a];
		bool used = false;

		for (unsigned op = 1; op < WS_OP_COUNT && !used; op++) {
			uint64_t c = ws_ptx_ops[op].mods;

			used = c & x->classes;
			for (unsigned b = 0; b < a && used; b++)
				if (strcmp(x->word, ws_ptx_mods[b].word) == 0 && (ws_ptx_mods[b].classes & c))
					used = false;
		}
		if (!used)
			print_error("no opcode takes %s (row %u)\n", x->word, a);
		assert_true(used);
	}
}

/* Words kept in order (WORD) make sense with opcodes that keep all words only. */
static void plain_opcodes_have_fields(void **state)
{
	for (unsigned op = 1; op < WS_OP_COUNT; op++)
		for (unsigned a = 0; a < ws_ptx_nmods; a++)
			if (!(ws_ptx_ops[op].mods & M_RAW) && (ws_ptx_ops[op].mods & ws_ptx_mods[a].classes))
				assert_int_not_equal(ws_ptx_mods[a].field, MF_WORD);
}

static void types(void **state)
{
	assert_string_equal(ws_type_name(WS_BF16X2), "bf16x2");
	assert_string_equal(ws_type_name(WS_PRED), "pred");
	assert_int_equal(ws_type_bytes(WS_B128), 16);
	assert_int_equal(ws_type_bytes(WS_PRED), 0);
	assert_int_equal(ws_type_bytes(WS_F16X2), 4);
	assert_true(ws_type_is_signed(WS_S8) && !ws_type_is_signed(WS_U64) && !ws_type_is_signed(WS_F32));
	assert_true(ws_type_is_float(WS_TF32) && ws_type_is_float(WS_E5M2X2) && !ws_type_is_float(WS_B32));
	for (unsigned t = WS_U8; t < WS_T_OTHER; t++) {
		assert_string_not_equal(ws_type_name(t), "none");
		assert_true(ws_type_bytes(t) || t == WS_PRED);
	}
	assert_string_equal(ws_space_name(WS_SPACE_SHARED), "shared");
	assert_string_equal(ws_space_name(WS_SPACE_GENERIC), "generic");
}

static void special_registers(void **state)
{
	assert_string_equal(ws_sreg_name(WS_SR_TID_X), "%tid.x");
	assert_int_equal(WS_SR_TID_X + 2, WS_SR_TID_Z);
	assert_int_equal(ws_sreg_bytes(WS_SR_CLOCK64), 8);
	for (unsigned a = 1; a < WS_SR_COUNT; a++)
		for (unsigned b = a + 1; b < WS_SR_COUNT; b++)
			assert_string_not_equal(ws_sreg_name(a), ws_sreg_name(b));
	assert_true(WS_SR_COUNT < 256);          /* an operand keeps it in a byte */
}

/* docs/PTX.md holds the table as `warpsafe ptx --coverage` prints it. */
static void document_is_current(void **state)
{
	struct ws_buf b = { 0 };
	size_t len;
	char *doc = ws_read_file("docs/PTX.md", &len);

	if (!doc)
		skip();                  /* run from another folder */
	ws_ptx_print_coverage(&b);
	assert_non_null(strstr(doc, b.data));
	ws_buf_free(&b);
	free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_opcode_twice),
		cmocka_unit_test(every_opcode_complete),
		cmocka_unit_test(synchronizing_opcodes_marked),
		cmocka_unit_test(no_modifier_twice),
		cmocka_unit_test(every_modifier_reachable),
		cmocka_unit_test(plain_opcodes_have_fields),
		cmocka_unit_test(types),
		cmocka_unit_test(special_registers),
		cmocka_unit_test(document_is_current),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
