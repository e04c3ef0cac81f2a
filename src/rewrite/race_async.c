/* race_async.c - the pass `race` at what completes later: asynchronous copies and operations, mbarrier objects, copies of tensors, and products
 * of warpgroups. What the hooks are and what they are told: device/race.h. */
#include "rewrite/async.h"
#include "rewrite/class.h"
#include "rewrite/race_priv.h"

/* ---- asynchronous copies, mbarrier objects ---- */
/* How many bytes it reads: the rest of the target is filled with zeros (PTX ISA 9.0, cp.async, src-size and ignore-src). */
static const char *bytes_read(struct ws_code *c, const struct ws_ptx_inst *i)
{
	const struct ws_operand *o = i->nops > 3 && i->ops[3].kind != WS_O_NONE ? &i->ops[3] : NULL;
	const char *all = ws_race_number(c->p, (uint32_t)i->ops[2].imm), *bytes;

	if (!o || (i->nops == 4 && i->flags & WS_F_CACHE_HINT))
		return all;
	if (o->kind != WS_O_REG || ws_type_bytes(o->reg->type))
		return ws_race_value(c, o);
	bytes = ws_code_temp(c, WS_B32);
	ws_code_add(c, "selp.u32 %s, %s, %s, %s;", bytes, o->negated ? all : "0", o->negated ? "0" : all, ws_code_register(c, o));
	return bytes;
}

/* Of a launch whose shared memory is proved, what it reads alone, and that only if no proof spares it. */
static bool copy_where_proved(struct body *b, struct ws_code *c, const struct ws_rw_access *from, const char *const args[5])
{
	const char *all = ws_code_label(c), *end = ws_code_label(c), *skip;
	bool done;

	ws_code_add(c, "@!%s bra %s;", b->proved, all);
	skip = b->ranges ? ws_ranges_skip(b->ranges, c, from, args[1]) : NULL;
	done = ws_inline(c, "race_copy_read", (const char *[]){ args[1], args[3], args[4] }, 3, NULL);
	ws_race_label(c, skip);
	ws_code_add(c, "bra %s;", end);
	ws_code_add(c, "%s:", all);
	done = done && ws_inline(c, "race_copy", args, 5, NULL);
	ws_code_add(c, "%s:", end);
	return done;
}

static bool copy(struct body *b, struct ws_ptx_inst *i)
{
	struct race *r = b->race;
	struct ws_rw_access to = ws_rw_copy_access(b->f, i, 0), from = ws_rw_copy_access(b->f, i, 1);
	struct ws_code *c = ws_code_at(r->p, b->f, i, WS_BEFORE);
	const char *args[] = { ws_code_address(c, &to), ws_code_address(c, &from), ws_race_number(r->p, to.bytes), bytes_read(c, i),
	                       ws_race_number(r->p, r->nsites) };
	const char *label = ws_race_unless_silent(b, c);
	bool done = b->proved ? copy_where_proved(b, c, &from, args) : ws_inline(c, "race_copy", args, 5, NULL);

	ws_race_label(c, label);
	ws_race_note_site(b, &from, NULL, r->nsites++);
	ws_race_note_site(b, &to, NULL, r->nsites++);
	ws_code_end(c);
	return done;
}

static bool copy_wait(struct body *b, struct ws_ptx_inst *i)
{
	struct ws_code *c = ws_code_at(b->race->p, b->f, i, WS_AFTER);
	int64_t groups = ws_rw_copy_groups(b->f, i);
	const char *arg = ws_race_number(b->race->p, groups > 0 ? (uint32_t)groups : 0);
	const char *label = ws_race_unless_silent(b, c);
	bool done = groups >= 0 || ws_inline(c, "race_copy_commit", NULL, 0, NULL);

	done = done && ws_inline(c, "race_copy_wait", &arg, 1, NULL);
	ws_race_label(c, label);
	ws_code_end(c);
	return done;
}

