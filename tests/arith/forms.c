/* forms.c - see forms.h */
#include "tests/arith/forms.h"

#include <stdio.h>
#include <string.h>

static struct arith_form *forms;
static size_t nforms, cap;

/* Adds a form. body NULL: the instruction with its results and sources in order. */
static void add(const char *dst, const char *src, const char *body, const char *fmt, ...) WS_PRINTF(4, 5);
static void add(const char *dst, const char *src, const char *body, const char *fmt, ...)
{
	struct arith_form *f = WS_PUSH(forms, nforms, cap);
	memset(f, 0, sizeof *f);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(f->name, sizeof f->name, fmt, ap);
	va_end(ap);
	snprintf(f->dst, sizeof f->dst, "%s", dst);
	snprintf(f->src, sizeof f->src, "%s", src);
	if (body) {
		snprintf(f->body, sizeof f->body, "%s", body);
		return;
	}
	size_t n = (size_t)snprintf(f->body, sizeof f->body, "%s $d%s", f->name, dst[1] ? "|$q" : "");
	for (size_t k = 0; src[k]; k++)
		n += (size_t)snprintf(f->body + n, sizeof f->body - n, ", $%c", "abce"[k]);
	snprintf(f->body + n, sizeof f->body - n, ";");
}

/* Like add for a body that is the name with operands of its own. */
#define ADD_AS(dst, src, operands, ...) \
	do { \
		char name_[80], body_[200]; \
		snprintf(name_, sizeof name_, __VA_ARGS__); \
		snprintf(body_, sizeof body_, "%s %s;", name_, operands); \
		add(dst, src, body_, "%s", name_); \
	} while (0)

static void approximate(double bound) { forms[nforms - 1].bound = bound; }

/* ---- the forms ---- */
struct type {
	const char *name;
	char kind;
};
static const struct type ints[] = {{"u16", 'w'}, {"s16", 'w'}, {"u32", 'i'}, {"s32", 'i'}, {"u64", 'l'}, {"s64", 'l'}};
static const struct type bits[] = {{"b16", 'w'}, {"b32", 'i'}, {"b64", 'l'}};
static const struct type halves[] = {{"f16", 'h'}, {"f16x2", 'H'}, {"bf16", 'b'}, {"bf16x2", 'B'}};
static const char *const roundings[] = {"rn", "rz", "rm", "rp"};

static const char *kinds(char kind, int n)
{
	static char buf[4][8];
	static unsigned turn;
	char *s = buf[turn++ % 4];
	memset(s, kind, (size_t)n);
	s[n] = 0;
	return s;
}

static void integer_forms(void)
{
	static const char *const two[] = {"add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"};
	static const char *const three[] = {"mad.lo", "mad.hi", "sad"};
	for (size_t t = 0; t < WS_COUNT(ints); t++) {
		char k = ints[t].kind;
		for (size_t o = 0; o < WS_COUNT(two); o++)
			add(kinds(k, 1), kinds(k, 2), NULL, "%s.%s", two[o], ints[t].name);
		for (size_t o = 0; o < WS_COUNT(three); o++)
			add(kinds(k, 1), kinds(k, 3), NULL, "%s.%s", three[o], ints[t].name);
		if (t < 4) {
			char w[2] = {k == 'w' ? 'i' : 'l', 0}, src[4] = {k, k, w[0], 0};
			add(w, kinds(k, 2), NULL, "mul.wide.%s", ints[t].name);
			add(w, src, NULL, "mad.wide.%s", ints[t].name);
		}
		if (t & 1) {
			add(kinds(k, 1), kinds(k, 1), NULL, "neg.%s", ints[t].name);
			add(kinds(k, 1), kinds(k, 1), NULL, "abs.%s", ints[t].name);
		}
	}
	static const char *const sat2[] = {"add.sat.s32", "sub.sat.s32"};
	for (size_t o = 0; o < WS_COUNT(sat2); o++)
		add("i", "ii", NULL, "%s", sat2[o]);
	add("i", "iii", NULL, "mad.hi.sat.s32");
	add("i", "iii", NULL, "mad24.hi.sat.s32");
	static const char *const i32[] = {"u32", "s32"}, *const part[] = {"lo", "hi"};
	for (int t = 0; t < 2; t++)
		for (int p = 0; p < 2; p++) {
			add("i", "ii", NULL, "mul24.%s.%s", part[p], i32[t]);
			add("i", "iii", NULL, "mad24.%s.%s", part[p], i32[t]);
		}
	static const char *const pairs[] = {"add.u16x2", "add.s16x2", "min.u16x2", "min.s16x2", "max.u16x2", "max.s16x2",
	                                    "min.relu.s16x2", "max.relu.s16x2", "min.relu.s32", "max.relu.s32"};
	for (size_t o = 0; o < WS_COUNT(pairs); o++)
		add("i", "ii", NULL, "%s", pairs[o]);
}

