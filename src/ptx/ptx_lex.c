/* ptx_lex.c - PTX text to tokens (PTX ISA 9.0, chapter 4). Any bytes are taken; what is no token becomes TK_BAD. */
#include "ptx/ptx_priv.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_word(char c) { return is_alpha(c) || is_digit(c) || c == '_' || c == '$'; }

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void bad(struct lexer *lx, struct token *t, const char *why)
{
	t->kind = TK_BAD;
	lx->error = why;
}

/* Blanks and comments. false: a comment has no end (t is then TK_BAD). */
static bool skip_blanks(struct lexer *lx, struct token *t)
{
	const char *s = lx->text;
	uint32_t p = lx->pos;

	for (;; p++) {
		char c = s[p];

		if (c == '\n') {
			lx->line++;
		} else if (c == '/' && s[p + 1] == '/') {
			while (p + 1 < lx->end && s[p + 1] != '\n')
				p++;
		} else if (c == '/' && s[p + 1] == '*') {
			uint32_t start = p, line = lx->line;

			for (p += 2; p < lx->end && !(s[p] == '*' && s[p + 1] == '/'); p++)
				lx->line += s[p] == '\n';
			if (p >= lx->end) {
				t->off = start;
				t->line = line;
				t->len = 2;
				lx->pos = lx->end;
				bad(lx, t, "this comment has no end");
				return false;
			}
			p++;
		} else if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') {
			break;
		}
	}
	lx->pos = p < lx->end ? p : lx->end;
	return true;
}

/* 0f and 0d literals: exactly 8 or 16 hexadecimal digits give the bits (4.5.2). */
static uint32_t lex_float_bits(struct lexer *lx, struct token *t, uint32_t p, unsigned digits)
{
	const char *s = lx->text;
	unsigned n = 0;

	t->value = 0;
	for (; hex_digit(s[p]) >= 0; p++, n++)
		t->value = t->value << 4 | (uint64_t)hex_digit(s[p]);
	t->kind = digits == 8 ? TK_FLOAT32 : TK_FLOAT;
	if (n != digits)
		bad(lx, t, digits == 8 ? "a 0f literal has exactly 8 hexadecimal digits" :
		                         "a 0d literal has exactly 16 hexadecimal digits");
	return p;
}

static uint32_t lex_decimal_float(struct lexer *lx, struct token *t, uint32_t start, uint32_t p)
{
	const char *s = lx->text;
	char copy[64];
	size_t len;
	double d;

	if (s[p] == '.')
		for (p++; is_digit(s[p]); p++)
			;
	if (s[p] == 'e' || s[p] == 'E') {
		p++;
		if (s[p] == '+' || s[p] == '-')
			p++;
		while (is_digit(s[p]))
			p++;
	}
	len = p - start;
	if (len >= sizeof copy) {
		bad(lx, t, "this number is too long");
		return p;
	}
	memcpy(copy, s + start, len);
	copy[len] = 0;
	d = strtod(copy, NULL);
	memcpy(&t->value, &d, sizeof d);
	t->kind = TK_FLOAT;
	return p;
}

/* Decimal, 0x, 0b and octal integers with U (4.5.1). */
static uint32_t lex_integer(struct lexer *lx, struct token *t, uint32_t p)
{
	const char *s = lx->text;
	unsigned base = 10, digits = 0;
	uint64_t v = 0;
	bool over = false;

	if (s[p] == '0' && (s[p + 1] == 'x' || s[p + 1] == 'X'))
		base = 16, p += 2;
	else if (s[p] == '0' && (s[p + 1] == 'b' || s[p + 1] == 'B'))
		base = 2, p += 2;
	else if (s[p] == '0' && is_digit(s[p + 1]))
		base = 8, p++;
	for (; hex_digit(s[p]) >= 0 && (unsigned)hex_digit(s[p]) < base; p++, digits++) {
		uint64_t d = (uint64_t)hex_digit(s[p]);

		over |= v > (UINT64_MAX - d) / base;
		v = v * base + d;
	}
	t->kind = TK_INT;
	t->value = v;
	if (s[p] == 'U') {
		t->is_unsigned = true;
		p++;
	}
	if (!digits || is_word(s[p])) {
		while (is_word(s[p]))
			p++;
		bad(lx, t, "this is not a number");
	} else if (over) {
		bad(lx, t, "this number does not fit in 64 bits");
	}
	return p;
}

