/* The PTX parser: what it makes of every construct, and what it says about wrong ones. */
#include "tests/unit/ptx_help.h"

static const struct ws_ptx_inst *inst(const struct ws_ptx_module *m, uint32_t n)
{
	assert_true(n < ptx_k(m)->ninsts);
	return &ptx_k(m)->insts[n];
}

static void head(void **state)
{
	struct ws_ptx_module *m =
		ptx_good("// x\n.version 7.8\n.target sm_90a, debug, texmode_independent\n.address_size 64\n");

	assert_int_equal(m->version, 78);
	assert_int_equal(m->sm, 90);
	assert_int_equal(m->sm_suffix, 'a');
	assert_true(m->debug && m->texmode_independent);
	assert_int_equal(m->address_size, 64);
	ws_ptx_free(m);
	m = ptx_good(".version 1.4 .target sm_13");
	assert_int_equal(m->address_size, 32);
	ws_ptx_free(m);
}

static void modifiers_have_fields(void **state)
{
	struct ws_ptx_module *m = ptx_body(".global .align 16 .b8 g[64];",
		"ld.acquire.gpu.global.L1::evict_last.v2.u32 {%r1, %r2}, [g+8];\n"
		"mad.hi.cc.s32 %r1, %r2, 3, %r4;\n"
		"@!%p1 setp.ltu.and.ftz.f32 %p2|%p3, %f1, 0f3F800000, !%p4;\n"
		"cvt.rzi.ftz.sat.s32.f32 %r1, %f1;\n"
		"shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;\n"
		"atom.acq_rel.sys.global.cas.b32 %r1, [%d1+-4], %r2, %r3;\n"
		"membar.gl;\nfence.sc.cta;\nbar.red.popc.u32 %r1, 2, 64, %p1;\nbarrier.sync 1;\nbar.warp.sync -1;\n"
		"ld.volatile.shared::cta.f64 %g1, [%r1];\nld.global.nc.L2::128B.f32 %f1, [%d1];\n"
		"cvta.to.shared.u64 %d1, %d2;\nvote.sync.ballot.b32 %r1, %p1, -1;\nlop3.b32 %r1, %r2, %r3, %r4, 0x96;\n"
		"fence.proxy.async.global;\nret;");
	const struct ws_ptx_inst *i = inst(m, 0);

	assert_int_equal(i->op, WS_OP_ld);
	assert_int_equal(i->sem, WS_SEM_ACQUIRE);
	assert_int_equal(i->scope, WS_SCOPE_GPU);
	assert_int_equal(i->space, WS_SPACE_GLOBAL);
	assert_int_equal(i->vec, 2);
	assert_int_equal(i->type[0], WS_U32);
	assert_string_equal(i->extra, ".L1::evict_last");
	assert_int_equal(i->mode, WS_MODE_NONE);
	assert_int_equal(i->ops[0].kind, WS_O_VEC);
	assert_int_equal(i->ops[0].sreg_or_count, 2);
	assert_int_equal(i->ops[1].kind, WS_O_ADDR);
	assert_string_equal(i->ops[1].sym->name, "g");
	assert_int_equal(i->ops[1].offset, 8);
	i = inst(m, 1);
	assert_int_equal(i->part, WS_HI_HALF);
	assert_true(i->flags & WS_F_CC);
	assert_int_equal(i->ops[2].imm, 3);
	i = inst(m, 2);
	assert_true(i->guard && i->guard_neg);
	assert_int_equal(i->cmp, WS_LTU);
	assert_int_equal(i->boolop, WS_BOOL_AND);
	assert_true(i->ops[1].paired && !i->ops[2].paired && i->ops[4].negated);
	assert_int_equal(i->ops[3].kind, WS_O_FLOAT32);
	assert_int_equal(i->ops[3].imm, 0x3f800000);
	i = inst(m, 3);
	assert_int_equal(i->rnd, WS_RZI);
	assert_int_equal(i->flags, WS_F_FTZ | WS_F_SAT);
	assert_int_equal(i->type[1], WS_F32);
	i = inst(m, 4);
	assert_int_equal(i->mode, WS_MODE_BFLY);
	assert_true(i->flags & WS_F_SYNC && i->ops[1].paired);
	i = inst(m, 5);
	assert_int_equal(i->atom, WS_ATOM_CAS);
	assert_int_equal(i->sem, WS_SEM_ACQ_REL);
	assert_int_equal(i->scope, WS_SCOPE_SYS);
	assert_int_equal(i->ops[1].offset, -4);
	assert_int_equal(inst(m, 6)->scope, WS_SCOPE_GPU);
	assert_int_equal(inst(m, 7)->sem, WS_SEM_SC);
	i = inst(m, 8);
	assert_int_equal(i->mode, WS_MODE_RED);
	assert_int_equal(i->atom, WS_ATOM_POPC);
	assert_true(i->flags & WS_F_ALIGNED);
	assert_false(inst(m, 9)->flags & WS_F_ALIGNED);
	assert_int_equal(inst(m, 10)->mode, WS_MODE_WARP_SYNC);
	assert_int_equal(inst(m, 11)->space, WS_SPACE_SHARED);
	assert_int_equal(inst(m, 11)->sem, WS_SEM_VOLATILE);
	assert_true(inst(m, 12)->flags & WS_F_NC);
	assert_int_equal(inst(m, 13)->mode, WS_MODE_TO);
	assert_int_equal(inst(m, 14)->mode, WS_MODE_BALLOT);
	assert_int_equal(inst(m, 16)->mode, WS_MODE_PROXY);
	assert_string_equal(inst(m, 16)->extra, ".async.global");
	ws_ptx_free(m);
}