static bool bulk_copy(struct body *b, struct ws_ptx_inst *i, bool load)
{
	struct race *r = b->race;
	struct ws_rw_access to = ws_rw_copy_access(b->f, i, 0), from = ws_rw_copy_access(b->f, i, 1), object = to;
	struct ws_code *c = ws_code_at(r->p, b->f, i, WS_BEFORE);
	const char *args[5] = { ws_code_address(c, &to), ws_code_address(c, &from), ws_race_value(c, &i->ops[2]) };
	unsigned n = 3;
	bool done;

	ws_rw_need(r->p, 80, 90);
	if (load) {
		object.address = ws_rw_object(i);
		args[n++] = ws_code_address(c, &object);
	}
	args[n++] = ws_race_number(r->p, r->nsites);
	ws_race_note_site(b, &from, NULL, r->nsites++);
	ws_race_note_site(b, &to, NULL, r->nsites++);
	done = ws_inline(c, load ? "race_bulk_load" : "race_bulk_store", args, n, NULL);
	ws_code_end(c);
	return done;
}

/* The class of what an operation or a copy does to memory. */
static uint32_t class_there(const struct ws_ptx_inst *i, enum ws_scope scope)
{
	return i->atom ? WS_RACE_CLASS(ws_rw_class_of(scope, ws_type_bytes(i->type[0]) < 8 ? WS_RACE_ATOMIC_CTA : WS_RACE_ATOMIC8_CTA)) : 0;
}

/* A mask of 16 bits, as one of 32. */
static const char *ranks_of(struct ws_code *c, const struct ws_operand *o)
{
	const char *ranks;

	if (o->kind != WS_O_REG || ws_type_bytes(o->reg->type) != 2)
		return ws_race_value(c, o);
	ranks = ws_code_temp(c, WS_B32);
	ws_code_add(c, "cvt.u32.u16 %s, %s;", ranks, ws_code_register(c, o));
	return ranks;
}

/* What completes on an object of the block whose shared memory it writes. */
static bool operation(struct body *b, struct ws_ptx_inst *i, bool multicast)
{
	enum { TO, FROM, BYTES, OBJECT, HOW, SITE, NARGS };
	struct race *r = b->race;
	bool copies = i->op == WS_OP_cp;
	struct ws_rw_access to = ws_rw_copy_access(b->f, i, 0), from = ws_rw_copy_access(b->f, i, copies), object = to;
	struct ws_code *c = ws_code_at(r->p, b->f, i, WS_BEFORE);
	uint32_t source = WS_RACE_SPACE(!copies ? WS_RACE_GENERIC : from.space == WS_SPACE_GLOBAL ? WS_RACE_GLOBAL : WS_RACE_SHARED);
	enum ws_scope scope = copies ? WS_SCOPE_GPU : WS_SCOPE_CLUSTER;
	const char *args[NARGS];
	bool done;

	ws_rw_need(r->p, 80, 90);
	object.address = ws_rw_object(i);
	args[TO] = ws_code_address(c, &to);
	args[FROM] = copies ? ws_code_address(c, &from) : "0";
	args[BYTES] = copies ? ws_race_value(c, &i->ops[2]) : ws_race_number(r->p, to.bytes);
	args[OBJECT] = ws_code_address(c, &object);
	args[HOW] = multicast ? ranks_of(c, &i->ops[4]) : ws_race_number(r->p, source | class_there(i, scope));
	if (copies)
		ws_race_note_site(b, &from, NULL, r->nsites++);
	args[SITE] = ws_race_number(r->p, r->nsites);
	ws_race_note_site(b, &to, NULL, r->nsites++);
	done = ws_inline(c, multicast ? "race_multicast" : "race_operation", args, NARGS, NULL);
	ws_code_end(c);
	return done;
}

static bool bulk_reduce(struct body *b, struct ws_ptx_inst *i)
{
	struct race *r = b->race;
	struct ws_rw_access to = ws_rw_copy_access(b->f, i, 0), from = ws_rw_copy_access(b->f, i, 1);
	struct ws_code *c = ws_code_at(r->p, b->f, i, WS_BEFORE);
	const char *args[] = { ws_code_address(c, &to), ws_code_address(c, &from), ws_race_value(c, &i->ops[2]),
	                       ws_race_number(r->p, class_there(i, WS_SCOPE_GPU)), ws_race_number(r->p, r->nsites) };
	bool done = ws_inline(c, "race_bulk_reduce", args, 5, NULL);

	ws_rw_need(r->p, 80, 90);
	ws_race_note_site(b, &from, NULL, r->nsites++);
	ws_race_note_site(b, &to, NULL, r->nsites++);
	ws_code_end(c);
	return done;
}

