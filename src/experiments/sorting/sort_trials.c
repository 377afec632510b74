/* Sort trials: the best of those that a search has timed. */
#include "experiments/sorting/sort_search.h"

static const double NOISE = 1.02; /* what is not faster than this does not displace a default */

static bool fits(const struct sort_trial *trial, enum sort_method method, uint32_t passes)
{
    return (method == SORT_METHOD_AUTO || method == trial->plan.method) &&
           (passes == SORT_AUTO || passes == trial->plan.passes);
}

/* The fastest trial of those that fit, or of the final or the default ones among them. */
static const struct sort_trial *fastest_of(const struct sort_search *search, enum sort_method method,
                                           uint32_t passes, bool final_only, bool default_only)
{
    const struct sort_trial *best = NULL;
    for (size_t n = 0; n < search->trial_count; n++) {
        const struct sort_trial *trial = &search->trials[n];
        if (!trial->is_dropped && fits(trial, method, passes) && (!final_only || trial->is_final) &&
            (!default_only || trial->is_default) && (!best || trial->seconds < best->seconds))
            best = trial;
    }
    return best;
}

const struct sort_trial *sort_search_best(const struct sort_search *search, enum sort_method method,
                                          uint32_t passes)
{
    const bool final_only = fastest_of(search, method, passes, true, false) != NULL;
    const struct sort_trial *best = fastest_of(search, method, passes, final_only, false);
    const struct sort_trial *usual = fastest_of(search, method, passes, final_only, true);
    return usual && usual->seconds <= NOISE * best->seconds ? usual : best;
}

const struct sort_trial *sort_search_default(const struct sort_search *search, uint32_t passes)
{
    const struct sort_trial *found = NULL; /* of auto: the first default, whose passes were left open */
    for (size_t n = 0; n < search->trial_count && !found; n++)
        if (search->trials[n].is_default && fits(&search->trials[n], SORT_METHOD_AUTO, passes))
            found = &search->trials[n];
    return found;
}