/* What the simulator must refuse by name has mode OTHER; hints do not. */
static void variants_are_marked(void **state)
{
	struct ws_ptx_module *m = ptx_body(
		"",
		"barrier.cluster.arrive.release.aligned;\n"
		"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];\n"
		"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];\n"
		"cvt.rn.satfinite.e2m3x2.f32 %h1, %f1, %f2;\ncvt.pack.sat.u16.s32 %r1, %r2, %r3;\n"
		"st.global.cs.u32 [%d1], %r1;\nmma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g1, %g2}, {%g3}, "
		"{%g4}, {%g5, %g6};\nret;");

	for (uint32_t n = 0; n < 5; n++)
		assert_int_equal(inst(m, n)->mode, WS_MODE_OTHER);
	assert_string_equal(inst(m, 0)->extra, ".cluster.arrive");
	assert_string_equal(inst(m, 3)->extra, ".rn.satfinite.e2m3x2.f32");
	assert_int_equal(inst(m, 5)->mode, WS_MODE_NONE);
	assert_string_equal(inst(m, 6)->extra, ".sync.aligned.m8n8k4.row.col.f64.f64.f64.f64");
	assert_int_equal(inst(m, 6)->ops[0].sreg_or_count, 2);
	ws_ptx_free(m);
}

static void operands(void **state)
{
	struct ws_ptx_module *m = ptx_body(
		".global .u32 v; .func f();",
		".reg .v4 .f32 q;\nmov.u32 %r1, %tid.x;\nmov.f32 %f1, q.z;\nmov.u64 %d1, v+4*2+1;\nmov.u64 %d1, f;\n"
		"mov.u32 %r1, WARP_SZ;\nmov.u32 %r1, -1;\nmov.f64 %g1, 0dBFF0000000000000;\nmov.b64 {%r1, _}, %d1;\n"
		"vadd.u32.u32.u32.add %r1.h1, %r2.b3, -%r3, %r4;\ntex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, "
		"%f2}];\n"
		"ld.u32 %r1, [16];\nmov.f32 %f1, 1.5;\nret;");

	assert_int_equal(inst(m, 0)->ops[1].kind, WS_O_SREG);
	assert_int_equal(inst(m, 0)->ops[1].sreg_or_count, WS_SR_TID_X);
	assert_int_equal(inst(m, 1)->ops[1].component, 3);
	assert_int_equal(inst(m, 2)->ops[1].kind, WS_O_SYM);
	assert_int_equal(inst(m, 2)->ops[1].offset, 9);
	assert_int_equal(inst(m, 3)->ops[1].sym->kind, WS_SYM_FUNC);
	assert_int_equal(inst(m, 4)->ops[1].imm, 32);
	assert_int_equal(inst(m, 5)->ops[1].imm, UINT64_MAX);
	assert_int_equal(inst(m, 6)->ops[1].imm, 0xBFF0000000000000);
	assert_int_equal(inst(m, 7)->ops[0].elems[1].kind, WS_O_SINK);
	assert_int_equal(inst(m, 8)->ops[0].component, 0x21);
	assert_int_equal(inst(m, 8)->ops[1].component, 0x13);
	assert_true(inst(m, 8)->ops[2].negated);
	assert_int_equal(inst(m, 9)->ops[1].kind, WS_O_TEX);
	assert_int_equal(inst(m, 9)->ops[1].sreg_or_count, 2);
	assert_null(inst(m, 10)->ops[1].reg);
	assert_int_equal(inst(m, 10)->ops[1].offset, 16);
	assert_int_equal(inst(m, 11)->ops[1].kind, WS_O_FLOAT);
	ws_ptx_free(m);
}

static void literals(void **state)
{
	static const struct { const char *text; uint64_t value;
	} cases[] = {{"0x7fU", 127},
		     {"0b1011", 11},
		     {"017", 15},
		     {"0", 0},
		     {"18446744073709551615", UINT64_MAX},
		     {"-9223372036854775808", UINT64_C(1) << 63},
		     {"(1<<5)|3", 35},
		     {"7/2*2", 6},
		     {"-7/2", (uint64_t)-3},
		     {"-7 % 4", (uint64_t)-3},
		     {"2+3*4", 14},
		     {"!3", 0},
		     {"~0", UINT64_MAX},
		     {"3>2?7:8", 7},
		     {"1 ? 2 : 0 ? 3 : 4", 2},
		     {"(.u64)-1>>63", 1},
		     {"-8>>1", (uint64_t)-4},
		     {"1<2&&2<1||1", 1},
		     {"5==5", 1},
		     {"6^3", 5},
		     {"WARP_SZ*2", 64},
		     {"(.s64)0x8000000000000000U/-1", UINT64_C(1) << 63},
		     {"1<<64", 0},
		     {"(((((((1)))))))", 1}};

	for (size_t k = 0; k < WS_COUNT(cases); k++) {
		struct ws_buf b = { 0 };
		struct ws_ptx_module *m;

		ws_buf_printf(&b, "mov.u64 %%d1, %s;\nret;", cases[k].text);
		m = ptx_body("", b.data);
		if (inst(m, 0)->ops[1].imm != cases[k].value)
			print_error("%s\n", cases[k].text);
		assert_int_equal(inst(m, 0)->ops[1].imm, cases[k].value);
		ws_ptx_free(m);
		ws_buf_free(&b);
	}
}

