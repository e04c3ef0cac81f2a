/* class.c - what a check for races is told of its access; see class.h. */
#include "rewrite/class.h"

#include "device/race.h"

bool ws_rw_strong(const struct ws_rw_access *a)
{
	return a->sem != WS_SEM_WEAK;
}

bool ws_rw_acquires(const struct ws_rw_access *a)
{
	return a->kind != WS_RW_WRITE && (a->sem == WS_SEM_ACQUIRE || a->sem == WS_SEM_ACQ_REL || a->sem == WS_SEM_SC);
}

bool ws_rw_releases(const struct ws_rw_access *a)
{
	return a->kind != WS_RW_READ && (a->sem == WS_SEM_RELEASE || a->sem == WS_SEM_ACQ_REL || a->sem == WS_SEM_SC);
}

unsigned ws_rw_class_of(enum ws_scope scope, unsigned narrowest)
{
	unsigned above = scope == WS_SCOPE_SYS ? 3 : scope == WS_SCOPE_GPU ? 2 : scope == WS_SCOPE_CLUSTER ? 1 : 0;

	return narrowest + above;
}

bool ws_rw_may_lock(const struct ws_rw_access *a)
{
	const struct ws_ptx_inst *i = a->inst;

	return i->op == WS_OP_atom && (i->atom == WS_ATOM_CAS || i->atom == WS_ATOM_EXCH);
}

/* What a thread that waits for another one does again and again. */
static bool retries(const struct ws_rw_access *a)
{
	return ws_rw_strong(a) && !ws_rw_acquires(a) && (a->kind == WS_RW_READ || ws_rw_may_lock(a));
}

uint32_t ws_rw_what(const struct ws_rw_access *a, bool update, bool ordering)
{
	unsigned space = a->space == WS_SPACE_GLOBAL ? WS_RACE_GLOBAL : a->space == WS_SPACE_SHARED ? WS_RACE_SHARED :
			 a->space == WS_SPACE_SHARED_CLUSTER ? WS_RACE_CLUSTER : WS_RACE_GENERIC;
	bool atomic = a->kind == WS_RW_ATOMIC;
	unsigned narrowest = !atomic ? WS_RACE_STRONG_CTA : a->bytes < 8 ? WS_RACE_ATOMIC_CTA : WS_RACE_ATOMIC8_CTA;
	unsigned kind = ws_rw_strong(a) ? ws_rw_class_of(a->scope, narrowest) : update ? WS_RACE_UPDATE : WS_RACE_WEAK;

	return WS_RACE_BYTES(a->bytes < WS_RW_MOST_CHECKED ? a->bytes : WS_RW_MOST_CHECKED) | WS_RACE_SPACE(space) | WS_RACE_CLASS(kind) |
	       (ws_rw_acquires(a) ? WS_RACE_ACQUIRES : 0) | (ws_rw_releases(a) ? WS_RACE_RELEASES : 0) | (atomic ? WS_RACE_RMW : 0) |
	       (atomic && !ordering ? WS_RACE_BARRIERS : 0) | (ordering && retries(a) ? WS_RACE_RETRIES : 0);
}
