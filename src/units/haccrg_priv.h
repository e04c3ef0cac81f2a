/* haccrg_priv.h - the inside of the unit haccrg: race detection as hardware (Holey, "Transactional execution and dynamic data
 * race detection on GPUs", 2015, chapter 6; sections below are its). */
#ifndef WS_HACCRG_PRIV_H
#define WS_HACCRG_PRIV_H

#include "detect/signature.h"
#include "units/units.h"

enum ws_hac_option {
	HAC_SHARED, HAC_GLOBAL, HAC_HARDWARE, HAC_SYNC, HAC_FENCE, HAC_ATOMIC, HAC_BINS, HAC_TID, HAC_BID, HAC_SID, HAC_STALE,
	HAC_MARKS, HAC_ATOMICS, HAC_WAIT, HAC_TLB, HAC_PAGES, HAC_SHADOW_PAGES, HAC_WALK, HAC_OPTIONS
};

/* ---- haccrg_shadow.c: entries and what an access does to one ---- */
/* The M and S bits of the text: both set, none, M, S. */
enum ws_hac_state { HAC_FRESH, HAC_READ, HAC_WRITTEN, HAC_READERS };
struct ws_hac_entry {
	uint16_t tid, sync, fence;       /* of the first reader or last writer, as wide as the options say */
	uint8_t bid, sid;                /* block slot, core */
	uint32_t locks;                  /* atomic ID */
	uint8_t state;
	bool atomic;                     /* option atomics: it was an atomic operation */
};
struct ws_hac_access {
	struct ws_hac_entry by;          /* tid to locks, atomic */
	bool write;
	bool hit;                        /* read from a first-level cache */
	bool shared;                     /* shared memory: no fences, no locks */
};
enum ws_hac_race {
	HAC_NONE, HAC_WAR, HAC_RAW, HAC_WAW, HAC_STALE_READ, HAC_NO_COMMON_LOCK, HAC_NOT_LOCKED, HAC_NO_FENCE_IN_SECTION,
	HAC_SAME_WARP, HAC_RACES
};
struct ws_hac_form { struct ws_signature_form locks; bool fences, stale; };
/* Checks and updates the entry. fence: the fence ID that the warp of the entry has now. *changed: the entry has to be written
 * back. */
enum ws_hac_race ws_hac_step(const struct ws_hac_form *f, struct ws_hac_entry *e, const struct ws_hac_access *a,
                             uint16_t fence, bool *changed);

/* Entries of global memory by number; fresh ones where there were none. */
struct ws_hac_shadow { struct ws_hac_chunk **chunk; size_t n, cap; uint64_t epoch; };
struct ws_hac_entry *ws_hac_entry_at(struct ws_hac_shadow *s, uint64_t number);
void ws_hac_shadow_free(struct ws_hac_shadow *s);

/* ---- haccrg_found.c: races, one for each place, kind and memory ---- */
struct ws_hac_found {
	const struct ws_site *site;
	enum ws_hac_race race;
	bool shared, write;
	char *kernel, *place;            /* owned */
	uint64_t block, addr, count;     /* of the first time; how often */
	uint32_t thread;
	struct ws_hac_entry other;
};
struct ws_hac_list { struct ws_hac_found *found; size_t n, cap, last; uint64_t by_kind[HAC_RACES]; };
void ws_hac_add(struct ws_hac_list *l, const struct ws_hac_found *f);    /* without kernel, place and count */
bool ws_hac_show(const struct ws_hac_list *l, unsigned i, struct ws_buf *text, struct ws_buf *json);
void ws_hac_list_free(struct ws_hac_list *l);

/* ---- haccrg_tlb.c: 6.3.2, "Supporting Virtual Memory" ---- */
enum { HAC_PAGE = 12 };                  /* bits */
struct ws_hac_page { uint64_t page, ready, used; };
struct ws_hac_tlb { struct ws_hac_page *entry; uint32_t n; uint64_t clock, hits, misses; };
void ws_hac_tlb_init(struct ws_hac_tlb *t, uint32_t n);
/* When the address of the page is known: now, or when the walk of the page table ends. */
uint64_t ws_hac_tlb_look(struct ws_hac_tlb *t, uint64_t page, uint64_t now, uint32_t walk);

/* ---- the unit ---- */
enum { HAC_LOCKS = 4 };                  /* locks of a thread that are remembered one by one, to see which is released */
struct ws_hac_thread { uint64_t lock[HAC_LOCKS]; uint32_t signature; uint16_t held; };
struct ws_hac_block {                    /* a resident block */
	uint32_t core, slot, warps;
	uint16_t sync;
	bool touched;                    /* global memory since the last barrier */
	uint64_t clear_until;            /* shared entries are being reset */
	struct ws_hac_entry *shared;
	struct ws_hac_thread *thread;    /* atomic ID registers */
	uint32_t holding;                /* threads that hold locks */
	struct ws_hac_block *next;       /* free */
};
struct ws_hac_instruction {              /* of a warp, on its way */
	uint32_t left;                   /* transactions whose check is to come */
	struct ws_hac_access access;
	struct ws_hac_found found;       /* what a race would say */
	uint32_t bytes, first_thread;
	uint32_t locks[WS_WARP];
	uint64_t addr[WS_WARP];
	struct ws_hac_instruction *next; /* free */
};
struct ws_hac_record {                   /* of a transaction */
	struct ws_hac_instruction *in;
	uint64_t addr;
	uint32_t size, lanes;
	bool hit;
	struct ws_hac_record *next;      /* free */
};
struct ws_hac {
	uint32_t option[HAC_OPTIONS];
	struct ws_unit_machine m;
	struct ws_hac_form form;
	uint32_t bits;                   /* of an entry of global memory */
	struct ws_hac_shadow shadow;
	struct ws_hac_list list;
	uint64_t *slots;                 /* by core: slots in use */
	uint16_t *fence;                 /* the cores' fence IDs, by sid, bid and warp */
	uint16_t **file;                 /* a race register file for each partition */
	size_t fences;
	struct ws_hac_tlb *tlb, *shadow_tlb;     /* by core */
	uint64_t *page_used;             /* a bit for each page of global memory that was accessed */
	size_t npages, cap_pages;
	struct ws_arena *arena;          /* of the launch: blocks, instructions, records */
	const struct ws_obs_launch *launch;
	struct ws_hac_block *free_blocks;
	struct ws_hac_instruction *free_instructions;
	struct ws_hac_record *free_records;
	uint64_t global_checks, shared_checks, hits_told, updates, fences_told, barriers, syncs, most_sync, most_fence, wraps,
		reset_cycles, sections, data_bytes, most_bytes, pages;
};

/* haccrg_locks.c: atomic IDs (6.2.2). A thread gets a lock, or gives it back. */
void ws_hac_locked(struct ws_hac *u, struct ws_hac_block *b, uint32_t thread, uint64_t addr);
void ws_hac_unlocked(struct ws_hac_block *b, uint32_t thread, uint64_t addr);
/* Without marks: an atomic has happened; lanes write; an atomic begins. */
void ws_hac_guess(struct ws_hac *u, const struct ws_obs_warp *w, const struct ws_access *a);
void ws_hac_guess_release(const struct ws_obs_warp *w, uint32_t lanes, const uint64_t *addr);

#endif