static void scopes(void **state)
{
	struct ws_ptx_module *m = ptx_body(
		"",
		"L: mov.u32 %r1, 1;\n{\n.reg .b64 %r1;\nmov.u64 %r1, 2;\nbra L;\n{ .reg .u32 %r<3>; mov.u32 %r1, 5; }\n"
		"L:\nmov.u64 %r1, 3;\n}\nbra L;\nmov.u32 %r1, 4;\n{ bra M; }\nM: ret;");
	struct ws_ptx_func *f = ptx_k(m);
	struct ws_reg *outer = f->insts[0].ops[0].reg, *inner = f->insts[1].ops[0].reg, *deep = f->insts[3].ops[0].reg;

	assert_int_equal(outer->type, WS_B32);
	assert_int_equal(inner->type, WS_B64);
	assert_int_equal(deep->type, WS_U32);
	assert_ptr_equal(f->insts[4].ops[0].reg, inner);
	assert_ptr_equal(f->insts[6].ops[0].reg, outer);
	assert_int_equal(f->labels[f->insts[2].ops[0].label].inst, 4);   /* the inner L, though it comes later */
	assert_int_equal(f->labels[f->insts[5].ops[0].label].inst, 0);
	assert_int_equal(f->labels[f->insts[7].ops[0].label].inst, 8);
	for (uint32_t r = 0; r < f->nregs; r++)
		assert_int_equal(f->regs[r]->index, r);
	ws_ptx_free(m);
}

static void ranges(void **state)
{
	struct ws_ptx_module *m = ptx_good(PTX_HEAD ".entry k() {\n.reg .b32 %r<4000000000>;\n.reg .b32 a1<3>, a<13>;\n"
		"add.s32 %r3999999999, %r0, %r0;\nadd.s32 a10, a1, a2;\n ret; }");

	assert_int_equal(ptx_k(m)->nregs, 5);    /* those in use */
	assert_string_equal(ptx_k(m)->regs[0]->name, "%r3999999999");
	ws_ptx_free(m);
}

static void variables(void **state)
{
	struct ws_ptx_module *m =
		ptx_good(PTX_HEAD ".extern .shared .align 16 .b8 dyn[];\n.visible .global .attribute(.managed) .align "
				  "8 .u32 m[2][3] = {{1, 2}, {4}};\n"
				  ".const .f32 c[2] = {0f3F800000, 0d4000000000000000};\n.weak .global .v4 .f32 w;\n"
				  ".global .u64 p[2] = {generic(m)+8, c};\n.global .b8 q[3] = {7, 0xff00(m), "
				  "-1};\n.extern .global .u32 e;\n"
				  ".global .u16 open[] = {1, 2, 3};\n.global .f64 d = 0f3F800000;\n");
	struct ws_ptx_sym *s = ws_ptx_find(m, "m");

	assert_int_equal(m->nvars, 9);
	assert_int_equal(s->size, 24);
	assert_int_equal(s->align, 8);
	assert_true(s->managed && s->array && s->linkage == WS_LINK_VISIBLE && s->space == WS_SPACE_GLOBAL);
	assert_int_equal(s->init[12], 4);
	assert_int_equal(s->init[4], 2);
	assert_int_equal(s->init[8], 0);
	s = ws_ptx_find(m, "dyn");
	assert_true(s->size == 0 && s->array && s->align == 16 && s->space == WS_SPACE_SHARED &&
		    s->linkage == WS_LINK_EXTERN);
	assert_memory_equal(ws_ptx_find(m, "c")->init, "\0\0\x80\x3f\0\0\0\x40", 8);
	s = ws_ptx_find(m, "w");
	assert_true(s->size == 16 && s->align == 16 && s->vec == 4 && !s->array && !s->init);
	s = ws_ptx_find(m, "p");
	assert_int_equal(s->nrelocs, 2);
	assert_true(s->relocs[0].generic && s->relocs[0].addend == 8 && s->relocs[0].bytes == 8);
	assert_true(!s->relocs[1].generic && s->relocs[1].at == 8);
	assert_string_equal(s->relocs[1].sym->name, "c");
	s = ws_ptx_find(m, "q");
	assert_int_equal(s->nrelocs, 1);
	assert_true(s->relocs[0].at == 1 && s->relocs[0].bytes == 1 && s->relocs[0].shift == 8);
	assert_int_equal(s->init[2], 0xff);
	assert_int_equal(ws_ptx_find(m, "open")->size, 6);
	assert_memory_equal(ws_ptx_find(m, "d")->init, "\0\0\0\0\0\0\xf0\x3f", 8);
	assert_null(ws_ptx_find(m, "nosuch"));
	ws_ptx_free(m);
}

