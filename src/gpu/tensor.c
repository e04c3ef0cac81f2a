/* tensor.c - copies of tiles of tensors between global and shared memory (PTX ISA 9.0, Tensors; Data Movement and
 * Conversion Instructions: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor).
 *
 * A box of elements starts at the coordinates; in shared memory it is dense, dimension 0 first, and its chunks of 16
 * bytes are permuted by the swizzle mode within each 128 bytes. Elements outside of the tensor are filled when they are
 * read and skipped when they are written. */
#include "gpu/async_priv.h"

#include <stdlib.h>
#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

enum { CHUNK = 16, LINE = 128, MAX_ROW = 256 * 8 };

/* ---- the shape of a box ---- */
struct row {                             /* along dimension 0 */
	uint32_t at;                     /* bytes from the start of the box */
	uint32_t first, n;               /* elements that lie in the tensor */
	uint64_t addr;                   /* of the first of them */
};

static unsigned steps(const struct ws_tensormap *m, unsigned dim)
{
	return (m->box[dim] + m->step[dim] - 1u) / m->step[dim];
}

static uint32_t row_bytes(const struct ws_tensormap *m)
{
	return steps(m, 0) * ws_type_bytes(m->type);
}

static uint32_t count_rows(const struct ws_tensormap *m)
{
	uint32_t n = 1;

	for (unsigned i = 1; i < m->rank; i++)
		n *= steps(m, i);
	return n;
}

/* From row to row in shared memory: a swizzled row takes as many bytes as the mode says (measured on an H200). */
static uint32_t row_pitch(const struct ws_tensormap *m)
{
	return m->swizzle ? m->swizzle : row_bytes(m);
}

/* What an mbarrier object is told of. */
static uint32_t box_bytes(const struct ws_tensormap *m)
{
	return count_rows(m) * row_bytes(m);
}

/* Elements e of the row with 0 <= start + e * step < size. */
static void inside(struct row *r, int64_t start, unsigned step, int64_t size, uint32_t count)
{
	int64_t first = start < 0 ? (-start + step - 1) / step : 0;
	int64_t end = size > start ? (size - 1 - start) / step + 1 : 0;

	end = end < count ? end : count;
	r->first = (uint32_t)first;
	r->n = end > first ? (uint32_t)(end - first) : 0;
}

static struct row row_at(const struct ws_tensormap *m, const int32_t *at, uint32_t index)
{
	struct row r = {.at = index * row_pitch(m)};
	bool out = false;

	r.addr = m->address;
	for (unsigned i = 1; i < m->rank; i++) {
		int64_t c = at[i] + (int64_t)(index % steps(m, i)) * m->step[i];

		index /= steps(m, i);
		out |= c < 0 || (uint64_t)c > m->dim_less_1[i];
		r.addr += (uint64_t)c * m->stride[i - 1];
	}
	inside(&r, at[0], m->step[0], (int64_t)m->dim_less_1[0] + 1, steps(m, 0));
	r.addr += (uint64_t)(at[0] + (int64_t)r.first * m->step[0]) * ws_type_bytes(m->type);
	if (out)
		r.n = 0;
	return r;
}

/* (PTX ISA 9.0, Swizzling modes): bits 4 and up of the address are changed by those from bit 7 on. */
static uint32_t swizzled(const struct ws_tensormap *m, uint32_t offset)
{
	uint32_t bits = m->swizzle / 16 ? m->swizzle / 16u - 1 : 0;

	return offset ^ (offset >> 7 & bits) << 4;
}

/* Bytes of shared memory that the box touches, at most. */
static uint32_t span_of(const struct ws_tensormap *m)
{
	uint32_t bytes = count_rows(m) * row_pitch(m);

	return m->swizzle ? (bytes + LINE - 1) & ~(LINE - 1u) : bytes;
}

/* ---- the effects ---- */
/* The NaN is 0x7ff7 in every 16 bits (measured on an H200). */
static void fill(const struct ws_tensormap *m, uint8_t *to, uint32_t n)
{
	size_t bytes = n * (size_t)ws_type_bytes(m->type);

	memset(to, 0, bytes);
	for (size_t i = 0; m->fill == WS_FILL_NAN && i < bytes; i += 2)
		memcpy(to + i, &(uint16_t){0x7ff7}, 2);
}

static void flush_subnormals(uint8_t *row, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v;

		memcpy(&v, row + i * 4, 4);
		if (!(v & 0x7f800000))
			v &= 0x80000000;
		memcpy(row + i * 4, &v, 4);
	}
}