static uint32_t lex_number(struct lexer *lx, struct token *t, uint32_t start)
{
	const char *s = lx->text;
	uint32_t p = start;

	if (s[p] == '0' && (s[p + 1] == 'f' || s[p + 1] == 'F'))
		return lex_float_bits(lx, t, p + 2, 8);
	if (s[p] == '0' && (s[p + 1] == 'd' || s[p + 1] == 'D'))
		return lex_float_bits(lx, t, p + 2, 16);
	while (is_digit(s[p]))
		p++;
	if ((s[p] == '.' && !is_alpha(s[p + 1])) ||
	    ((s[p] == 'e' || s[p] == 'E') && s[start + 1] != 'x' && s[start + 1] != 'X'))
		return lex_decimal_float(lx, t, start, p);
	return lex_integer(lx, t, start);
}

static uint32_t lex_string(struct lexer *lx, struct token *t, uint32_t p)
{
	const char *s = lx->text;

	for (p++; p < lx->end && s[p] != '"' && s[p] != '\n'; p++)
		if (s[p] == '\\' && p + 1 < lx->end && s[p + 1] != '\n')
			p++;
	t->kind = TK_STRING;
	if (p >= lx->end || s[p] != '"') {
		bad(lx, t, "this string has no end");
		return p;
	}
	return p + 1;
}

static uint32_t lex_word(struct lexer *lx, struct token *t, uint32_t start)
{
	const char *s = lx->text;
	uint32_t p = start + 1;

	if (s[start] == '.') {
		while (is_word(s[p]) || (s[p] == ':' && s[p + 1] == ':' && p++))
			p++;
		t->kind = TK_DOT;
		if (p == start + 1) {
			t->kind = TK_PUNCT;
			t->ch = '.';
			return p;
		}
	} else {
		while (is_word(s[p]))
			p++;
		t->kind = TK_IDENT;
		if (p == start + 1 && s[start] == '%') {
			t->kind = TK_PUNCT;
			t->ch = '%';
			return p;
		}
	}
	t->name = ws_names_get(lx->names, s + start, p - start);
	return p;
}

static bool stray(char c)
{
	return (unsigned char)c >= 127 || (unsigned char)c < 9 || ((unsigned char)c > 13 && (unsigned char)c < 32) ||
	       c == '\\' || c == '`' || c == '\'' || c == '#';
}

static uint32_t lex_punct(struct lexer *lx, struct token *t, uint32_t p)
{
	static const struct { char text[3]; uint8_t kind; } pairs[] = {
		{ "<<", TK_SHL }, { ">>", TK_SHR }, { "<=", TK_LE }, { ">=", TK_GE }, { "==", TK_EQ }, { "!=", TK_NE },
		{ "&&", TK_ANDAND }, { "||", TK_OROR }
	};
	const char *s = lx->text;

	for (unsigned i = 0; i < WS_COUNT(pairs); i++) {
		if (s[p] == pairs[i].text[0] && s[p + 1] == pairs[i].text[1]) {
			t->kind = pairs[i].kind;
			return p + 2;
		}
	}
	t->kind = TK_PUNCT;
	t->ch = s[p];
	if (!stray(s[p]))
		return p + 1;
	bad(lx, t, "this character cannot stand in PTX");
	while (p < lx->end && stray(s[p]))       /* one message for all that stand together */
		p++;
	return p;
}

/* The text ends with a NUL behind lx->end, so that looking one character ahead is safe everywhere. */
void ws_lex(struct lexer *lx, struct token *t)
{
	char c;

	*t = (struct token){ .kind = TK_END };
	if (!skip_blanks(lx, t))
		return;
	t->off = lx->pos;
	t->line = lx->line;
	if (lx->pos >= lx->end)
		return;
	c = lx->text[lx->pos];
	if (is_digit(c))
		lx->pos = lex_number(lx, t, lx->pos);
	else if (is_alpha(c) || c == '_' || c == '$' || c == '%' || c == '.')
		lx->pos = lex_word(lx, t, lx->pos);
	else if (c == '"')
		lx->pos = lex_string(lx, t, lx->pos);
	else
		lx->pos = lex_punct(lx, t, lx->pos);
	t->len = lx->pos - t->off;
}

bool ws_lex_block(struct lexer *lx)
{
	struct lexer at = *lx;
	struct token none;
	unsigned depth = 1;

	while (depth && at.pos < at.end) {
		char c = at.text[at.pos];

		if (c == '"') {
			at.pos = lex_string(&at, &none, at.pos);
		} else if (c == '\n' || c == '/') {
			uint32_t here = at.pos;

			if (!skip_blanks(&at, &none))
				return false;
			at.pos += at.pos == here;
		} else {
			depth += c == '{' ? 1 : c == '}' ? -1u : 0;
			at.pos++;
		}
	}
	if (!depth)
		*lx = at;
	return !depth;
}