static void functions(void **state)
{
	struct ws_ptx_module *m = ptx_good(
		PTX_HEAD ".func (.param .b32 r) f(.param .align 8 .b8 s[24], .param .u64 .ptr .global .align 4 p);\n"
			 ".extern .func g() .noreturn;\n"
			 ".func (.param .b32 r) f(.param .align 8 .b8 s[24], .param .u64 .ptr .global .align 4 p) { "
			 ".local .align 8 .b8 stack[40]; ret; }\n"
			 ".entry k(.param .u32 a) .maxntid 128, 2 .minnctapersm 3 .maxnreg 40 .reqnctapercluster 2 { "
			 ".shared .f32 t[4]; ret; }\n"
			 ".func (.reg .u32 o) h(.reg .u32 i) { mov.u32 o, i; ret; }\n");
	struct ws_ptx_func *f = ws_ptx_find(m, "f")->func, *k = ptx_k(m), *h = ws_ptx_find(m, "h")->func;

	assert_int_equal(m->nfuncs, 4);
	assert_true(!f->declared_only && !f->entry && f->nparams == 2 && f->nrets == 1 && f->nvars == 1 &&
		    f->ninsts == 1);
	assert_int_equal(f->params[0]->size, 24);
	assert_true(f->params[1]->ptr && f->params[1]->index == 1 && f->params[1]->scope == f);
	assert_int_equal(f->vars[0]->size, 40);
	assert_true(ws_ptx_find(m, "g")->func->declared_only && ws_ptx_find(m, "g")->func->noreturn);
	assert_true(k->entry && k->maxntid[0] == 128 && k->maxntid[1] == 2 && k->maxntid[2] == 1);
	assert_true(k->minnctapersm == 3 && k->maxnreg == 40 && k->reqnctapercluster[0] == 2 && !k->reqntid[0]);
	assert_int_equal(k->vars[0]->space, WS_SPACE_SHARED);
	assert_ptr_equal(h->insts[0].ops[0].reg, h->regs[h->rets[0]->index]);
	assert_ptr_equal(h->insts[0].ops[1].reg, h->regs[h->params[0]->index]);
	assert_memory_equal(m->text + f->off, ".func", 5);
	assert_int_equal(m->text[f->off + f->len - 1], '}');
	assert_int_equal(m->text[f->body_off], '{');
	ws_ptx_free(m);
}

static void calls(void **state)
{
	struct ws_ptx_module *m = ptx_body(".func (.param .b32 r) f(.param .b32 a);\n.func n();",
		"{ .param .b32 param0; .param .b32 retval0; st.param.b32 [param0], %r1;\n"
		"call.uni (retval0), f, (param0);\n}\ncall n;\n"
		"proto: .callprototype (.param .b32 _) _ (.param .b32 _);\nlist: .calltargets f, n;\n"
		"{ .param .b32 p1, r1; call (r1), %d1, (p1), proto; call (r1), %d1, (7), list; }\nret;");
	struct ws_ptx_call *c = inst(m, 1)->call;

	assert_int_equal(ptx_k(m)->nvars, 4);
	assert_true(inst(m, 1)->flags & WS_F_UNI && inst(m, 1)->nops == 0);
	assert_true(c->nrets == 1 && c->nargs == 1 && c->target->sym->kind == WS_SYM_FUNC && !c->proto);
	assert_string_equal(c->args[0].sym->name, "param0");
	assert_true(inst(m, 2)->call->nargs == 0 && inst(m, 2)->call->nrets == 0);
	c = inst(m, 3)->call;
	assert_true(c->target->kind == WS_O_REG && c->proto->kind == WS_SYM_PROTO && c->proto->func->nparams == 1);
	c = inst(m, 4)->call;
	assert_true(c->proto->kind == WS_SYM_TARGETS && c->proto->ntargets == 2 && c->args[0].kind == WS_O_INT);
	ws_ptx_free(m);
}

static void branch_tables(void **state)
{
	struct ws_ptx_module *m = ptx_body("", "t: .branchtargets A, B, A;\nbrx.idx %r1, t;\nA: ret;\nB: ret;");
	struct ws_ptx_func *f = ptx_k(m);

	assert_int_equal(f->ntables, 1);
	assert_int_equal(f->tables[0].nlabels, 3);
	assert_int_equal(f->labels[f->tables[0].labels[1]].inst, 2);
	assert_ptr_equal(&f->tables[f->insts[0].ops[1].label], &f->tables[0]);
	ws_ptx_free(m);
}

