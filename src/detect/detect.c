/* detect.c - the list of detectors. */
#include "detect/detect.h"

#include <string.h>

extern const struct ws_detector ws_detector_shadow;

static const struct ws_detector *const detectors[] = {&ws_detector_shadow};

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