static void bit_forms(void)
{
	static const char *const one[] = {"popc.b32", "clz.b32", "bfind.u32", "bfind.s32", "bfind.shiftamt.u32",
	                                  "bfind.shiftamt.s32"};
	static const char *const one64[] = {"popc.b64", "clz.b64", "bfind.u64", "bfind.s64", "bfind.shiftamt.u64",
	                                    "bfind.shiftamt.s64"};
	for (size_t o = 0; o < WS_COUNT(one); o++) {
		add("i", "i", NULL, "%s", one[o]);
		add("i", "l", NULL, "%s", one64[o]);
	}
	add("i", "i", NULL, "brev.b32");
	add("l", "l", NULL, "brev.b64");
	add("i", "iss", NULL, "bfe.u32");
	add("i", "iss", NULL, "bfe.s32");
	add("l", "lss", NULL, "bfe.u64");
	add("l", "lss", NULL, "bfe.s64");
	add("i", "iiss", NULL, "bfi.b32");
	add("l", "llss", NULL, "bfi.b64");
	add("i", "iss", "and.b32 $b, $b, 31; fns.b32 $d, $a, $b, $c;", "fns.b32");
	static const char *const mode[] = {"clamp", "wrap"};
	for (int m = 0; m < 2; m++) {
		add("i", "ss", NULL, "bmsk.%s.b32", mode[m]);
		add("i", "is", NULL, "szext.%s.u32", mode[m]);
		add("i", "is", NULL, "szext.%s.s32", mode[m]);
		add("i", "iis", NULL, "shf.l.%s.b32", mode[m]);
		add("i", "iis", NULL, "shf.r.%s.b32", mode[m]);
	}
	static const char *const i32[] = {"u32", "s32"};
	for (int a = 0; a < 2; a++)
		for (int b = 0; b < 2; b++) {
			add("i", "iii", NULL, "dp4a.%s.%s", i32[a], i32[b]);
			add("i", "iii", NULL, "dp2a.lo.%s.%s", i32[a], i32[b]);
			add("i", "iii", NULL, "dp2a.hi.%s.%s", i32[a], i32[b]);
		}
	for (size_t t = 0; t < WS_COUNT(ints); t++) {
		char src[3] = {ints[t].kind, 's', 0};
		add(kinds(ints[t].kind, 1), src, NULL, "shr.%s", ints[t].name);
	}
	for (size_t t = 0; t < WS_COUNT(bits); t++) {
		char k = bits[t].kind, src[3] = {k, 's', 0}, sel[4] = {k, k, 'p', 0}, slct[4] = {k, k, 'i', 0};
		static const char *const two[] = {"and", "or", "xor"}, *const un[] = {"not", "cnot", "mov"};
		for (int o = 0; o < 3; o++) {
			add(kinds(k, 1), kinds(k, 2), NULL, "%s.%s", two[o], bits[t].name);
			add(kinds(k, 1), kinds(k, 1), NULL, "%s.%s", un[o], bits[t].name);
		}
		add(kinds(k, 1), src, NULL, "shl.%s", bits[t].name);
		add(kinds(k, 1), sel, NULL, "selp.%s", bits[t].name);
		add(kinds(k, 1), slct, NULL, "slct.%s.s32", bits[t].name);
		slct[2] = 'f';
		add(kinds(k, 1), slct, NULL, "slct.%s.f32", bits[t].name);
		add(kinds(k, 1), slct, NULL, "slct.ftz.%s.f32", bits[t].name);
	}
	static const char *const preds[] = {"and.pred", "or.pred", "xor.pred"};
	for (int o = 0; o < 3; o++)
		add("p", "pp", NULL, "%s", preds[o]);
	add("p", "p", NULL, "not.pred");
	add("p", "p", NULL, "mov.pred");
}

static void carry_forms(void)
{
	static const char *const t[] = {"u32", "s32", "u64", "s64"};
	for (int k = 0; k < 4; k++) {
		char b[200], kind = k < 2 ? 'i' : 'l';
		char dst[3] = {kind, kind, 0};
		const char *name = t[k];
#define CARRY(src, label, ...) \
	do { \
		snprintf(b, sizeof b, __VA_ARGS__); \
		add(dst, src, b, "%s.%s", label, name); \
	} while (0)
		CARRY(kinds(kind, 2), "add.cc/addc", "add.cc.%s $d, $a, $b; addc.%s $q, $a, $b;", name, name);
		CARRY(kinds(kind, 3), "add.cc/addc.cc/addc", "add.cc.%s $d, $a, $b; addc.cc.%s $d, $d, $c; addc.%s $q, $a, $c;",
		      name, name, name);
		CARRY(kinds(kind, 2), "sub.cc/subc", "sub.cc.%s $d, $a, $b; subc.%s $q, $a, $b;", name, name);
		CARRY(kinds(kind, 3), "sub.cc/subc.cc/subc", "sub.cc.%s $d, $a, $b; subc.cc.%s $d, $d, $c; subc.%s $q, $a, $c;",
		      name, name, name);
		CARRY(kinds(kind, 3), "mad.lo.cc/madc.hi", "mad.lo.cc.%s $d, $a, $b, $c; madc.hi.%s $q, $a, $b, $c;", name, name);
		CARRY(kinds(kind, 3), "mad.hi.cc/addc", "mad.hi.cc.%s $d, $a, $b, $c; addc.%s $q, $a, 0;", name, name);
		CARRY(kinds(kind, 3), "madc.lo.cc/madc.hi.cc",
		      "add.cc.%s $q, $a, $b; madc.lo.cc.%s $d, $a, $b, $c; madc.hi.cc.%s $d, $d, $b, $c; addc.%s $q, $c, 0;", name,
		      name, name, name);
	}
}

static void select_forms(void)
{
	static const unsigned tables[] = {0x00, 0x01, 0x1b, 0x3c, 0x69, 0x80, 0x96, 0xc0, 0xca, 0xd8, 0xe8, 0xff};
	for (size_t k = 0; k < WS_COUNT(tables); k++) {
		char b[120];
		snprintf(b, sizeof b, "lop3.b32 $d, $a, $b, $c, 0x%02x;", tables[k]);
		add("i", "iii", b, "lop3.b32 0x%02x", tables[k]);
	}
	add("ip", "iiip", "lop3.or.b32 $d|$q, $a, $b, $c, 0x80, $e;", "lop3.or.b32");
	add("ip", "iiip", "lop3.and.b32 $d|$q, $a, $b, $c, 0xe8, $e;", "lop3.and.b32");
	static const char *const modes[] = {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"};
	for (size_t k = 0; k < WS_COUNT(modes); k++)
		add("i", "iii", NULL, "prmt.b32%s", modes[k]);
	add("l", "ii", "mov.b64 $d, {$a, $b};", "mov.b64 pack");
	add("ii", "l", "mov.b64 {$d, $q}, $a;", "mov.b64 unpack");
	add("i", "ww", "mov.b32 $d, {$a, $b};", "mov.b32 pack");
	add("ww", "i", "mov.b32 {$d, $q}, $a;", "mov.b32 unpack");
	add("l", "wwww", "mov.b64 $d, {$a, $b, $c, $e};", "mov.b64 pack4");
	add("ww", "l", "{ .reg .b16 t0, t1; mov.b64 {t0, $d, t1, $q}, $a; }", "mov.b64 unpack4");
	static const char *const to[] = {"u16", "s16"}, *const to8[] = {"u8", "s8"};
	for (int k = 0; k < 2; k++) {
		add("i", "ii", NULL, "cvt.pack.sat.%s.s32", to[k]);
		add("i", "iii", NULL, "cvt.pack.sat.%s.s32.b32", to8[k]);
	}
	static const char *const to4[] = {"u4", "s4", "u2", "s2"};
	for (int k = 0; k < 4; k++)
		add("i", "iii", NULL, "cvt.pack.sat.%s.s32.b32", to4[k]);
}

static const char *const float_cmps[] = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu",
                                         "num", "nan"};

