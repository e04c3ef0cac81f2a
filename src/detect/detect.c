/* detect.c - the list of detectors. */
#include "detect/detect.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

extern const struct ws_detector ws_detector_shadow, ws_detector_exact, ws_detector_compare, ws_detector_recent,
                                ws_detector_touched;

static const struct ws_detector *const detectors[] = {&ws_detector_shadow, &ws_detector_exact, &ws_detector_compare,
                                                        &ws_detector_recent, &ws_detector_touched};

const struct ws_detector *ws_detector_find(const char *name)
{
	for (size_t i = 0; i < WS_COUNT(detectors); i++)
		if (!strcmp(detectors[i]->name, name))
			return detectors[i];
	return NULL;
}

const struct ws_detector *ws_detector_at(size_t i)
{
	return i < WS_COUNT(detectors) ? detectors[i] : NULL;
}

struct ws_detect_filter {
	bool has_re;
	regex_t re;
	uint64_t skip, count, seen;          /* seen: launches that match, so far */
};

struct ws_detect_filter *ws_detect_filter_new(const struct ws_detect_config *config)
{
	struct ws_detect_filter *f = ws_alloc(sizeof *f);

	f->skip = config->launch_skip;
	f->count = config->launch_count;
	f->has_re = config->kernel_regex && regcomp(&f->re, config->kernel_regex, REG_EXTENDED | REG_NOSUB) == 0;
	return f;
}

void ws_detect_filter_free(struct ws_detect_filter *f)
{
	if (f && f->has_re)
		regfree(&f->re);
	free(f);
}

const char *ws_detect_left_out(struct ws_detect_filter *f, const char *kernel)
{
	if (f->has_re && regexec(&f->re, kernel ? kernel : "", 0, NULL, 0) != 0)
		return "left out by --kernel";
	if (f->seen++ < f->skip)
		return "launches left out by --launch-skip";
	if (f->count && f->seen - f->skip > f->count)
		return "launches left out by --launch-count";
	return NULL;
}
