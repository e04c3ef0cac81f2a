/* Names of kernels as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/demangle.h"

static void is(const char *mangled, const char *plain)
{
	char *s = ws_demangle(mangled);

	assert_string_equal(s, plain);
	free(s);
}

static void functions(void **state)
{
	is("_Z3addPKfS0_Pfi", "add");
	is("_Z6reduceILi256EEvPi", "reduce<256>");
	is("_ZN3foo3barIfEEvT_", "foo::bar<float>");
}

static void others_stay(void **state)
{
	is("main", "main");
	is("", "");
	is("_Z", "_Z");
	is("_Z99999999999x", "_Z99999999999x");
}

static void is_variable(const char *mangled, bool shared, const char *plain)
{
	char *s = ws_plain_variable(mangled, shared);

	assert_string_equal(s, plain);
	free(s);
}

static void variables(void **state)
{
	is_variable("_ZZ6kernelPiS_E4tile", true, "tile");
	is_variable("_ZZ6kernelPiS_E4tile_$_2", true, "tile.2");
	is_variable("_ZZ6kernelPiS_E4tile_$_", true, "tile");
	is_variable("_ZN4data5tableE", false, "data::table");
	is_variable("_ZN4data5tableE_$_10", false, "data::table.10");
	is_variable("table", true, "table");
	is_variable("", true, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(functions), cmocka_unit_test(others_stay),
	                                    cmocka_unit_test(variables) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