static void source_positions(void **state)
{
	struct ws_ptx_module *m =
		ptx_good(PTX_HEAD ".entry k() {\n.reg .u32 %r;\nmov.u32 %r, 0;\n.loc 2 10 3\nmov.u32 %r, 1;\n"
				  ".loc 1 5 1, function_name S1, inlined_at 2 10 3\nmov.u32 %r, 2;\n.loc 1 7 2, "
				  "function_name S0+3, inlined_at 1 5 1\nret;\n}\n"
				  ".file 1 \"in.h\"\n.file 2 \"main.cu\"\n.section .debug_str\n{\nS0:\n.b8 "
				  "120,120,120\nS1: .b8 102\n.b8 49,0\n}\n"
				  ".section .debug_loc { .b64 S0 .b32 .debug_info }\n");
	const struct ws_ptx_loc *l;
	struct ws_buf b = { 0 };

	assert_null(inst(m, 0)->loc);
	ws_ptx_where(m, inst(m, 0), &b);
	assert_string_equal(b.data, "t.ptx:6");
	b.len = 0;
	l = inst(m, 1)->loc;
	assert_true(l->line == 10 && l->col == 3 && !l->inlined_at && !l->function);
	assert_string_equal(m->files[l->file].path, "main.cu");
	l = inst(m, 2)->loc;
	assert_string_equal(l->function, "f1");
	assert_ptr_equal(l->inlined_at, inst(m, 1)->loc);
	l = inst(m, 3)->loc;
	assert_string_equal(l->function, "f1");
	assert_ptr_equal(l->inlined_at, inst(m, 2)->loc);
	ws_ptx_where(m, inst(m, 3), &b);
	assert_string_equal(b.data, "in.h:7");
	ws_buf_free(&b);
	ws_ptx_free(m);
}

static void unknown_kept_only_on_demand(void **state)
{
	struct ws_ptx_options opt = { .syntax_only = true };
	struct ws_buf b = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &b };
	char *text = ptx_text("", "@%p1 frobnicate.u33 %r1, {%r2};\nadd.weird.u32 %r1, %r2, %r3;\nret;");
	struct ws_ptx_module *m = ws_ptx_parse("t", text, strlen(text), &opt, &sink);

	if (!m)
		fail_msg("%s", b.data);
	assert_int_equal(inst(m, 0)->op, WS_OP_unknown);
	assert_string_equal(inst(m, 0)->extra, "frobnicate.u33 %r1, {%r2}");
	assert_non_null(inst(m, 0)->guard);
	assert_int_equal(inst(m, 1)->op, WS_OP_unknown);
	ws_ptx_free(m);
	assert_null(ptx_parse(text, &b));
	free(text);
	text = ptx_text("", "mbarrier.newthing.b64 [%d1];\nret;");
	b.len = 0;
	assert_null(ws_ptx_parse("t", text, strlen(text), &opt, &sink));
	assert_non_null(strstr(b.data, "might synchronize"));
	free(text);
	ws_buf_free(&b);
}