static bool global_bytes(struct ws_exec *x, const struct ws_job *j, const struct row *r, uint8_t **host)
{
	const struct ws_tensormap *m = &j->u.tensor.map;
	uint64_t bytes = ((uint64_t)(r->n - 1) * m->step[0] + 1) * ws_type_bytes(m->type);

	*host = ws_memmap_host(&x->gpu->map, r->addr, bytes);
	return *host || ws_fail_origin(x, &j->from, WS_GPU_BAD_ADDRESS,
	                               "invalid address: the tensor's memory at 0x%llx, "
	                               "%llu bytes of it, is not there any more", (unsigned long long)r->addr,
	                               (unsigned long long)bytes);
}

static bool load_row(struct ws_exec *x, const struct ws_job *j, const struct row *r)
{
	const struct ws_tensormap *m = &j->u.tensor.map;
	unsigned w = ws_type_bytes(m->type), pitch = m->step[0] * w;
	uint8_t row[MAX_ROW], *host;

	if (r->n < steps(m, 0))
		fill(m, row, steps(m, 0));
	if (r->n) {
		if (!global_bytes(x, j, r, &host))
			return false;
		if (pitch == w)
			memcpy(row + r->first * w, host, r->n * (size_t)w);
		else
			for (uint32_t i = 0; i < r->n; i++)
				memcpy(row + (r->first + i) * w, host + i * (size_t)pitch, w);
		if (m->flush)
			flush_subnormals(row + r->first * w, r->n);
	}
	for (uint32_t i = 0; i < row_bytes(m); i += CHUNK)
		memcpy(j->u.tensor.shared + swizzled(m, j->u.tensor.offset + r->at + i) - j->u.tensor.offset, row + i,
		       CHUNK);
	return true;
}

static void reduce_row(const struct ws_job *j, ws_atomic_fn *fn, uint8_t *host, const uint8_t *row, uint32_t n)
{
	const struct ws_tensormap *m = &j->u.tensor.map;
	unsigned w = ws_type_bytes(m->type);
	uint8_t *at[WS_WARP];
	_Alignas(64) uint8_t values[WS_WARP * 8], old[WS_WARP * 8];

	for (uint32_t i = 0; i < n; i += WS_WARP) {
		uint32_t k = n - i < WS_WARP ? n - i : WS_WARP;
		struct ws_atomic_args args = {.host = at, .mask = k == WS_WARP ? UINT32_MAX : (1u << k) - 1,
		                              .a = {values},
		                              .d = {old}};

		for (uint32_t l = 0; l < k; l++)
			at[l] = host + (i + l) * (size_t)m->step[0] * w;
		memcpy(values, row + i * w, k * w);
		fn(&args);
	}
}

static bool store_row(struct ws_exec *x, const struct ws_job *j, const struct row *r, ws_atomic_fn *fn)
{
	const struct ws_tensormap *m = &j->u.tensor.map;
	const uint8_t *from = j->copy ? j->copy : j->u.tensor.shared;
	unsigned w = ws_type_bytes(m->type);
	uint8_t row[MAX_ROW], *host;

	if (!r->n)
		return true;
	if (!global_bytes(x, j, r, &host))
		return false;
	for (uint32_t i = 0; i < row_bytes(m); i += CHUNK)
		memcpy(row + i, from + swizzled(m, j->u.tensor.offset + r->at + i) - j->u.tensor.offset, CHUNK);
	if (fn)
		reduce_row(j, fn, host, row + r->first * w, r->n);
	else
		for (uint32_t i = 0; i < r->n; i++)
			memcpy(host + i * (size_t)m->step[0] * w, row + (r->first + i) * w, w);
	return true;
}

static ws_atomic_fn *function_of(const struct ws_exec *x, const struct ws_dasync *d, unsigned type)
{
	struct ws_ptx_inst red = {.op = WS_OP_red, .atom = d->atom, .type = {(uint8_t)type}, .ntypes = 1, .vec = 1};
	const char *why;

	return ws_atomic_find(&red, WS_SPACE_GLOBAL, x->gpu->config.host_threads != 1, &why);
}

