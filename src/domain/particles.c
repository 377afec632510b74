/* Particles: allocation of one species. */
#include "domain/particles.h"

static enum status allocate(struct device *device, size_t cells, enum precision precision,
                            struct particles *particles)
{
    const size_t count = particles->capacity;
    const size_t pair = 2 * precision_bytes(precision);
    TRY(buffer_create(device, count * pair, "particle offsets", &particles->offset));
    TRY(buffer_create(device, count * pair, "spare particle offsets", &particles->offset_spare));
    TRY(buffer_create(device, count * pair, "particle velocities", &particles->velocity));
    TRY(buffer_create(device, count * pair, "spare particle velocities", &particles->velocity_spare));
    TRY(buffer_create(device, count * sizeof(uint32_t), "particle keys", &particles->key));
    TRY(buffer_create(device, count * sizeof(uint32_t), "spare particle keys", &particles->key_spare));
    if (particles->species->ids) {
        TRY(buffer_create(device, count * sizeof(uint64_t), "particle ids", &particles->id));
        TRY(buffer_create(device, count * sizeof(uint64_t), "spare particle ids", &particles->id_spare));
    }
    return buffer_create(device, (cells + 1) * sizeof(uint32_t), "cell offsets", &particles->cell_offsets);
}

/* Real particles that a macro-particle stands for. */
static double weight_of(const struct species_config *species, const struct grid *box)
{
    return species->density * box->lx * box->ly / (double)species->particles;
}

uint64_t particles_least_ranks(const struct species_config *species)
{
    return (species->particles + CONFIG_MAX_PARTICLES - 1) / CONFIG_MAX_PARTICLES;
}

enum status particles_require_one_rank(const struct species_config *species)
{
    if (species->particles <= CONFIG_MAX_PARTICLES)
        return STATUS_OK;
    return status_fail(STATUS_USAGE,
                       "species %s: %llu particles; one rank holds at most %u of a species: take mpirun with "
                       "%llu ranks or more",
                       species->name, (unsigned long long)species->particles, CONFIG_MAX_PARTICLES,
                       (unsigned long long)particles_least_ranks(species));
}

enum status particles_create(struct device *device, const struct grid *grid, enum precision precision,
                             const struct species_config *species, struct particles *particles)
{
    *particles = (struct particles){.species = species, .weight = weight_of(species, grid)};
    TRY(particles_require_one_rank(species));
    particles->count = particles->capacity = (uint32_t)species->particles;
    return allocate(device, grid_cells(grid), precision, particles);
}

enum status particles_create_list(struct device *device, const struct slab *slab, enum precision precision,
                                  const struct species_config *species, uint32_t capacity,
                                  struct particles *particles)
{
    *particles = (struct particles){
        .species = species, .weight = weight_of(species, &slab->box), .capacity = capacity};
    TRY(allocate(device, grid_cells(&slab->local), precision, particles));
    return buffer_fill(particles->cell_offsets, 0);
}

void particles_destroy(struct particles *particles)
{
    struct buffer **const owned[] = {
        &particles->offset, &particles->offset_spare, &particles->velocity,    &particles->velocity_spare,
        &particles->quad,   &particles->quad_spare,   &particles->id,          &particles->id_spare,
        &particles->key,    &particles->key_spare,    &particles->cell_offsets};
    for (size_t n = 0; n < sizeof owned / sizeof owned[0]; n++)
        buffer_destroy(owned[n]);
}

/* A longer array and its spare, `each` bytes a particle. */
static enum status lengthen(struct device *device, const struct particles *particles, uint32_t capacity,
                            size_t each, struct buffer **array, struct buffer **spare)
{
    if (!*array)
        return STATUS_OK;
    buffer_destroy(spare);
    TRY(buffer_create(device, capacity * each, "longer lists of particles", spare));
    TRY(buffer_copy(*array, *spare, particles->count * each, STAGE_EXCHANGE));
    buffer_swap(*array, *spare);
    TRY(device_finish(device)); /* or the device still reads what is destroyed */
    buffer_destroy(spare);
    return buffer_create(device, capacity * each, "longer spare lists of particles", spare);
}

enum status particles_reserve(struct device *device, enum precision precision, uint32_t capacity,
                              struct particles *particles)
{
    const size_t pair = 2 * precision_bytes(precision);
    struct particles *p = particles;
    if (capacity <= p->capacity)
        return STATUS_OK;
    TRY(device_finish(device));
    TRY(lengthen(device, p, capacity, pair, &p->offset, &p->offset_spare));
    TRY(lengthen(device, p, capacity, pair, &p->velocity, &p->velocity_spare));
    TRY(lengthen(device, p, capacity, 2 * pair, &p->quad, &p->quad_spare));
    TRY(lengthen(device, p, capacity, sizeof(uint64_t), &p->id, &p->id_spare));
    TRY(lengthen(device, p, capacity, sizeof(uint32_t), &p->key, &p->key_spare));
    p->capacity = capacity;
    return STATUS_OK;
}

/* Pairs out of quads: the two reals from `begin` on of each. */
static enum status read_from_quads(const struct particles *particles, enum precision precision, size_t begin,
                                   size_t first, size_t count, double *pairs)
{
    enum { PIECE = 4096 };
    double quads[4 * PIECE];
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t piece = count - done < PIECE ? count - done : PIECE;
        TRY(buffer_read_reals(particles->quad, precision, 4 * (first + done), 4 * piece, quads));
        for (size_t n = 0; n < piece; n++) {
            pairs[2 * (done + n)] = quads[4 * n + begin];
            pairs[2 * (done + n) + 1] = quads[4 * n + begin + 1];
        }
    }
    return STATUS_OK;
}

enum status particles_read_offsets(const struct particles *particles, enum precision precision, size_t first,
                                   size_t count, double *pairs)
{
    return particles->quad ? read_from_quads(particles, precision, 0, first, count, pairs)
                           : buffer_read_reals(particles->offset, precision, 2 * first, 2 * count, pairs);
}

enum status particles_read_velocities(const struct particles *particles, enum precision precision,
                                      size_t first, size_t count, double *pairs)
{
    return particles->quad ? read_from_quads(particles, precision, 2, first, count, pairs)
                           : buffer_read_reals(particles->velocity, precision, 2 * first, 2 * count, pairs);
}

uint64_t particles_bytes(const struct grid *grid, enum precision precision,
                         const struct species_config *species)
{
    const uint64_t each =
        2 * (4 * precision_bytes(precision) + sizeof(uint32_t) + (species->ids ? sizeof(uint64_t) : 0));
    return species->particles * each + (grid_cells(grid) + UINT64_C(1)) * sizeof(uint32_t);
}