/* Each body, and what its message must hold. */
static const struct { const char *body, *message; } wrong[] = {
	{ "add.s32 %r1, %r2;", "'add' takes 3 operands, not 2" },
	{ "add.s32 %r1, %r2, %r3, %r4;", "'add' takes 3 operands, not 4" },
	{ "add.s32 %r1, %r2, %d3;", "'%d3' is .b64, but 'add' needs .s32 here" },
	{ "add.pred %p1, %p2, %p3;", "'add' has no form for '.pred'" },
	{ "add %r1, %r2, %r3;", "'add' needs a type" },
	{ "add.f64.f16 %g1, %h1, %g2;", "mixed precision" },
	{ "rem.s32.s32 %r1, %r2, %r3;", "'rem' takes 1 type" },
	{ "add.rn.s32 %r1, %r2, %r3;", "rounding" },
	{ "add.f32 %f1, %f2, 1;", "floating-point constant" },
	{ "add.s32 %r1, %r2, 0f3F800000;", "an integer" },
	{ "add.s32 5, %r2, %r3;", "'add' needs a register here" },
	{ "add.s32 %r1, [%d1], %r3;", "a register or a constant" },
	{ "add.s32 %r1, %tid.x, %r3;", "special register" },
	{ "add.wide.s32 %r1, %r2, %r3;", "modifier '.wide' is not legal with 'add'" },
	{ "add.quick.s32 %r1, %r2, %r3;", "unknown modifier '.quick' of 'add'" },
	{ "add.ftz.ftz.f32 %f1, %f2, %f3;", "'.ftz' conflicts with another modifier" },
	{ "add.rn.rz.f32 %f1, %f2, %f3;", "conflicts" },
	{ "frobnicate %r1;", "unknown instruction 'frobnicate'" },
	{ "mul.s32 %r1, %r2, %r3;", "needs '.lo', '.hi' or '.wide'" },
	{ "mul.wide.s32 %r1, %r2, %r3;", "'%r1' is .b32, but 'mul' needs .s64 here" },
	{ "mad.wide.s64 %d1, %d2, %d3, %d4;", "'.wide' is for" },
	{ "mov.u32 %r1, %nosuch;", "unknown register '%nosuch'" },
	{ "mov.u32 %r1, nosuch;", "unknown name 'nosuch'" },
	{ "mov.u32 %r99, 1;", "unknown register '%r99'" },
	{ "mov.b64 {%r1, %h1}, %d1;", "these elements have 6 bytes" },
	{ "mov.u32 %r1, %r2.x;", "'%r2' is no vector" },
	{ ".reg .v2 .u32 v; mov.u32 %r1, v;", "one element" },
	{ ".reg .v2 .u32 v; mov.u32 %r1, v.z;", "is no vector" },
	{ "setp.s32 %p1, %r1, %r2;", "'setp' needs a comparison" },
	{ "setp.lt.b32 %p1, %r1, %r2;", "no form for '.b32'" },
	{ "setp.lt.s32 %r1, %r1, %r2;", "'setp' needs a predicate here" },
	{ "setp.lt.and.s32 %p1, %r1, %r2;", "predicate operand" },
	{ "selp.b32 %r1, %r2, %r3, %r4;", "a predicate" },
	{ "@%r1 ret;", "the guard must be a predicate register" },
	{ "@%p1 L: ret;", "unknown instruction 'L'" },
	{ "bra nowhere;", "unknown label 'nowhere'" },
	{ "bra %r1;", "'%r1' is not a label" },
	{ "{ I: ret; } bra I;", "unknown label 'I'" },
	{ "A: A: ret;", "'A' is declared already" },
	{ "brx.idx %r1, missing;", "unknown list of branch targets 'missing'" },
	{ "call nobody;", "unknown function 'nobody'" },
	{ "call %d1, (1);", "needs a prototype" },
	{ "call f1, (%r1, %r2);", "'f1' has 1 parameter, not 2" },
	{ "call (%r1), f1, (%r1);", "'f1' has 0 results, not 1" },
	{ "{ .param .b64 wide; call f1, (wide); }", "'wide' has 8 bytes, 'f1' takes 4 here" },
	{ "call %d1, (1), gone;", "unknown call prototype 'gone'" },
	{ "ld.global.u32 %r1, %d1;", "an address in brackets" },
	{ "ld.global.u32 %r1, [%f1];", "cannot hold an address" },
	{ "ld.global.u32 %r1, [%r2];", "has 32 bits" },
	{ "ld.relaxed.u32 %r1, [%d1];", "needs a scope" },
	{ "ld.release.gpu.u32 %r1, [%d1];", "a load cannot be" },
	{ "ld.shared.nc.u32 %r1, [%r1];", "cannot access" },
	{ "ld.global.v2.u32 %r1, [%d1];", "a vector of 2 elements" },
	{ "ld.global.u64 %r1, [%d1];", "'%r1' is .b32, but 'ld' needs .u64 here" },
	{ "st.const.u32 [%d1], %r1;", "cannot access '.const'" },
	{ "st.global [%d1], %r1;", "'st' needs a type" },
	{ "atom.global.add.b32 %r1, [%d1], %r2;", "no form for '.b32'" },
	{ "atom.global.and.u32 %r1, [%d1], %r2;", "no form for '.u32'" },
	{ "atom.global.cas.b32 %r1, [%d1], %r2;", "'atom.cas' takes 4 operands" },
	{ "atom.local.add.u32 %r1, [%d1], %r2;", "cannot access '.local'" },
	{ "atom.global.u32 %r1, [%d1], %r2;", "'atom' needs an operation" },
	{ "red.global.exch.b32 [%d1], %r2;", "'red' has no '.cas'" },
	{ "bar.sync;", "takes 1 or 2 operands" },
	{ "bar.arrive 0;", "takes 2 operands" },
	{ "bar 0;", "'bar' needs '.sync', '.arrive' or '.red'" },
	{ "bar.sync.aligned 0;", "not legal with 'bar'" },
	{ "bar.red.add.u32 %r1, 0, %p1;", "a reducing barrier is" },
	{ "fence.sc;", "'fence' needs a scope" },
	{ "membar;", "'membar' needs a level" },
	{ "shfl.sync.b32 %r1, %r2, 1, 31, -1;", "'shfl' needs '.up'" },
	{ "shfl.sync.up.b32 %r1, %r2, 1, 31;", "needs the mask" },
	{ "cvt.s32.f32 %r1, %f1;", "needs a rounding modifier" },
	{ "cvt.rn.f32 %f1, %f2;", "'cvt' needs 2 types" },
	{ "div.f32 %f1, %f2, %f3;", "needs a rounding modifier or '.approx'" },
	{ "elect.sync %r1, -1;", "behind '|'" },
	{ "mov.u32 %r1, 1/0;", "division by zero" },
	{ "mov.u32 %r1, 99999999999999999999;", "does not fit in 64 bits" },
	{ "mov.u32 %r1, 0f3F80;", "exactly 8 hexadecimal digits" },
	{ "mov.u32 %r1, 12ab;", "this is not a number" },
	{ "mov.u32 %r1, (1;", "expected ')'" },
	{ "mov.u32 %r1, 1", "expected ';'" },
	{ "mov.u32 %r1 %r2;", "expected ';' after the operands" },
	{ "mov.u32 %r1, \x01;", "this character cannot stand in PTX" },
	{ ".reg .b32 %r<19>;", "'%r<...>' is declared already" },
	{ ".reg .b32 x, x;", "'x' is declared already" },
	{ ".reg .b33 x;", "unknown type '.b33'" },
	{ ".reg .b32 %tid.x;", "expected ';'" },
	{ ".reg .b32 %laneid;", "'%laneid' is predefined" },
	{ ".reg .b32 x<99999999999>;", "cannot be declared at once" },
	{ ".shared .b8 x[99999999999999999999];", "does not fit in 64 bits" },
	{ ".shared .b8 x[1099511627777];", "larger than 1 TiB" },
	{ ".shared .b8 x[65536][65536][65536];", "larger than 1 TiB" },
	{ ".shared .b8 x[4][];", "only the first dimension may be open" },
	{ ".shared .u32 x = 3;", "cannot be initialized" },
	{ ".global .u32 x[2] = {1, 2, 3};", "too many values for 'x'" },
	{ ".global .u32 x[2] = {{1}};", "more braces than dimensions" },
	{ ".global .u32 x = arg2;", "unknown name 'arg2'" },
	{ ".global .u16 x = k;", "an address needs an element" },
	{ ".global .u8 x = 0xf0(k);", "a masked address gives one byte" },
	{ ".global .u32 x = 0f3F800000;", "a floating-point value for an integer" },
	{ ".global .align 3 .u32 x;", "a power of two" },
	{ ".local .pred x;", "predicates live in registers" },
	{ ".weird 3;", "unknown directive" },
	{ ".loc 1;", "expected file, line and column" },
	{ "/* x", "this comment has no end" },
	{ ".pragma \"x", "this string has no end" },
	{ "ret; }", "expected a directive" },
	{ "{ ret;", "has no '}'" },
	{ "%r1;", "unknown instruction" },
	{ ";;; 5;", "expected an instruction" },
};

