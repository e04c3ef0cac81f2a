/* units.c - the list of units, and what is said of them on the command line. */
#include "units/units.h"

#include <string.h>

static const struct ws_unit_ops *const units[] = { &ws_unit_simt_lock, &ws_unit_lock_queue, &ws_unit_haccrg };

const char *const ws_lock_instructions[] = {
	"__ws_lock", "__ws_unlock", "__ws_try_lock", "__ws_try_lock_for", "__ws_wait", "__ws_signal", "__ws_grid_barrier", NULL
};

const struct ws_unit_ops *ws_unit_find(const char *name, size_t len)
{
	for (size_t i = 0; i < WS_COUNT(units); i++)
		if (strlen(units[i]->name) == len && !memcmp(units[i]->name, name, len))
			return units[i];
	return NULL;
}

static bool number(const char *s, size_t n, uint32_t *out)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9' || v > UINT32_MAX)
			return false;
		v = 10 * v + (uint64_t)(s[i] - '0');
	}
	*out = (uint32_t)v;
	return n && v <= UINT32_MAX;
}

/* "key=value" */
static bool set(const struct ws_unit_ops *u, const char *s, size_t n, uint32_t *values, struct ws_buf *why)
{
	const char *equals = memchr(s, '=', n);
	size_t key = equals ? (size_t)(equals - s) : n;

	for (size_t i = 0; u->options && u->options[i].name; i++) {
		const struct ws_unit_option *o = &u->options[i];

		if (strlen(o->name) != key || memcmp(o->name, s, key))
			continue;
		if (equals && number(equals + 1, n - key - 1, &values[i]) && values[i] >= o->low && values[i] <= o->high)
			return true;
		ws_buf_printf(why, "'%s' of unit '%s' must be a whole number from %u to %u", o->name, u->name, o->low, o->high);
		return false;
	}
	ws_buf_printf(why, "unit '%s' has no option '%.*s'; it has:", u->name, (int)key, s);
	for (size_t i = 0; u->options && u->options[i].name; i++)
		ws_buf_printf(why, " %s", u->options[i].name);
	return false;
}

const struct ws_unit_ops *ws_unit_parse(const char *text, uint32_t values[WS_UNIT_OPTIONS], struct ws_buf *why)
{
	size_t n = strcspn(text, ",");
	const struct ws_unit_ops *u = ws_unit_find(text, n);

	if (!u) {
		ws_buf_printf(why, "there is no unit '%.*s'; there are:", (int)n, text);
		for (size_t i = 0; i < WS_COUNT(units); i++)
			ws_buf_printf(why, " %s", units[i]->name);
		return NULL;
	}
	for (size_t i = 0; u->options && u->options[i].name; i++)
		values[i] = u->options[i].preset;
	for (text += n; *text; text += n) {
		text++;
		n = strcspn(text, ",");
		if (!set(u, text, n, values, why))
			return NULL;
	}
	return u->possible && !u->possible(values, why) ? NULL : u;
}