bool ws_tensor_run(struct ws_exec *x, struct ws_job *j)
{
	const struct ws_tensormap *m = &j->u.tensor.map;
	ws_atomic_fn *fn = j->d->atom ? function_of(x, j->d, m->type) : NULL;

	for (uint32_t i = 0; i < count_rows(m); i++) {
		struct row r = row_at(m, j->u.tensor.at, i);

		if (!(j->d->load ? load_row(x, j, &r) : store_row(x, j, &r, fn)))
			return false;
	}
	return true;
}

void ws_tensor_read_source(struct ws_job *j)
{
	uint32_t n = span_of(&j->u.tensor.map);

	j->copy = ws_alloc(n + 1);
	memcpy(j->copy, j->u.tensor.shared, n);
}

/* ---- the instructions ---- */
struct tile {
	struct ws_exec *x;
	const struct ws_dinst *in;
	const struct ws_dasync *d;
	uint32_t lane;
	uint64_t op;
	struct ws_tensormap map;
	int32_t at[WS_TENSOR_DIMS];
	struct ws_spot shared, mbar;
};

static bool failed(const struct tile *t, enum ws_gpu_errcode code, const char *what, unsigned long long value)
{
	return ws_exec_fail(t->x, t->in, 1u << t->lane, code, "%s (0x%llx)", what, value);
}

/* The descriptor, through a generic address (PTX ISA 9.0, Tensor-Map: in parameters, constant or global memory). */
static bool read_map(struct tile *t)
{
	const struct ws_dplace *p = t->d->load ? &t->d->src : &t->d->dst;
	uint64_t addr[WS_WARP], a;

	ws_addresses(t->x->frag->frame->regs, p->reg, p->width, p->off, addr);
	a = addr[t->lane];
	if (a & 63)
		return failed(t, WS_GPU_MISALIGNED, "the address of the tensor map is not a multiple of 64", a);
	if (!ws_generic_read(t->x, t->lane, a, &t->map, sizeof t->map))
		return failed(t, WS_GPU_BAD_ADDRESS, "the tensor map lies in no memory of the GPU", a);
	if (t->map.magic != WS_TENSORMAP_MAGIC || t->map.check != ws_tensormap_check(&t->map))
		return failed(t, WS_GPU_BAD_INSTRUCTION, "there is no tensor map at the address", a);
	if (t->map.rank != t->d->rank)
		return failed(t, WS_GPU_BAD_INSTRUCTION,
		              "the tensor has another number of dimensions than the instruction",
		              t->map.rank);
	if (t->d->atom && !function_of(t->x, t->d, t->map.type))
		return failed(t, WS_GPU_BAD_INSTRUCTION, "this reduction does not exist on the tensor's type",
		              t->map.type);
	for (unsigned i = 0; i < t->d->rank; i++)
		t->at[i] = (int32_t)ws_r32(t->x->frag->frame->regs, t->d->coord[i])[t->lane];
	if ((int64_t)t->at[0] * ws_type_bytes(t->map.type) % CHUNK)      /* measured: an H200 takes that for illegal */
		return failed(t, WS_GPU_BAD_INSTRUCTION, "the first coordinate, in bytes, is not a multiple of 16",
		              (unsigned long long)((int64_t)t->at[0] * ws_type_bytes(t->map.type)));
	return true;
}

/* Checks the rows in global memory, and tells the observer when `a` is not NULL. */
static bool rows(const struct tile *t, struct ws_access *a)
{
	const struct ws_tensormap *m = &t->map;
	unsigned w = ws_type_bytes(m->type);

	for (uint32_t i = 0; i < count_rows(m); i++) {
		struct row r = row_at(m, t->at, i);
		uint64_t bytes = ((uint64_t)(r.n - 1) * m->step[0] + 1) * w;
		struct ws_span s = {WS_SPACE_GLOBAL, r.addr, bytes, ws_memmap_find(&t->x->gpu->map, r.addr), NULL};

		if (!r.n)
			continue;
		if (!s.mem || !ws_mem_holds(s.mem, r.addr, bytes)) {
			ws_fail_address(t->x, t->in, t->lane, WS_GPU_BAD_ADDRESS, WS_SPACE_GLOBAL, r.addr,
			                (unsigned)bytes,
			                !t->d->load, "invalid address in the tensor");
			return false;
		}
		if (!a)
			continue;
		s.bytes = m->step[0] == 1 ? bytes : w;
		for (uint32_t e = 0; e < (m->step[0] == 1 ? 1 : r.n); e++, s.addr += m->step[0] * w)
			ws_copy_tell(t->x, t->in, a, &s);
	}
	return true;
}