static void errors(void **state)
{
	for (size_t k = 0; k < WS_COUNT(wrong); k++) {
		char *text = ptx_text(".func f1(.param .b32 a);", wrong[k].body);
		struct ws_buf b = { 0 };
		unsigned count = 0;

		if (ptx_parse(text, &b))
			fail_msg("read: %s", wrong[k].body);
		for (const char *e = b.data; (e = strstr(e, ": error: ")); e++)
			count++;
		if (!strstr(b.data, wrong[k].message) || count != 1)
			print_error("%s\nwanted: %s\n%s", wrong[k].body, wrong[k].message, b.data);
		assert_non_null(strstr(b.data, wrong[k].message));
		assert_int_equal(count, 1);      /* one fault, one message */
		ws_buf_free(&b);
		free(text);
	}
}

static void module_errors(void **state)
{
	static const char *const bad[] = {
		"",
		"ret;",
		".target sm_90",
		".version 9.0",
		".version 10.0 .target sm_90",
		".version 9.0 .target sm_x",
		".version 9.0 .target sm_90 .address_size 48",
		PTX_HEAD "}",
		PTX_HEAD ".entry k(",
		PTX_HEAD ".entry k() {",
		PTX_HEAD ".func f() {ret;} .func f() {ret;}",
		PTX_HEAD ".global .u32 k; .entry k() {ret;}",
		PTX_HEAD ".entry k(.reg .u32 a) {ret;}",
		PTX_HEAD ".entry k(.param .u32 a, .param .u32 a) {ret;}",
		PTX_HEAD ".alias f, g;",
		PTX_HEAD ".section .debug_str { .b8 1",
		PTX_HEAD ".file 1 name",
		PTX_HEAD ".extern .global .u32 a; .global .f32 a;",
		PTX_HEAD ".common .const .u32 x;",
		PTX_HEAD "\"x",
	};

	for (size_t k = 0; k < WS_COUNT(bad); k++) {
		struct ws_buf b = { 0 };

		if (ptx_parse(bad[k], &b))
			fail_msg("read: %s", bad[k]);
		assert_non_null(strstr(b.data, "t.ptx:"));
		ws_buf_free(&b);
	}
}

static void error_limit(void **state)
{
	struct ws_buf text = { 0 }, b = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &b };
	struct ws_ptx_options opt = { .max_errors = 3 };
	unsigned count = 0;

	ws_buf_puts(&text, PTX_HEAD ".entry k() {\n");
	for (int k = 0; k < 100; k++)
		ws_buf_puts(&text, "add.s31 1;\n");
	ws_buf_puts(&text, "}\n");
	assert_null(ws_ptx_parse("t", text.data, text.len, &opt, &sink));
	for (const char *e = b.data; (e = strstr(e, ": error: ")); e++)
		count++;
	assert_int_equal(count, 3);
	ws_buf_free(&text);
	ws_buf_free(&b);
}

static void caret(void **state)
{
	struct ws_buf b = { 0 };

	assert_null(ptx_parse(PTX_HEAD ".entry k() {\n\t.reg .u32 %r;\n\tadd.s32 \t%r, %r, %x1;\n\tret;\n}\n", &b));
	assert_string_equal(
		b.data,
		"t.ptx:6:19: error: unknown register '%x1'\n  \tadd.s32 \t%r, %r, %x1;\n  \t        \t        ^~~\n");
	ws_buf_free(&b);
}

static void nesting(void **state)
{
	struct ws_buf text = { 0 }, b = { 0 };

	ws_buf_puts(&text, PTX_HEAD ".entry k() {\n");
	for (int k = 0; k < 100000; k++)
		ws_buf_puts(&text, "{");
	assert_null(ptx_parse(text.data, &b));
	assert_non_null(strstr(b.data, "nested deeper than 256"));
	text.len = b.len = 0;
	ws_buf_puts(&text, PTX_HEAD ".global .u32 x = ");
	for (int k = 0; k < 100000; k++)
		ws_buf_puts(&text, "(-");
	assert_null(ptx_parse(text.data, &b));
	assert_non_null(strstr(b.data, "nested deeper than 64"));
	ws_buf_free(&text);
	ws_buf_free(&b);
}

