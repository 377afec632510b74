/* Selection: launches of kernels/selection.cl, and of the permutation, which brings what was chosen together
 * in the spare arrays. */
#include "output/selection.h"

#include "base/integers.h"
#include "base/pool.h"
#include "particles/permute.h"

#include <math.h>

enum { ITEMS = 64, BITS = 32 /* of a word */, ROOM = 1 << 22, PIECE = 1 << 16 /* words */ };

struct selection {
    const struct snapshots_config *snapshots; /* not owned */
    size_t items;                             /* of a group */
    struct kernel *mark;
    struct permute *permute;
    struct buffer *words; /* uint[ROOM]: marks, and later the numbers of chosen particles */
    uint32_t *marks;      /* of the longest species: a bit for each particle */
    uint32_t *begins;     /* and a number for each PIECE of these words */
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
    uint64_t most = 0;
    for (uint32_t n = 0; n < config->species_count; n++)
        most = at_least(most, at_most(config->species[n].particles, CONFIG_MAX_PARTICLES));
    TRY(DEVICE_NEW_ARRAY(device, selection->marks, most / BITS + 1));
    TRY(DEVICE_NEW_ARRAY(device, selection->begins, most / BITS / PIECE + 2));
    TRY(program_build(device, "selection.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "selection_mark", &selection->mark));
    TRY(permute_create(device, &selection->permute));
    return buffer_create(device, ROOM * sizeof(uint32_t), "the numbers of chosen particles",
                         &selection->words);
}

/* A bit of a word for each particle. */
static enum status mark_all(const struct selection *selection, const struct particles *particles,
                            uint64_t first_id, uint32_t words)
{
    uint32_t *const marks = selection->marks;
    const uint64_t below = (uint64_t)ldexp(selection->snapshots->particles.fraction, 53);
    for (uint32_t done = 0, piece; done < words; done += piece) {
        piece = at_most(words - done, ROOM);
        TRY(KERNEL_LAUNCH(selection->mark,
                          launch_covering(piece, selection->items, STAGE_OUTPUT,
                                          (BITS * sizeof(uint64_t) + sizeof *marks) * (uint64_t)piece),
                          particles->attribute[ATTRIBUTE_ID], first_id, below, done * BITS, particles->count,
                          selection->words));
        const struct buffer_rows rows = {0, sizeof *marks, sizeof *marks, piece};
        TRY(buffer_read_rows(selection->words, &rows, marks + done));
    }
    return STATUS_OK;
}

/* Words are counted, and later turned into numbers of particles, by all processors. */
struct listing {
    const uint32_t *marks;
    uint32_t words;
    uint32_t *begins; /* [pieces + 1]: how many particles the pieces before each have chosen */
    uint32_t *chosen;
};

static uint32_t end_of(const struct listing *listing, size_t n)
{
    return at_most((n + 1) * PIECE, listing->words);
}

static enum status count_piece(void *context, size_t n, void *scratch)
{
    const struct listing *listing = context;
    uint32_t count = 0;
    (void)scratch;
    for (uint32_t w = (uint32_t)n * PIECE; w < end_of(listing, n); w++)
        count += (uint32_t)__builtin_popcount(listing->marks[w]);
    listing->begins[n + 1] = count;
    return STATUS_OK;
}

static enum status list_piece(void *context, size_t n, void *scratch)
{
    const struct listing *listing = context;
    uint32_t *chosen = listing->chosen + listing->begins[n];
    (void)scratch;
    for (uint32_t w = (uint32_t)n * PIECE; w < end_of(listing, n); w++)
        for (uint32_t left = listing->marks[w]; left; left &= left - 1)
            *chosen++ = w * BITS + (uint32_t)__builtin_ctz(left);
    return STATUS_OK;
}

static enum status list_chosen(struct listing *listing, struct hdf5_file *file, uint32_t *count)
{
    const size_t pieces = divide_up(listing->words, PIECE);
    const struct pool_work counting = {.make = count_piece, .context = listing};
    const struct pool_work numbering = {.make = list_piece, .context = listing};
    TRY(pool_run(&counting, pieces));
    for (size_t n = 0; n < pieces; n++)
        listing->begins[n + 1] += listing->begins[n];
    *count = listing->begins[pieces];
    listing->chosen = hdf5_file_keep(file, *count * sizeof *listing->chosen);
    return listing->chosen ? pool_run(&numbering, pieces) : file->status;
}

static const uint32_t *choose_by_ids(const struct selection *selection, struct hdf5_file *file,
                                     const struct particles *particles, uint64_t first_id, uint32_t *count)
{
    struct listing listing = {
        .marks = selection->marks, .words = divide_up(particles->count, BITS), .begins = selection->begins};
    enum status status = mark_all(selection, particles, first_id, listing.words);
    if (status == STATUS_OK)
        status = list_chosen(&listing, file, count);
    hdf5_file_fail(file, status);
    return status == STATUS_OK ? listing.chosen : NULL;
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
    *count = first < particles->count ? divide_up(particles->count - first, each) : 0;
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
        piece.count = at_most(count - done, ROOM);
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