static bool bulk_wait(struct body *b, struct ws_ptx_inst *i)
{
	struct ws_code *c = ws_code_at(b->race->p, b->f, i, WS_AFTER);
	const char *args[] = { ws_race_value(c, &i->ops[0]), ws_ptx_says(b->f, i, ".read") ? "1" : "0" };
	bool done = ws_inline(c, "race_bulk_wait", args, 2, NULL);

	ws_code_end(c);
	return done;
}

/* Of bulk copies; not in functions that no kernel with any can come to. */
static bool bulk_group(struct body *b, struct ws_ptx_inst *i, bool wait)
{
	if (!b->bulk)
		return true;
	return wait ? bulk_wait(b, i) : ws_race_call_at(b, ws_code_at(b->race->p, b->f, i, WS_AFTER), "race_copy_commit", NULL);
}

/* An access to the object, and what it orders: a function of address, kind and, if it is not NULL, a third argument. enters: in place of that it is told
 * of the site, and of the access nothing else is. The scopes of all count as wide enough for who uses the object. */
static bool object(struct body *b, struct ws_ptx_inst *i, const char *function, const char *third, bool enters)
{
	struct race *r = b->race;
	struct ws_rw_access a = ws_rw_object_access(b->f, i);
	struct ws_code *c = ws_code_at(r->p, b->f, i, WS_BEFORE);
	const char *site = ws_race_number(r->p, r->nsites), *args[] = { ws_code_address(c, &a), NULL, enters ? site : third };
	bool done;

	a.scope = r->remote && a.scope ? WS_SCOPE_CLUSTER : a.scope;
	args[1] = ws_race_number(r->p, ws_rw_what(&a, false, b->ordering));
	if (!enters && b->clocks && a.kind == WS_RW_ATOMIC)
		done = ws_inline(c, "race_clock_enter", (const char *[]){ args[0], args[1], site }, 3, NULL);
	else
		done = enters || ws_race_check(b, c, &a, args[0], args[1], site);
	ws_rw_need(r->p, 71, 80);            /* mbarrier.test_wait.parity */
	ws_race_note_site(b, &a, NULL, r->nsites++);
	done = done && (!function || ws_inline(c, function, args, args[2] ? 3 : 2, NULL));
	ws_code_end(c);
	return done;
}

/* It begins, or ends. How many arrivals it has counts where the block may meet there. */
static bool object_begin(struct body *b, struct ws_ptx_inst *i)
{
	struct ws_code *c;
	const char *count;

	if (!b->meetings)
		return object(b, i, NULL, NULL, false);
	c = ws_code_at(b->race->p, b->f, i, WS_BEFORE);
	count = i->nops > 1 ? ws_race_value(c, &i->ops[1]) : "0";
	ws_code_end(c);
	return object(b, i, "race_object_begin", count, false);
}

static bool object_arrive(struct body *b, struct ws_ptx_inst *i)
{
	return b->meetings ? object(b, i, "race_object_meet", NULL, true) : object(b, i, "race_object_arrive", NULL, false);
}

