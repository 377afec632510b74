/* External: which formulas of fields.external change in time, and what they say on the nodes. */
#ifndef RADIXPIC_CONFIG_EXTERNAL_H
#define RADIXPIC_CONFIG_EXTERNAL_H

#include "config/config.h"

/* Whether there is such a formula, with t in it. */
bool fields_external_has_time(const struct config *config, uint32_t component);

struct external_survey {
    const char *infinite;  /* "E" or "B", which is not finite somewhere; NULL: both are */
    double most_magnetic;  /* |B|, with the uniform B; NaN where one is not finite */
    double divergence;     /* the largest |div B|, in units of the largest |dBx/dx| + |dBy/dy| */
    double place[2], time; /* where it is, or where one is not finite */
};

/* On up to 128 nodes along an axis, at equal distances, and where there is t at five times of the run. Across
 * the ends of the box too, where the formulas begin again. */
struct external_survey external_survey(const struct config *config);

#endif
