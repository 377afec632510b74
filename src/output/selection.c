/* Selection: launches of kernels/selection.cl, and of the permutation, which brings what was chosen together
 * in the spare arrays. */
#include "output/selection.h"

#include "base/integers.h"
#include "particles/permute.h"

#include <math.h>

enum { ITEMS = 64, BITS = 32 /* of a word */, ROOM = 1 << 20 /* words */ };

struct selection {
    const struct snapshots_config *snapshots; /* not owned */
    size_t items;                             /* of a group */
    struct kernel *mark;
    struct permute *permute;
    struct buffer *words; /* uint[ROOM]: marks, and later the numbers of chosen particles */
};

enum status selection_create(struct device *device, const struct config *config, void **part)
{
    const struct snapshots_config *snapshots = &config->output.snapshots;
    struct program *program = NULL;
    struct selection *selection;
    *part = NULL;
    if (snapshots->every == 0 || snapshots->particles.kind < PARTICLES_EVERY_NTH)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, selection));
    *part = selection;
    selection->snapshots = snapshots;
    selection->items = device_group_items(device, ITEMS);
    TRY(program_build(device, "selection.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "selection_mark", &selection->mark));
    TRY(permute_create(device, &selection->permute));
    return buffer_create(device, ROOM * sizeof(uint32_t), "the numbers of chosen particles",
                         &selection->words);
}

/* A bit of a word for each particle. */
static enum status mark_all(const struct selection *selection, const struct particles *particles,
                            uint64_t first_id, uint32_t words, uint32_t *marks)
{
    const uint64_t below = (uint64_t)ldexp(selection->snapshots->particles.fraction, 53);
    for (uint32_t done = 0, piece; done < words; done += piece) {
        piece = (uint32_t)at_most(words - done, ROOM);
        TRY(KERNEL_LAUNCH(selection->mark,
                          launch_covering(piece, selection->items, STAGE_OUTPUT,
                                          (BITS * sizeof(uint64_t) + sizeof *marks) * (uint64_t)piece),
                          particles->attribute[ATTRIBUTE_ID], first_id, below, done * BITS, particles->count,
                          selection->words));
        TRY(buffer_read(selection->words, 0, piece * sizeof *marks, marks + done));
    }
    return STATUS_OK;
}

static const uint32_t *choose_by_ids(const struct selection *selection, struct hdf5_file *file,
                                     const struct particles *particles, uint64_t first_id, uint32_t *count)
{
    const uint32_t words = (uint32_t)divide_up(particles->count, BITS);
    uint32_t n = 0, *marks = hdf5_file_keep(file, words * sizeof *marks);
    if (marks)
        hdf5_file_fail(file, mark_all(selection, particles, first_id, words, marks));
    for (uint32_t w = 0; w < words && file->status == STATUS_OK; w++)
        *count += (uint32_t)__builtin_popcount(marks[w]);
    uint32_t *chosen = hdf5_file_keep(file, *count * sizeof *chosen);
    for (uint32_t w = 0; w < words && chosen; w++)
        for (uint32_t left = marks[w]; left; left &= left - 1)
            chosen[n++] = w * BITS + (uint32_t)__builtin_ctz(left);
    return chosen;
}

const uint32_t *selection_choose(const struct selection *selection, struct hdf5_file *file,
                                 const struct particles *particles, uint64_t before, uint64_t first_id,
                                 uint32_t *count)
{
    const uint64_t each = selection->snapshots->particles.every_nth;
    *count = 0;
    if (selection->snapshots->particles.kind == PARTICLES_FRACTION)
        return choose_by_ids(selection, file, particles, first_id, count);
    const uint64_t first = (each - before % each) % each;
    *count = first < particles->count ? (uint32_t)divide_up(particles->count - first, each) : 0;
    uint32_t *chosen = hdf5_file_keep(file, *count * sizeof *chosen);
    for (uint32_t n = 0; n < *count && chosen; n++)
        chosen[n] = (uint32_t)(first + n * each);
    return chosen;
}

enum status selection_copy(const struct selection *selection, const struct particles *particles,
                           const uint32_t *chosen, uint32_t count, void *const data[ATTRIBUTES])
{
    struct particles piece = *particles;
    for (size_t done = 0; done < count; done += piece.count) {
        piece = *particles;
        piece.count = (uint32_t)at_most(count - done, ROOM);
        TRY(buffer_write(selection->words, 0, piece.count * sizeof *chosen, chosen + done));
        TRY(permute_attributes(selection->permute, selection->words, piece.count, ATTRIBUTE_OFFSET, &piece));
        for (enum attribute a = 0; a < ATTRIBUTES; a++) {
            piece.attribute[a] = piece.spare[a];
            if (data[a])
                TRY(particles_copy(&piece, a,
                                   (char *)data[a] + done * attribute_bytes(particles->precision, a)));
        }
    }
    return STATUS_OK;
}

uint64_t selection_most(const struct snapshots_config *snapshots, uint64_t particles)
{
    const double all = (double)particles, share = snapshots->particles.fraction;
    if (snapshots->particles.kind == PARTICLES_EVERY_NTH)
        return (particles - 1) / snapshots->particles.every_nth + 1;
    if (snapshots->particles.kind == PARTICLES_FRACTION)
        return (uint64_t)fmin(ceil(all * share + 6 * sqrt(all * share * (1 - share))), all);
    return particles;
}