/* ---- bodies that are read later ---- */
static const char waiting[] = PTX_HEAD
	".extern .func (.param .b32 r) f(.param .b32 a);\n"
	".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %x<3>; // not the end: }\n/* nor this: } */ .pragma \"}\";\n"
	"{ ld.param.b32 %x1, [a]; add.s32 %x2, %x1, 1; }\nL: st.param.b32 [r], %x2; @%q bra L; ret;\n}\n"
	".func g(.reg .b32 %a) { ret; }\n"
	".entry k() { ret; }\n"
	".func wrong() {\n\tnosuch.b32;\n}\n";

static void bodies_wait(void **state)
{
	struct ws_buf said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_ptx_parse("t.ptx", waiting, strlen(waiting), &(struct ws_ptx_options){ .later = true }, &sink);
	struct ws_ptx_func *f = ws_ptx_find(m, "f")->func;

	assert_int_equal(said.len, 0);
	assert_true(f->waits && !f->declared_only && ws_ptx_find(m, "wrong")->func->waits);
	assert_false(ws_ptx_find(m, "g")->func->waits || ws_ptx_find(m, "k")->func->waits);
	assert_memory_equal(m->text + f->off + f->len - 1, "}\n.func g", 9);
	assert_false(ws_ptx_body(f, &sink));                   /* %q is not declared */
	assert_non_null(strstr(said.data, "t.ptx:10:"));
	assert_non_null(strstr(said.data, "%q "));
	assert_true(f->waits && !ws_ptx_body(f, &sink));       /* as often as it is asked for */
	said.len = 0;
	assert_false(ws_ptx_body(ws_ptx_find(m, "wrong")->func, &sink));
	assert_non_null(strstr(said.data, "nosuch"));
	ws_buf_free(&said);
	ws_ptx_free(m);
}

static void waiting_bodies_are_the_same(void **state)
{
	static const char text[] = PTX_HEAD ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %x<3>; .reg .pred %p;\n"
		"L: ld.param.b32 %x1, [a]; @%p bra L; st.param.b32 [r], %x1; ret;\n}\n.func g() { ret; }\n";
	struct ws_ptx_module *m = ws_ptx_parse("t.ptx", text, strlen(text), &(struct ws_ptx_options){ .later = true }, NULL), *all = ptx_good(text);
	struct ws_ptx_func *f = m->funcs[0], *of = all->funcs[0];

	assert_true(f->waits && ws_ptx_body(f, NULL) && !f->waits);
	assert_int_equal(f->ninsts, of->ninsts);
	for (uint32_t k = 0; k < f->ninsts; k++) {
		assert_int_equal(f->insts[k].op, of->insts[k].op);
		assert_int_equal(f->insts[k].off, of->insts[k].off);
		assert_int_equal(f->insts[k].line, of->insts[k].line);
	}
	assert_int_equal(f->nregs, of->nregs);
	assert_int_equal(f->nlabels, 1);
	assert_ptr_equal(f->insts[0].ops[1].sym, f->params[0]);
	assert_int_equal(f->len, of->len);
	assert_true(ws_ptx_body(f, NULL) && f->ninsts == of->ninsts);      /* once is enough */
	assert_true(ws_ptx_body(m->funcs[1], NULL) && m->funcs[1]->ninsts == 1);
	ws_ptx_free(all);
	ws_ptx_free(m);
}

static void waiting_bodies_have_no_lines(void **state)
{
	static const char text[] = PTX_HEAD ".file 1 \"a.cu\"\n.func f()\n{ .loc 1 2 3\n ret; }\n";
	struct ws_buf said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_ptx_parse("t.ptx", text, strlen(text), &(struct ws_ptx_options){ .later = true }, &sink);

	assert_true(m && m->funcs[0]->waits && !ws_ptx_body(m->funcs[0], &sink));
	assert_non_null(strstr(said.data, "has no .loc"));
	ws_buf_free(&said);
	ws_ptx_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head),
		cmocka_unit_test(modifiers_have_fields),
		cmocka_unit_test(variants_are_marked),
		cmocka_unit_test(operands),
		cmocka_unit_test(literals),
		cmocka_unit_test(scopes),
		cmocka_unit_test(ranges),
		cmocka_unit_test(variables),
		cmocka_unit_test(functions),
		cmocka_unit_test(calls),
		cmocka_unit_test(branch_tables),
		cmocka_unit_test(source_positions),
		cmocka_unit_test(unknown_kept_only_on_demand),
		cmocka_unit_test(errors),
		cmocka_unit_test(module_errors),
		cmocka_unit_test(error_limit),
		cmocka_unit_test(caret),
		cmocka_unit_test(nesting),
		cmocka_unit_test(bodies_wait),
		cmocka_unit_test(waiting_bodies_are_the_same),
		cmocka_unit_test(waiting_bodies_have_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
