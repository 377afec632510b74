/* External: what the formulas of B in fields.external say on the nodes, for `check`. */
#ifndef RADIXPIC_CONFIG_EXTERNAL_H
#define RADIXPIC_CONFIG_EXTERNAL_H

#include "config/config.h"

struct external_survey {
    double most_magnetic;  /* |B|, with the uniform B */
    double divergence;     /* the largest |div B|, in units of the largest |dBx/dx| + |dBy/dy| */
    double place[2], time; /* where it is */
};

/* On up to 128 nodes along an axis, at equal distances, and where there is t at five times of the run. Across
 * the ends of the box too, where the formulas begin again. Without formulas it is the uniform B. */
struct external_survey external_survey(const struct config *config);

#endif