/* Who waits in a loop looks many times: where one lane works for its warp, the access to the object is that of the time when it has seen the phase end. */
static bool object_wait(struct body *b, struct ws_ptx_inst *i)
{
	struct ws_pass *p = b->race->p;
	struct ws_rw_access a = ws_rw_object_access(b->f, i);
	const char *args[4] = { NULL, NULL, NULL, ws_race_number(p, b->race->nsites) }, *label;
	bool sees = i->ops[0].kind == WS_O_REG, behind = sees && (b->clocks || b->meetings), done = behind || object(b, i, NULL, NULL, false);
	struct ws_code *c;

	if (!done || !sees)
		return done;
	if (behind) {
		ws_rw_need(p, 71, 80);
		ws_race_note_site(b, &a, NULL, b->race->nsites++);
	}
	c = ws_code_at(p, b->f, i, WS_AFTER);
	label = ws_code_label(c);
	ws_code_add(c, "@!%s bra %s;", ws_code_register(c, &i->ops[0]), label);
	args[0] = ws_code_address(c, &a);
	args[1] = ws_race_number(p, ws_rw_what(&a, false, b->ordering));
	args[2] = ws_ptx_says(b->f, i, ".parity") ? ws_race_value(c, &i->ops[2]) : ws_race_number(p, 2);
	done = ws_inline(c, b->meetings ? "race_object_met" : behind ? "race_clock_wait" : "race_object_wait", args, 3 + behind, NULL);
	ws_code_add(c, "%s:", label);
	ws_code_end(c);
	return done;
}

/* ---- copies of tensors ---- */
/* The descriptor's address, and coordinates, 0 for those that there are not. */
static void tensor_arguments(struct ws_code *c, struct ws_ptx_inst *i, const char **map, const char *at[WS_RACE_TENSOR_DIMS])
{
	const struct ws_operand *o = ws_rw_tensor(i), *to = o->elems[1].elems;
	struct ws_operand base = o->elems[0];
	struct ws_rw_access a = { .inst = i, .space = WS_SPACE_GENERIC, .address = &base };

	base.kind = WS_O_ADDR;
	*map = ws_code_address(c, &a);
	for (unsigned k = 0; k < WS_RACE_TENSOR_DIMS; k++)
		at[k] = k < o->elems[1].sreg_or_count ? ws_race_value(c, &to[k]) : "0";
}

static bool tensor(struct body *b, struct ws_ptx_inst *i, bool load)
{
	enum { DIMS = WS_RACE_TENSOR_DIMS, NARGS = DIMS + 6 };
	struct race *r = b->race;
	bool im2col = ws_rw_is_im2col(b->f, i);
	uint32_t how = ws_rw_tensor_rank(b->f, i) | (im2col ? WS_RACE_TENSOR_OTHER : 0) |
		       (i->atom ? WS_RACE_CLASS(ws_rw_class_of(WS_SCOPE_GPU, WS_RACE_ATOMIC_CTA)) : 0);
	struct ws_rw_access near = { .inst = i, .rw_class = WS_RW_CHECK, .kind = load ? WS_RW_WRITE : WS_RW_READ, .space = WS_SPACE_SHARED,
	                             .address = &i->ops[!load] }, far = near, object = near;
	struct ws_code *c = ws_code_at(r->p, b->f, i, WS_BEFORE);
	const char *args[NARGS];
	unsigned n = 0, ranks = 3u + im2col;
	bool done;

	ws_rw_need(r->p, 80, 90);
	object.address = ws_rw_object(i);
	far.space = WS_SPACE_GLOBAL;
	far.kind = load ? WS_RW_READ : i->atom ? WS_RW_ATOMIC : WS_RW_WRITE;
	if (load)
		args[n++] = ws_code_address(c, &near);
	tensor_arguments(c, i, &args[n], &args[n + 1]);
	n += 1 + DIMS;
	args[n++] = ws_code_address(c, load ? &object : &near);
	args[n++] = ws_race_number(r->p, how);
	if (load)
		args[n++] = ws_ptx_says(b->f, i, ".multicast::cluster") ? ranks_of(c, &i->ops[ranks]) : "0";
	args[n++] = ws_race_number(r->p, r->nsites);
	ws_race_note_site(b, load ? &far : &near, NULL, r->nsites++);
	ws_race_note_site(b, load ? &near : &far, NULL, r->nsites++);
	done = ws_inline(c, load ? "race_tensor_load" : "race_tensor_store", args, n, NULL);
	ws_code_end(c);
	return done;
}

/* ---- products of warpgroups ----
 * All lanes of a warp come to them together: see is_aligned. */
