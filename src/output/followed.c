/* Followed: ids that a selection finds on this rank, then those of all ranks. */
#include "output/followed.h"

#include "base/integers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 1 << 16 /* ids that are read from the device */ };

static const char kept_path[] = "/tracks/kept";

ASCENDING(ascending, uint64_t)

static void sort(uint64_t *ids, size_t count)
{
    qsort(ids, count, sizeof *ids, ascending);
}

bool followed_are_fixed(const struct tracks_config *config)
{
    return config->rule.where[0] == '\0';
}

uint32_t followed_most(const struct tracks_config *config)
{
    return config->id_count > 0 ? config->id_count : config->count;
}

enum status followed_create(struct device *device, const struct config *config, struct followed *followed)
{
    const struct tracks_config *tracks = &config->output.tracks;
    struct species_names names = {.count = 1};
    *followed = (struct followed){
        .config = tracks, .species = species_find(config, tracks->species), .most = followed_most(tracks)};
    const double particles = (double)config->species[followed->species].particles;
    TRY(DEVICE_NEW_ARRAY(device, followed->ids, followed->most));
    if (!followed_are_fixed(tracks)) {
        strcpy(names.items[0], tracks->species);
        TRY(DEVICE_NEW_ARRAY(device, followed->found, followed->most + (size_t)AT_ONCE));
        return selection_create(device, config, &tracks->rule, &names, &followed->selection);
    }
    uint64_t first_id = 0;
    for (uint32_t s = 0; s < followed->species; s++)
        first_id += config->species[s].particles;
    followed->count = followed->most;
    for (uint32_t k = 0; k < followed->count; k++)
        followed->ids[k] =
            tracks->id_count > 0 ? tracks->ids[k] - first_id : (uint64_t)(particles * k / followed->count);
    sort(followed->ids, followed->count);
    return STATUS_OK;
}

/* ---- a choice ---- */

static bool is_followed(const struct followed *followed, uint64_t id)
{
    return bsearch(&id, followed->ids, followed->count, sizeof id, ascending) != NULL;
}

/* found[] <- the lowest `places` of this rank's ids that fulfil the condition and are not followed yet, and
 * UINT64_MAX behind them; *all <- how many there are. */
static enum status find_own(struct followed *followed, const struct view *view, uint32_t places,
                            uint64_t *all)
{
    struct particles list = view->particles[followed->species];
    struct particle_array arrays[ATTRIBUTES];
    uint64_t *const found = followed->found;
    uint32_t count = 0, chosen, n = 0;
    *all = 0;
    memset(found, UINT8_MAX, places * sizeof *found);
    TRY(selection_sample(followed->selection, &list, 0, 0, &chosen));
    TRY(selection_meet(followed->selection, &list, view->slab, &chosen));
    if (chosen == 0)
        return STATUS_OK;
    particles_arrays(&list, arrays);
    while (arrays[n].attribute != ATTRIBUTE_ID)
        n++;
    TRY(selection_copy(followed->selection, &list, &arrays[n], chosen));
    list.attribute[ATTRIBUTE_ID] = list.spare[ATTRIBUTE_ID];
    for (uint32_t first = 0, some; first < chosen; first += some) {
        uint64_t *const next = found + count;
        some = (uint32_t)at_most(chosen - first, AT_ONCE);
        TRY(particles_copy(&list, ATTRIBUTE_ID, first, some, next));
        for (uint32_t k = 0; k < some; k++)
            if (!is_followed(followed, next[k]))
                found[count++] = next[k];
        *all += (uint64_t)(found + count - next);
        sort(found, count);
        count = (uint32_t)at_most(count, places);
        memset(found + count, UINT8_MAX, (places - count) * sizeof *found);
    }
    return STATUS_OK;
}

enum status followed_choose(struct followed *followed, const struct view *view)
{
    const size_t ranks = (size_t)view->communicator->size;
    uint64_t all = 0, *of_ranks = NULL;
    if (followed->selection && !followed->config->keep)
        followed->count = 0;
    const uint32_t places = followed->most - followed->count;
    if (!followed->selection || places == 0)
        return STATUS_OK;
    enum status status = find_own(followed, view, places, &all);
    if (status == STATUS_OK && !(of_ranks = malloc(ranks * places * sizeof *of_ranks)))
        status = status_fail(STATUS_FAILED, "no memory for the ids of tracks");
    status = communicator_agree(view->communicator, status);
    if (status == STATUS_OK) {
        communicator_gather(view->communicator, places * sizeof *of_ranks, followed->found, of_ranks);
        communicator_sum_counts(view->communicator, 1, &all);
        sort(of_ranks, ranks * places);
        for (uint32_t k = 0; k < places && of_ranks[k] != UINT64_MAX; k++)
            followed->ids[followed->count++] = of_ranks[k];
        sort(followed->ids, followed->count);
        if (all > places && !followed->is_known && view->log)
            log_line(view->log, LOG_NORMAL,
                     "tracks: %" PRIu64 " particles more fulfil the condition at step %" PRIu64
                     " than output.tracks.count has places for",
                     all - places, view->step);
        followed->is_known |= all > places;
    }
    free(of_ranks);
    return status;
}

/* ---- in checkpoints ---- */

enum status followed_begin(struct followed *followed, const struct config *old,
                           const struct hdf5_source *source)
{
    const struct tracks_config *now = followed->config, *before = old ? &old->output.tracks : NULL;
    if (!before || !now->keep || !before->keep || before->every == 0 ||
        strcmp(now->rule.where, before->rule.where) != 0 || strcmp(now->species, before->species) != 0)
        return STATUS_OK;
    const struct hdf5_rows all = {H5T_NATIVE_UINT64, {before->count}, 0, before->count};
    uint64_t *kept = malloc(before->count * sizeof *kept);
    enum status status = kept ? hdf5_read_rows(source, kept_path, &all, kept)
                              : status_fail(STATUS_FAILED, "no memory for the ids of tracks");
    followed->count = 0;
    for (uint32_t k = 0; k < before->count && status == STATUS_OK && followed->count < followed->most; k++)
        if (kept[k] < old->species[followed->species].particles)
            followed->ids[followed->count++] = kept[k];
    sort(followed->ids, followed->count);
    free(kept);
    return status;
}

/* As many numbers as there may be: UINT64_MAX stands where there is none. */
void followed_save(const struct followed *followed, struct hdf5_file *file, const struct view *view)
{
    const struct tracks_config *config = &view->config->output.tracks;
    uint64_t *kept = NULL;
    if (!config->keep || config->every == 0 || (!followed && !view->has_no_data))
        return;
    if (followed && (kept = hdf5_file_keep(file, config->count * sizeof *kept))) {
        memset(kept, UINT8_MAX, config->count * sizeof *kept);
        memcpy(kept, followed->ids, followed->count * sizeof *kept);
    }
    hdf5_dataset(hdf5_group(&file->root, "tracks"), "kept",
                 &(struct hdf5_array){.type = HDF5_UINT64,
                                      .dimensions = 1,
                                      .shape = {config->count},
                                      .count = view->communicator->rank == 0 ? config->count : 0,
                                      .source = kept});
}
