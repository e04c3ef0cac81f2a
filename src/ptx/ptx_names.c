/* ptx_names.c - one hash table for all words of a module. Keywords (opcodes, modifiers, directives, special registers)
 * are entered first, so that the lexer's one look-up also says what a word means. */
#include "ptx/ptx_priv.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const char *s, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h ^ h >> 15;
}

static void grow(struct names *n)
{
	size_t nb = n->nbuckets ? n->nbuckets * 2 : 4096;
	struct name **b = ws_alloc(nb * sizeof *b);

	for (size_t i = 0; i < n->nbuckets; i++) {
		for (struct name *e = n->buckets[i], *next; e; e = next) {
			next = e->next;
			e->next = b[e->hash & (nb - 1)];
			b[e->hash & (nb - 1)] = e;
		}
	}
	free(n->buckets);
	n->buckets = b;
	n->nbuckets = nb;
}

static struct name *find(const struct names *n, const char *s, size_t len, uint32_t h)
{
	for (struct name *e = n->buckets[h & (n->nbuckets - 1)]; e; e = e->next)
		if (e->hash == h && e->len == len && memcmp(e->str, s, len) == 0)
			return e;
	return NULL;
}

struct name *ws_names_find(const struct names *n, const char *s, size_t len)
{
	return find(n, s, len, hash_of(s, len));
}

/* Fills e, an entry that is not in the table yet, and enters it. The string must live as long as the table. */
static struct name *enter(struct names *n, struct name *e, const char *s, size_t len, uint32_t h)
{
	if (n->count >= n->nbuckets)
		grow(n);
	e->str = s;
	e->len = (uint32_t)len;
	e->hash = h;
	e->next = n->buckets[h & (n->nbuckets - 1)];
	n->buckets[h & (n->nbuckets - 1)] = e;
	n->count++;
	return e;
}

struct name *ws_names_get(struct names *n, const char *s, size_t len)
{
	uint32_t h = hash_of(s, len);
	struct name *e = find(n, s, len, h);

	if (e)
		return e;
	e = ws_arena_alloc(n->arena, sizeof *e);
	return enter(n, e, ws_arena_strndup(n->arena, s, len), len, h);
}

static const char *const directive_words[] = {
	"",
#define DIRECTIVE(id, word) word,
#include "ptx/ptx_directives.def"
#undef DIRECTIVE
};
_Static_assert(WS_COUNT(directive_words) == D_COUNT, "a directive is missing");

/* A keyword, whose string is static; *block has room for a new entry. */
static struct name *keyword(struct names *n, struct name **block, const char *s)
{
	size_t len = strlen(s);
	uint32_t h = hash_of(s, len);
	struct name *e = find(n, s, len, h);

	return e ? e : enter(n, (*block)++, s, len, h);
}

void ws_names_init(struct names *n, struct ws_arena *arena)
{
	struct name *block =
		ws_arena_alloc(arena, (WS_OP_COUNT + ws_ptx_nmods + D_COUNT + WS_SR_COUNT) * sizeof *block);

	*n = (struct names){ .arena = arena };
	grow(n);
	for (unsigned op = 1; op < WS_OP_COUNT; op++)
		if (op != WS_OP_unknown)
			keyword(n, &block, ws_op_info(op)->name)->op = (uint16_t)op;
	n->mod_next = ws_arena_alloc(arena, ws_ptx_nmods * sizeof *n->mod_next);
	for (unsigned i = ws_ptx_nmods; i-- > 0;) {
		struct name *e = keyword(n, &block, ws_ptx_mods[i].word);

		n->mod_next[i] = e->mod;
		e->mod = (uint16_t)(i + 1);
	}
	for (unsigned d = 1; d < D_COUNT; d++)
		keyword(n, &block, directive_words[d])->directive = (uint16_t)d;
	for (unsigned s = 1; s < WS_SR_COUNT; s++)
		keyword(n, &block, ws_sreg_name(s))->sreg = (uint16_t)s;
}

void ws_names_free(struct names *n)
{
	free(n->buckets);
	n->buckets = NULL;
}