void ws_race_bring_together(struct ws_code *c)
{
	ws_code_add(c, "bar.warp.sync -1;");
}

static bool product(struct body *b, struct ws_ptx_inst *i)
{
	struct race *r = b->race;
	struct ws_rw_access a = { .inst = i, .rw_class = WS_RW_CHECK, .kind = WS_RW_READ, .space = WS_SPACE_SHARED };
	struct ws_code *c = ws_code_at(r->p, b->f, i, WS_BEFORE);
	uint32_t how = ws_rw_product(i);
	const char *args[] = { how & WS_RACE_PRODUCT_A ? ws_race_value(c, &i->ops[1]) : "0", ws_race_value(c, &i->ops[2]), ws_race_number(r->p, how),
	                       ws_race_number(r->p, r->nsites) };
	bool done;

	ws_race_bring_together(c);
	done = ws_inline(c, "race_product", args, 4, NULL);
	ws_race_bring_together(c);
	ws_race_note_site(b, &a, NULL, r->nsites++);
	ws_code_end(c);
	return done;
}

/* Not in functions that no kernel with a product can come to. */
static bool product_group(struct body *b, struct ws_ptx_inst *i, enum ws_rw_async kind)
{
	struct ws_code *c = ws_code_at(b->race->p, b->f, i, WS_BEFORE);
	const char *n = kind == WS_RW_PRODUCT_WAIT ? ws_race_number(b->race->p, (uint32_t)i->ops[0].imm) : NULL;
	bool done = true;

	ws_race_bring_together(c);
	ws_code_end(c);
	if (!b->tensor || kind == WS_RW_PRODUCT_FENCE)
		return true;
	c = ws_code_at(b->race->p, b->f, i, WS_AFTER);
	done = ws_inline(c, n ? "race_product_wait" : "race_product_commit", n ? &n : NULL, n ? 1 : 0, NULL);
	ws_code_end(c);
	return done;
}

bool ws_race_asynchronous(struct body *b, struct ws_ptx_inst *i)
{
	switch (ws_rw_async(b->f, i)) {
	case WS_RW_COPY:
		return copy(b, i);
	case WS_RW_COPY_COMMIT:
		return ws_race_call_at(b, ws_code_at(b->race->p, b->f, i, WS_AFTER), "race_copy_commit", NULL);
	case WS_RW_COPY_WAIT:
		return copy_wait(b, i);
	case WS_RW_COPY_ARRIVE:
		return object(b, i, "race_copy_arrive", NULL, false);
	case WS_RW_BULK_LOAD:
		return b->race->remote ? operation(b, i, false) : bulk_copy(b, i, true);
	case WS_RW_BULK_STORE:
		return bulk_copy(b, i, false);
	case WS_RW_BULK_REDUCE:
		return bulk_reduce(b, i);
	case WS_RW_OPERATION: case WS_RW_MULTICAST:
		return operation(b, i, ws_rw_async(b->f, i) == WS_RW_MULTICAST);
	case WS_RW_BULK_COMMIT: case WS_RW_BULK_WAIT:
		return bulk_group(b, i, ws_rw_async(b->f, i) == WS_RW_BULK_WAIT);
	case WS_RW_OBJECT_INIT:
		return object_begin(b, i);
	case WS_RW_OBJECT_TX:
		return object(b, i, NULL, NULL, false);
	case WS_RW_OBJECT_PEER:
		return object(b, i, "race_peer_arrive", NULL, false);
	case WS_RW_OBJECT_ARRIVE:
		return object_arrive(b, i);
	case WS_RW_OBJECT_WAIT:
		return object_wait(b, i);
	case WS_RW_TENSOR_LOAD: case WS_RW_TENSOR_STORE:
		return tensor(b, i, ws_rw_async(b->f, i) == WS_RW_TENSOR_LOAD);
	case WS_RW_PRODUCT:
		return product(b, i);
	case WS_RW_PRODUCT_COMMIT: case WS_RW_PRODUCT_WAIT: case WS_RW_PRODUCT_FENCE:
		return product_group(b, i, ws_rw_async(b->f, i));
	default:
		return true;
	}
}