static void compare_forms(void)
{
	static const char *const cmps[] = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
	for (size_t t = 0; t < WS_COUNT(ints); t++)
		for (size_t c = 0; c < (t & 1 ? 6u : 10u); c++) {
			add("p", kinds(ints[t].kind, 2), NULL, "setp.%s.%s", cmps[c], ints[t].name);
			add("i", kinds(ints[t].kind, 2), NULL, "set.%s.u32.%s", cmps[c], ints[t].name);
			add("f", kinds(ints[t].kind, 2), NULL, "set.%s.f32.%s", cmps[c], ints[t].name);
		}
	for (size_t t = 0; t < WS_COUNT(bits); t++)
		for (size_t c = 0; c < 2; c++)
			add("p", kinds(bits[t].kind, 2), NULL, "setp.%s.%s", cmps[c], bits[t].name);
	static const char *const fl[] = {"%s.f32", "%s.ftz.f32", "%s.f64"};
	for (size_t c = 0; c < WS_COUNT(float_cmps); c++) {
		for (int t = 0; t < 3; t++) {
			char m[40];
			snprintf(m, sizeof m, fl[t], float_cmps[c]);
			add("p", t == 2 ? "gg" : "ff", NULL, "setp.%s", m);
		}
		add("i", "ff", NULL, "set.%s.s32.f32", float_cmps[c]);
		add("f", "ff", NULL, "set.%s.ftz.f32.f32", float_cmps[c]);
		add("i", "gg", NULL, "set.%s.u32.f64", float_cmps[c]);
		add("p", "hh", NULL, "setp.%s.f16", float_cmps[c]);
		add("p", "hh", NULL, "setp.%s.ftz.f16", float_cmps[c]);
		add("p", "bb", NULL, "setp.%s.bf16", float_cmps[c]);
		add("pp", "HH", NULL, "setp.%s.f16x2", float_cmps[c]);
		add("pp", "BB", NULL, "setp.%s.bf16x2", float_cmps[c]);
		add("h", "hh", NULL, "set.%s.f16.f16", float_cmps[c]);
		add("H", "HH", NULL, "set.%s.f16x2.f16x2", float_cmps[c]);
		add("H", "HH", NULL, "set.%s.ftz.f16x2.f16x2", float_cmps[c]);
		add("b", "bb", NULL, "set.%s.bf16.bf16", float_cmps[c]);
		add("B", "BB", NULL, "set.%s.bf16x2.bf16x2", float_cmps[c]);
		add("i", "HH", NULL, "set.%s.u32.f16x2", float_cmps[c]);
		add("i", "BB", NULL, "set.%s.u32.bf16x2", float_cmps[c]);
		add("i", "hh", NULL, "set.%s.u32.f16", float_cmps[c]);
		add("w", "hh", NULL, "set.%s.u16.f16", float_cmps[c]);
	}
	static const char *const ops[] = {"and", "or", "xor"};
	for (int o = 0; o < 3; o++) {
		add("pp", "iip", NULL, "setp.lt.%s.s32", ops[o]);
		ADD_AS("pp", "iip", "$d|$q, $a, $b, !$c", "setp.ge.%s.u32", ops[o]);
		add("pp", "ffp", NULL, "setp.ltu.%s.f32", ops[o]);
		add("pp", "ggp", NULL, "setp.eq.%s.f64", ops[o]);
		add("i", "iip", NULL, "set.gt.%s.u32.s32", ops[o]);
		ADD_AS("f", "ffp", "$d, $a, $b, !$c", "set.le.%s.f32.f32", ops[o]);
		add("pp", "HHp", NULL, "setp.gt.%s.f16x2", ops[o]);
		add("p", "hhp", NULL, "setp.gt.%s.f16", ops[o]);
		add("H", "HHp", NULL, "set.lt.%s.f16x2.f16x2", ops[o]);
	}
	static const char *const tests[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
	for (size_t k = 0; k < WS_COUNT(tests); k++) {
		add("p", "f", NULL, "testp.%s.f32", tests[k]);
		add("p", "g", NULL, "testp.%s.f64", tests[k]);
	}
	add("f", "ff", NULL, "copysign.f32");
	add("g", "gg", NULL, "copysign.f64");
}

static void float_forms(void)
{
	static const struct {
		const char *name;
		int n;
		bool sat, needs_rounding;
	} ops[] = {{"add", 2, true, false}, {"sub", 2, true, false}, {"mul", 2, true, false}, {"fma", 3, true, true},
	           {"mad", 3, true, true}, {"div", 2, false, true}, {"rcp", 1, false, true}, {"sqrt", 1, false, true}};
	for (size_t o = 0; o < WS_COUNT(ops); o++) {
		for (int r = ops[o].needs_rounding ? 0 : -1; r < 4; r++) {
			char rnd[8] = "";
			if (r >= 0)
				snprintf(rnd, sizeof rnd, ".%s", roundings[r]);
			add("f", kinds('f', ops[o].n), NULL, "%s%s.f32", ops[o].name, rnd);
			add("f", kinds('f', ops[o].n), NULL, "%s%s.ftz.f32", ops[o].name, rnd);
			if (ops[o].sat) {
				add("f", kinds('f', ops[o].n), NULL, "%s%s.sat.f32", ops[o].name, rnd);
				add("f", kinds('f', ops[o].n), NULL, "%s%s.ftz.sat.f32", ops[o].name, rnd);
			}
			add("g", kinds('g', ops[o].n), NULL, "%s%s.f64", ops[o].name, rnd);
		}
	}
	static const char *const mm[] = {"min", "max"}, *const mods[] = {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"};
	for (int o = 0; o < 2; o++) {
		for (int m = 0; m < 4; m++) {
			add("f", "ff", NULL, "%s%s.f32", mm[o], mods[m]);
			add("f", "ff", NULL, "%s.ftz%s.f32", mm[o], mods[m]);
			for (size_t t = 0; t < WS_COUNT(halves); t++)
				add(kinds(halves[t].kind, 1), kinds(halves[t].kind, 2), NULL, "%s%s.%s", mm[o], mods[m], halves[t].name);
			add("h", "hh", NULL, "%s.ftz%s.f16", mm[o], mods[m]);
			add("H", "HH", NULL, "%s.ftz%s.f16x2", mm[o], mods[m]);
		}
		add("g", "gg", NULL, "%s.f64", mm[o]);
	}
	static const char *const un[] = {"neg", "abs"};
	for (int o = 0; o < 2; o++) {
		add("f", "f", NULL, "%s.f32", un[o]);
		add("f", "f", NULL, "%s.ftz.f32", un[o]);
		add("g", "g", NULL, "%s.f64", un[o]);
		for (size_t t = 0; t < WS_COUNT(halves); t++)
			add(kinds(halves[t].kind, 1), kinds(halves[t].kind, 1), NULL, "%s.%s", un[o], halves[t].name);
		add("h", "h", NULL, "%s.ftz.f16", un[o]);
		add("H", "H", NULL, "%s.ftz.f16x2", un[o]);
	}
}

static void half_forms(void)
{
	static const char *const ops[] = {"add", "sub", "mul", "fma"};
	static const char *const mods[] = {"", ".ftz", ".sat", ".ftz.sat"};
	for (int o = 0; o < 4; o++)
		for (size_t t = 0; t < WS_COUNT(halves); t++) {
			char k = halves[t].kind;
			int n = o == 3 ? 3 : 2;
			for (int m = 0; m < (t < 2 ? 4 : 1); m++)
				add(kinds(k, 1), kinds(k, n), NULL, "%s.rn%s.%s", ops[o], mods[m], halves[t].name);
			if (o == 3)
				add(kinds(k, 1), kinds(k, n), NULL, "fma.rn.relu.%s", halves[t].name);
			if (o == 3 && t < 2)
				add(kinds(k, 1), kinds(k, n), NULL, "fma.rn.ftz.relu.%s", halves[t].name);
		}
}

/* The bounds of PTX ISA 9.0: ulps where >= 1/4, else absolute (lg2, sin, cos), see check.c. */
static void approximate_forms(void)
{
	static const struct {
		const char *name;
		double bound;
	} one[] = {{"rcp.approx", 1}, {"sqrt.approx", 1.2}, {"rsqrt.approx", 1.2}, {"sin.approx", 0x1p-20},
	           {"cos.approx", 0x1p-20}, {"lg2.approx", 0x1p-22}, {"ex2.approx", 2}, {"tanh.approx", 160}};
	for (size_t k = 0; k < WS_COUNT(one); k++) {
		add("f", "f", NULL, "%s.f32", one[k].name);
		approximate(one[k].bound);
		if (k == 7)
			break;
		add("f", "f", NULL, "%s.ftz.f32", one[k].name);
		approximate(one[k].bound);
	}
	static const char *const div[] = {"div.approx.f32", "div.approx.ftz.f32", "div.full.f32", "div.full.ftz.f32"};
	for (int k = 0; k < 4; k++) {
		add("f", "ff", NULL, "%s", div[k]);
		approximate(2);
	}
	add("g", "g", NULL, "rcp.approx.ftz.f64");
	approximate(0x1p32);
	add("g", "g", NULL, "rsqrt.approx.f64");
	approximate(0x1p32);
	add("g", "g", NULL, "rsqrt.approx.ftz.f64");
	approximate(0x1p32);
	static const char *const half[] = {"ex2.approx.f16", "ex2.approx.f16x2", "tanh.approx.f16", "tanh.approx.f16x2"};
	for (int k = 0; k < 4; k++) {
		add(k & 1 ? "H" : "h", k & 1 ? "H" : "h", NULL, "%s", half[k]);
		approximate(k < 2 ? 2 : 4);
	}
	static const char *const bf[] = {"ex2.approx.ftz.bf16", "ex2.approx.ftz.bf16x2", "tanh.approx.bf16",
	                                 "tanh.approx.bf16x2"};
	for (int k = 0; k < 4; k++) {
		add(k & 1 ? "B" : "b", k & 1 ? "B" : "b", NULL, "%s", bf[k]);
		approximate(1);
	}
}

static const struct type cvt_ints[] = {{"u8", 'w'}, {"s8", 'w'}, {"u16", 'w'}, {"s16", 'w'}, {"u32", 'i'}, {"s32", 'i'},
                                       {"u64", 'l'}, {"s64", 'l'}};
static const struct type cvt_floats[] = {{"f16", 'h'}, {"bf16", 'b'}, {"f32", 'f'}, {"f64", 'g'}};

/* Whether integer type d holds all values of s (positions in cvt_ints): .sat is illegal then. */
static bool holds(size_t d, size_t s)
{
	bool ds = d & 1, ss = s & 1;
	return ds == ss ? d >= s : ds && d / 2 > s / 2;
}

static void convert_int_forms(void)
{
	for (size_t d = 0; d < WS_COUNT(cvt_ints); d++)
		for (size_t s = 0; s < WS_COUNT(cvt_ints); s++) {
			add(kinds(cvt_ints[d].kind, 1), kinds(cvt_ints[s].kind, 1), NULL, "cvt.%s.%s", cvt_ints[d].name,
			    cvt_ints[s].name);
			if (!holds(d, s))
				add(kinds(cvt_ints[d].kind, 1), kinds(cvt_ints[s].kind, 1), NULL, "cvt.sat.%s.%s", cvt_ints[d].name,
				    cvt_ints[s].name);
			/* registers wider than the types */
			ADD_AS("l", "l", "$d, $a", "cvt.%s.%s ", cvt_ints[d].name, cvt_ints[s].name);
			if (d < 6 && s < 6)
				ADD_AS("i", "i", "$d, $a", "cvt.%s.%s  ", cvt_ints[d].name, cvt_ints[s].name);
		}
	for (size_t i = 0; i < WS_COUNT(cvt_ints); i++)
		for (size_t f = 0; f < WS_COUNT(cvt_floats); f++) {
			static const char *const to_int[] = {"rni", "rzi", "rmi", "rpi"};
			if (f == 1 && i < 2)
				continue;        /* no conversion between bf16 and 8 bits in 16-bit registers */
			for (int r = 0; r < 4; r++) {
				add(kinds(cvt_ints[i].kind, 1), kinds(cvt_floats[f].kind, 1), NULL, "cvt.%s.%s.%s", to_int[r],
				    cvt_ints[i].name, cvt_floats[f].name);
				if (f == 2)
					add(kinds(cvt_ints[i].kind, 1), "f", NULL, "cvt.%s.ftz.%s.f32", to_int[r], cvt_ints[i].name);
				add(kinds(cvt_floats[f].kind, 1), kinds(cvt_ints[i].kind, 1), NULL, "cvt.%s.%s.%s", roundings[r],
				    cvt_floats[f].name, cvt_ints[i].name);
			}
			if (f != 1)
				add(kinds(cvt_ints[i].kind, 1), kinds(cvt_floats[f].kind, 1), NULL, "cvt.rzi.sat.%s.%s",
				    cvt_ints[i].name, cvt_floats[f].name);
			if (f != 1)
				add(kinds(cvt_floats[f].kind, 1), kinds(cvt_ints[i].kind, 1), NULL, "cvt.rn.sat.%s.%s",
				    cvt_floats[f].name, cvt_ints[i].name);
		}
	ADD_AS("i", "f", "$d, $a", "cvt.rzi.u8.f32 ");
	ADD_AS("i", "f", "$d, $a", "cvt.rzi.s8.f32 ");
	ADD_AS("l", "f", "$d, $a", "cvt.rzi.s32.f32 ");
	ADD_AS("f", "i", "$d, $a", "cvt.rn.f32.u8 ");
	ADD_AS("f", "i", "$d, $a", "cvt.rn.f32.s16 ");
}

static void convert_float_forms(void)
{
	static const char *const whole[] = {"rni", "rzi", "rmi", "rpi"};
	for (int r = 0; r < 4; r++) {
		for (size_t f = 0; f < WS_COUNT(cvt_floats); f++)
			add(kinds(cvt_floats[f].kind, 1), kinds(cvt_floats[f].kind, 1), NULL, "cvt.%s.%s.%s", whole[r],
			    cvt_floats[f].name, cvt_floats[f].name);
		add("f", "f", NULL, "cvt.%s.ftz.f32.f32", whole[r]);
		add("f", "f", NULL, "cvt.%s.sat.f32.f32", whole[r]);
		add("f", "g", NULL, "cvt.%s.f32.f64", roundings[r]);
		add("f", "g", NULL, "cvt.%s.ftz.f32.f64", roundings[r]);
		add("f", "g", NULL, "cvt.%s.sat.f32.f64", roundings[r]);
		add("h", "f", NULL, "cvt.%s.f16.f32", roundings[r]);
		add("h", "f", NULL, "cvt.%s.ftz.f16.f32", roundings[r]);
		add("h", "f", NULL, "cvt.%s.sat.f16.f32", roundings[r]);
		add("h", "g", NULL, "cvt.%s.f16.f64", roundings[r]);
		add("b", "g", NULL, "cvt.%s.bf16.f64", roundings[r]);
		add("b", "h", NULL, "cvt.%s.bf16.f16", roundings[r]);
		add("h", "b", NULL, "cvt.%s.f16.bf16", roundings[r]);
		if (r > 1)
			continue;
		static const char *const relu[] = {"", ".relu"};
		for (int k = 0; k < 2; k++) {
			add("b", "f", NULL, "cvt.%s%s.bf16.f32", roundings[r], relu[k]);
			add("H", "ff", NULL, "cvt.%s%s.f16x2.f32", roundings[r], relu[k]);
			add("B", "ff", NULL, "cvt.%s%s.bf16x2.f32", roundings[r], relu[k]);
			add("f", "f", NULL, "cvt.%s%s.tf32.f32", roundings[r], relu[k]);
			if (k)
				add("h", "f", NULL, "cvt.%s.relu.f16.f32", roundings[r]);
		}
	}
	add("f", "f", NULL, "cvt.rna.tf32.f32");
	static const char *const same[] = {"cvt.f32.f32", "cvt.ftz.f32.f32", "cvt.sat.f32.f32", "cvt.ftz.sat.f32.f32"};
	for (int k = 0; k < 4; k++)
		add("f", "f", NULL, "%s", same[k]);
	add("g", "g", NULL, "cvt.f64.f64");
	add("g", "g", NULL, "cvt.sat.f64.f64");
	add("g", "f", NULL, "cvt.f64.f32");
	add("g", "f", NULL, "cvt.ftz.f64.f32");
	add("g", "f", NULL, "cvt.sat.f64.f32");
	add("f", "h", NULL, "cvt.f32.f16");
	add("f", "h", NULL, "cvt.sat.f32.f16");
	add("g", "h", NULL, "cvt.f64.f16");
	add("f", "b", NULL, "cvt.f32.bf16");
	add("g", "b", NULL, "cvt.f64.bf16");
	add("h", "h", NULL, "cvt.f16.f16");
	add("h", "h", NULL, "cvt.sat.f16.f16");
	static const char *const e[] = {"e4m3x2", "e5m2x2"}, *const relu[] = {"", ".relu"};
	for (int k = 0; k < 4; k++) {
		add("e", "ff", NULL, "cvt.rn.satfinite%s.%s.f32", relu[k >> 1], e[k & 1]);
		add("e", "H", NULL, "cvt.rn.satfinite%s.%s.f16x2", relu[k >> 1], e[k & 1]);
		add("H", "e", NULL, "cvt.rn%s.f16x2.%s", relu[k >> 1], e[k & 1]);
	}
}

static void video_forms(void)
{
	static const char *const i32[] = {"u32", "s32"};
	static const char *const simd[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"};
	for (int t = 0; t < 8; t++) {
		const char *d = i32[t & 1], *a = i32[t >> 1 & 1], *b = i32[t >> 2 & 1];
		for (size_t o = 0; o < WS_COUNT(simd); o++)
			for (int n = 2; n <= 4; n += 2) {
				add("i", "iii", NULL, "%s%d.%s.%s.%s", simd[o], n, d, a, b);
				add("i", "iii", NULL, "%s%d.%s.%s.%s.sat", simd[o], n, d, a, b);
				if (t % 3 != 2)
					add("i", "iii", NULL, "%s%d.%s.%s.%s.add", simd[o], n, d, a, b);
			}
		static const char *const scalar[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax"};
		for (size_t o = 0; o < WS_COUNT(scalar); o++) {
			add("i", "ii", NULL, "%s.%s.%s.%s", scalar[o], d, a, b);
			add("i", "iii", NULL, "%s.%s.%s.%s.add", scalar[o], d, a, b);
			ADD_AS("i", "ii", "$d, $a.b1, $b.h1", "%s.%s.%s.%s.sat", scalar[o], d, a, b);
			ADD_AS("i", "iii", "$d.b2, $a.h0, $b.b3, $c", "%s.%s.%s.%s ", scalar[o], d, a, b);
		}
		add("i", "iii", NULL, "vmad.%s.%s.%s", d, a, b);
		if (t < 4) {
			add("i", "is", NULL, "vshl.%s.%s.u32.clamp", d, a);
			add("i", "is", NULL, "vshr.%s.%s.u32.wrap", d, a);
			static const char *const cmps[] = {"eq", "ne", "lt", "le", "gt", "ge"};
			for (int c = 0; c < 6; c++) {
				add("i", "ii", NULL, "vset.%s.%s.%s", d, a, cmps[c]);
				add("i", "iii", NULL, "vset2.%s.%s.%s", d, a, cmps[c]);
				add("i", "iii", NULL, "vset4.%s.%s.%s.add", d, a, cmps[c]);
			}
		}
	}
}

/* Results on the edge of what .ftz flushes. */
static void tiny_forms(void)
{
	for (int r = 0; r < 4; r++) {
		ADD_AS("f", "tT", "$d, $a, $b", "mul.%s.ftz.f32 ", roundings[r]);
		ADD_AS("f", "tT", "$d, $a, $b", "mul.%s.f32 ", roundings[r]);
		ADD_AS("f", "tTz", "$d, $a, $b, $c", "fma.%s.ftz.f32 ", roundings[r]);
		ADD_AS("f", "tTz", "$d, $a, $b, $c", "fma.%s.f32 ", roundings[r]);
		ADD_AS("f", "tD", "$d, $a, $b", "div.%s.ftz.f32 ", roundings[r]);
		ADD_AS("f", "tD", "$d, $a, $b", "div.%s.f32 ", roundings[r]);
		ADD_AS("f", "r", "$d, $a", "rcp.%s.ftz.f32 ", roundings[r]);
		ADD_AS("f", "y", "$d, $a", "cvt.%s.ftz.f32.f64 ", roundings[r]);
		ADD_AS("h", "j", "$d, $a", "cvt.%s.f16.f32 ", roundings[r]);
	}
	ADD_AS("f", "tT", "$d, $a, $b", "mul.ftz.sat.f32 ");
	ADD_AS("f", "tTz", "$d, $a, $b, $c", "fma.rn.ftz.sat.f32 ");
	ADD_AS("h", "uU", "$d, $a, $b", "mul.ftz.f16 ");
	ADD_AS("h", "uU", "$d, $a, $b", "mul.f16 ");
	ADD_AS("h", "uUv", "$d, $a, $b, $c", "fma.rn.ftz.f16 ");
	ADD_AS("h", "uUv", "$d, $a, $b, $c", "fma.rn.f16 ");
	static const char *const un[] = {"rcp.approx.ftz.f32 ", "ex2.approx.ftz.f32 ", "ex2.approx.f32 "};
	for (int k = 0; k < 3; k++) {
		ADD_AS("f", k ? "x" : "r", "$d, $a", "%s", un[k]);
		approximate(k ? 2 : 1);
	}
	static const char *const div[] = {"div.approx.ftz.f32 ", "div.full.ftz.f32 "};
	for (int k = 0; k < 2; k++) {
		ADD_AS("f", "tD", "$d, $a, $b", "%s", div[k]);
		approximate(2);
	}
	add("ii", "ii", "sub.cc.u32 $d, $a, $b; addc.u32 $q, 0, 0;", "sub.cc.u32/addc.u32");
	add("ii", "ii", "add.cc.u32 $d, $a, $b; subc.u32 $q, 0, 0;", "add.cc.u32/subc.u32");
	add("h", "f", NULL, "cvt.rn.satfinite.f16.f32");
	add("b", "f", NULL, "cvt.rn.satfinite.bf16.f32");
	add("H", "ff", NULL, "cvt.rn.satfinite.f16x2.f32");
	add("B", "ff", NULL, "cvt.rz.relu.satfinite.bf16x2.f32");
	add("f", "f", NULL, "cvt.rna.satfinite.tf32.f32");
}

const struct arith_form *arith_forms(size_t *n)
{
	if (!nforms) {
		integer_forms();
		bit_forms();
		carry_forms();
		select_forms();
		compare_forms();
		float_forms();
		half_forms();
		approximate_forms();
		convert_int_forms();
		convert_float_forms();
		video_forms();
		tiny_forms();
	}
	*n = nforms;
	return forms;
}

/* ---- PTX ---- */
unsigned arith_bits(char kind)
{
	switch (kind) {
	case 'w': case 'h': case 'b': case 'e': case 'u': case 'U': case 'v':
		return 16;
	case 'l': case 'g': case 'y':
		return 64;
	case 'p':
		return 1;
	default:
		return 32;
	}
}

static const char *reg_type(char kind)
{
	unsigned n = arith_bits(kind);
	return n == 16 ? "b16" : n == 64 ? "b64" : n == 1 ? "pred" : "b32";
}

static void load_source(struct ws_buf *out, char kind, char name, int k)
{
	ws_buf_printf(out, "\tld.global.b64 %%x%d, [%%in+%d];\n", k, 8 * k);
	switch (arith_bits(kind)) {
	case 64:
		ws_buf_printf(out, "\tmov.b64 %%%c, %%x%d;\n", name, k);
		break;
	case 32:
		ws_buf_printf(out, "\tcvt.u32.u64 %%%c, %%x%d;\n", name, k);
		break;
	case 16:
		ws_buf_printf(out, "\tcvt.u16.u64 %%%c, %%x%d;\n", name, k);
		break;
	default:
		ws_buf_printf(out, "\tand.b64 %%x%d, %%x%d, 1;\n\tsetp.ne.b64 %%%c, %%x%d, 0;\n", k, k, name, k);
	}
}

static void store_result(struct ws_buf *out, char kind, char name, int k)
{
	switch (arith_bits(kind)) {
	case 64:
		ws_buf_printf(out, "\tmov.b64 %%y, %%%c;\n", name);
		break;
	case 32:
		ws_buf_printf(out, "\tcvt.u64.u32 %%y, %%%c;\n", name);
		break;
	case 16:
		ws_buf_printf(out, "\tcvt.u64.u16 %%y, %%%c;\n", name);
		break;
	default:
		ws_buf_printf(out, "\tselp.b64 %%y, 1, 0, %%%c;\n", name);
	}
	ws_buf_printf(out, "\tst.global.b64 [%%out+%d], %%y;\n", 8 * k);
}

static void body(struct ws_buf *out, const struct arith_form *f)
{
	ws_buf_puts(out, "\t");
	for (const char *s = f->body; *s; s++) {
		char c = *s == '$' ? '%' : *s;
		ws_buf_add(out, &c, 1);
	}
	ws_buf_puts(out, "\n");
}

static void kernel(struct ws_buf *out, const struct arith_form *f, size_t n)
{
	ws_buf_printf(out, "// %s\n.visible .entry f%04zu(.param .u64 in, .param .u64 out)\n{\n", f->name, n);
	ws_buf_puts(out, "\t.reg .b64 %in, %out, %at, %y, %x<4>;\n\t.reg .b32 %t, %u, %v;\n");
	for (int k = 0; f->dst[k]; k++)
		ws_buf_printf(out, "\t.reg .%s %%%c;\n", reg_type(f->dst[k]), "dq"[k]);
	for (int k = 0; f->src[k]; k++)
		ws_buf_printf(out, "\t.reg .%s %%%c;\n", reg_type(f->src[k]), "abce"[k]);
	ws_buf_puts(out, "\tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n\tmov.u32 %t, %tid.x;\n"
	                 "\tmov.u32 %u, %ctaid.x;\n\tmov.u32 %v, %ntid.x;\n\tmad.lo.u32 %t, %u, %v, %t;\n"
	                 "\tmul.wide.u32 %at, %t, 32;\n\tadd.u64 %in, %in, %at;\n"
	                 "\tmul.wide.u32 %at, %t, 16;\n\tadd.u64 %out, %out, %at;\n");
	for (int k = 0; f->src[k]; k++)
		load_source(out, f->src[k], "abce"[k], k);
	body(out, f);
	for (int k = 0; f->dst[k]; k++)
		store_result(out, f->dst[k], "dq"[k], k);
	ws_buf_puts(out, "\tret;\n}\n");
}

void arith_ptx(struct ws_buf *out, size_t first, size_t last)
{
	size_t n;
	const struct arith_form *f = arith_forms(&n);
	ws_buf_puts(out, ".version 8.6\n.target sm_90\n.address_size 64\n");
	for (size_t k = first; k < last && k < n; k++)
		kernel(out, &f[k], k);
}

/* ---- sources ---- */
static const uint64_t special_ints[] = {
	0, 1, UINT64_MAX, 0x7fffffffffffffff, 0x8000000000000000, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fff, 0x8000,
	0xffff, 2, 3, 0x80, 0x7f, 0xff, 0xffffff, 0x800000, 31, 32, 33, 63, 0xfffffffe, 0x80000001, 0x100000000,
	0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0x0123456789abcdef, 10, 100, 7, 0xffffffff00000000};
static const uint32_t special_floats[] = {
	0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fffffff, 0x00000001,
	0x807fffff, 0x00800000, 0x80800001, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x40490fdb, 0xffc12345, 0x7f800001,
	0xff812345, 0x00400000, 0x80000001, 0x4b000000, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000, 0x5f000000,
	0x33800000, 0x3f7fffff, 0x3f800001, 0xc2fc0000, 0x7e800000};
static const uint64_t special_doubles[] = {
	0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
	0x7ff8000000000000, 0x7fffffffffffffff, 1, 0x800fffffffffffff, 0x0010000000000000, 0x8010000000000001,
	0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000, 0x400921fb54442d18, 0xfff8123456789abc,
	0x7ff0000000000001, 0xfff0123456789abc, 0x0008000000000000, 0x36a0000000000000, 0x380fffffffffffff,
	0x47efffffe0000000, 0x47effffff0000000, 0x41dfffffffc00000, 0x41e0000000000000, 0x43e0000000000000,
	0x3ca0000000000000, 0x3fefffffffffffff, 0x3690000000000000, 0xc1e0000000200000, 0x433fffffffffffff};
static const uint16_t special_halves[] = {
	0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7fff, 0x0001, 0x83ff, 0x0400, 0x8401, 0x7bff, 0xfbff,
	0x3800, 0x4248, 0xfe12, 0x7c01, 0xfd23, 0x0200, 0x8001, 0x6400, 0x1400, 0x3bff, 0x3c01, 0x5bff, 0x57ff, 0xd800,
	0x77ff, 0x7800, 0x0c00, 0x9000};
static const uint16_t special_bf16[] = {
	0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0x7fff, 0x0001, 0x807f, 0x0080, 0x8081, 0x7f7f, 0xff7f,
	0x3f00, 0x4049, 0xffc1, 0x7f81, 0xff92, 0x0040, 0x8001, 0x4b00, 0x4f00, 0xcf00, 0x3f7f, 0x3f81, 0x0100, 0x7e80,
	0x5f00, 0x3380, 0x437f, 0xc300};

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

enum { SPECIALS = 32 };

static uint64_t special(char kind, unsigned k, uint64_t rnd)
{
	k %= SPECIALS;
	switch (kind) {
	case 'f':
		return special_floats[k];
	case 'g':
		return special_doubles[k];
	case 'h':
		return special_halves[k];
	case 'b':
		return special_bf16[k];
	case 'H':
		return special_halves[k] | (uint32_t)special_halves[rnd % SPECIALS] << 16;
	case 'B':
		return special_bf16[k] | (uint32_t)special_bf16[rnd % SPECIALS] << 16;
	case 's':
		return (uint32_t)((int32_t)(k * 3) - 8);
	case 'p':
		return k & 1;
	default:
		return special_ints[k];
	}
}

/* A random value: all bits random, or near one, or of random magnitude. */
static uint64_t any(char kind, uint64_t r)
{
	uint64_t way = r & 7, v = mix(r);
	switch (kind) {
	case 'f':
		return way < 3 ? (uint32_t)v : way < 5 ? 0x3f000000 + (uint32_t)(v & 0x80ffffff)
		                                       : (0x3b000000 + (uint32_t)(v & 0x0affffff)) | (uint32_t)(v >> 32 & 0x80000000);
	case 'g':
		return way < 3 ? v : way < 5 ? 0x3fe0000000000000 + (v & 0x801fffffffffffff)
		             : way < 7 ? 0x3f80000000000000 + (v & 0x807fffffffffffff) : 0x36a0000000000000 + (v & 0x8fffffffe0000000);
	case 'h':
		return way < 5 ? v & 0xffff : 0x3800 + (v & 0x87ff);
	case 'b':
		return way < 4 ? v & 0xffff : 0x3f00 + (v & 0x80ff);
	case 'H':
		return any('h', r) | any('h', v) << 16;
	case 'B':
		return any('b', r) | any('b', v) << 16;
	case 's':
		return way < 6 ? v % 70 : v & 0xffffffff;
	case 'p':
		return v & 1;
	default:
		return way < 3 ? v : way < 5 ? v >> (v >> 58) : way == 5 ? 0 - (v >> (v >> 58)) : way == 6 ? v & 0xff : v & 0xffffff;
	}
}

static uint64_t bits_of_float(float x)
{
	uint32_t u;
	memcpy(&u, &x, sizeof u);
	return u;
}
static float float_of_bits(uint64_t v)
{
	uint32_t u = (uint32_t)v;
	float x;
	memcpy(&x, &u, sizeof x);
	return x;
}

/* Sources whose result lies close to the smallest normal number; lower-case kinds come first, x[0] is the first. */
static uint64_t edge(char kind, uint64_t r, const uint64_t *x)
{
	uint64_t v = mix(r), sign = v >> 8 & 0x80000000;
	int64_t off = (int64_t)(v % 7) - 3;
	float half = float_of_bits(x[0] << 13 & 0x7fe000) * 0x1p112f;     /* an f16 source's magnitude, normal */
	switch (kind) {
	case 't':                        /* [1, 2) * 2^-63 or 2^-20 */
		return (v & 0x7fffff) | sign | 0x20000000;
	case 'T':
		return bits_of_float(0x1p-126f / float_of_bits(x[0])) + (uint64_t)off;
	case 'D':
		return bits_of_float(float_of_bits(x[0]) * 0x1p126f) + (uint64_t)off;
	case 'z':
		return v & 1 ? sign : (v & 2 ? 0x00800000 : 0x01000000) | sign;
	case 'r':
		return (uint64_t)((int64_t)(0x7e800000 | sign) + (int64_t)(v % 41) - 20);
	case 'y':
		return (0x3810000000000000 | (v & 0x8000000000000000)) + (((v >> 20 & 0x3fffffff) - 0x20000000) << (v & 7));
	case 'x':
		return 0xc2f80000 + (v & 0x7ffff);
	case 'j':
		return (v >> 33 & 0x7ffff) + 0x33000000 + (v >> 5 & 0x7800000) + sign;
	case 'u':
		return (v & 0x3ff) | (sign >> 16) | 0x2000;
	case 'U':
		return ((bits_of_float(0x1p-14f / (half * 0x1p0f)) >> 13) - (112 << 10) + (uint64_t)off) & 0x7fff;
	default:                         /* v */
		return v & 1 ? sign >> 16 : (v & 2 ? 0x0400 : 0x0800) | sign >> 16;
	}
}

void arith_row(const char *src, unsigned r, uint64_t x[ARITH_SOURCES])
{
	size_t n = strlen(src);
	memset(x, 0, ARITH_SOURCES * sizeof *x);
	for (size_t k = 0; k < n; k++) {
		uint64_t rnd = mix((uint64_t)r << 8 | k);
		if (strchr("tTDzryxjuUv", src[k])) {
			x[k] = edge(src[k], rnd, x);
			continue;
		}
		bool one = n == 1 && r < SPECIALS, two = n == 2 && r < SPECIALS * SPECIALS, many = n > 2 && r < ARITH_ROWS / 2;
		if (one)
			x[k] = special(src[k], r, rnd >> 16);
		else if (two)
			x[k] = special(src[k], k ? r / SPECIALS : r, rnd >> 16);
		else if (many)
			x[k] = special(src[k], (unsigned)(rnd % 32), rnd >> 16);
		else
			x[k] = rnd % 11 == 0 ? special(src[k], (unsigned)(rnd >> 8), rnd >> 16) : any(src[k], rnd);
	}
}