/* The box in shared memory. Rows that do not fill their place leave gaps. */
static void tell_shared(const struct tile *t, struct ws_access *a)
{
	const struct ws_tensormap *m = &t->map;
	struct ws_span s = t->shared.span;

	if (row_pitch(m) == row_bytes(m)) {
		ws_copy_tell(t->x, t->in, a, &s);
		return;
	}
	s.bytes = CHUNK;
	for (uint32_t i = 0; i < count_rows(m); i++)
		for (uint32_t at = 0; at < row_bytes(m); at += CHUNK) {
			s.addr = swizzled(m, (uint32_t)t->shared.span.addr + i * row_pitch(m) + at);
			ws_copy_tell(t->x, t->in, a, &s);
		}
}

static bool start(struct tile *t, struct ws_block *to)
{
	const struct ws_dasync *d = t->d;
	struct ws_access global = {.sem = WS_SEM_WEAK, .async = d->track, .issuer = (uint8_t)t->lane}, shared;
	struct ws_job j = {.d = d, .from = ws_copy_origin(t->x, t->in, t->lane), .op = t->op, .lanes = 1u << t->lane};

	j.tx = box_bytes(&t->map);
	if (d->load) {
		j.mbar_block = j.dst_block = to;
		j.mbar = (uint32_t)t->mbar.span.addr;
		j.op = ws_copy_next_op(t->x, &j.from, to, j.mbar);
		if (!j.op)
			return false;
		global.mbar_block = &to->obs;
		global.mbar = j.mbar;
	}
	global.op = j.op;
	shared = global;
	global.kind = d->load ? WS_READ : d->atom ? WS_ATOMIC : WS_WRITE;
	shared.kind = d->load ? WS_WRITE : WS_READ;
	if (global.kind == WS_ATOMIC) {
		global.sem = WS_SEM_RELAXED;
		global.scope = WS_SCOPE_GPU;
		global.atom = d->atom;
	}
	t->shared.span.peer = to == t->x->block ? NULL : to;
	if (d->load && !rows(t, &global))
		return false;
	tell_shared(t, &shared);
	if (!d->load && !rows(t, &global))
		return false;
	j.u.tensor.map = t->map;
	memcpy(j.u.tensor.at, t->at, sizeof t->at);
	j.u.tensor.offset = (uint32_t)t->shared.span.addr;
	j.u.tensor.shared = to->shared + j.u.tensor.offset;
	return ws_copy_submit(t->x, &j);
}

static bool check_shared(const struct tile *t)
{
	if (t->shared.span.space != WS_SPACE_SHARED || (t->d->load && t->mbar.span.space != WS_SPACE_SHARED))
		return failed(t, WS_GPU_BAD_ADDRESS, "an address of the tensor copy is not in shared memory",
		              t->shared.span.addr);
	if (t->d->load && t->mbar.block != t->shared.block)
		return failed(t, WS_GPU_BAD_INSTRUCTION,
		              "the mbarrier object is in the shared memory of another block than "
		              "the destination", t->mbar.span.addr);
	return true;
}

static bool one_lane(struct tile *t)
{
	const struct ws_dasync *d = t->d;
	uint32_t ctas;

	if (!read_map(t) || !ws_copy_place(t->x, t->in, d->load ? &d->dst : &d->src, t->lane, span_of(&t->map), LINE,
	                                   d->load, &t->shared))
		return false;
	if (d->load && !ws_copy_place(t->x, t->in, &d->mbar, t->lane, 8, 8, true, &t->mbar))
		return false;
	if (!check_shared(t) || !rows(t, NULL))
		return false;
	t->shared.span.bytes = box_bytes(&t->map);
	if (d->ctas == WS_LANE_NONE)
		return start(t, t->shared.block);
	ctas = ws_r16(t->x->frag->frame->regs, d->ctas)[t->lane];
	if (!ws_copy_multicast(t->x, t->in, t->lane, ctas))
		return false;
	EACH_LANE(rank, ctas)
		if (!start(t, t->x->block->cluster->block[rank]))
			return false;
	return true;
}

enum ws_next ws_op_tensor(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	struct tile t = {.x = x, .in = in, .d = in->u.op.ptr};

	if (t.d->track == WS_ASYNC_BULK)
		t.op = ws_copy_number(x->warp, WS_ASYNC_BULK, mask);
	EACH_LANE(l, mask) {
		t.lane = l;
		if (!one_lane(&t))
			return WS_STOP;
	}
	return WS_NEXT;
}
