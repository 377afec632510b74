/* Particles: the table of attributes, and the arrays of a list. */
#include "domain/particles.h"

#include <string.h>

const struct attribute_info attribute_table[ATTRIBUTES] = {
    [ATTRIBUTE_OFFSET] = {"offset", 2, true}, [ATTRIBUTE_VELOCITY] = {"velocity", 2, true},
    [ATTRIBUTE_W] = {"w", 1, true},           [ATTRIBUTE_WEIGHT] = {"weight", 1, true},
    [ATTRIBUTE_ID] = {"id", 1, false},
};

bool attribute_present(const struct species_config *species, enum attribute attribute)
{
    return attribute == ATTRIBUTE_W        ? species_has_w(species)
           : attribute == ATTRIBUTE_WEIGHT ? species->carries_weights
           : attribute == ATTRIBUTE_ID     ? species->ids
                                           : true;
}

size_t attribute_bytes(enum precision precision, enum attribute attribute)
{
    const struct attribute_info *info = &attribute_table[attribute];
    return info->components * (info->is_real ? precision_bytes(precision) : sizeof(uint64_t));
}

enum status attribute_kernel(struct program *program, const char *name, enum precision precision,
                             enum attribute attribute, struct kernel **kernel)
{
    char full_name[64];
    snprintf(full_name, sizeof full_name, "%s_%zu", name, attribute_bytes(precision, attribute));
    return kernel_create(program, full_name, kernel);
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

/* ---- the arrays ---- */

/* The attribute lies in the array of another one. */
static bool shares_array(const struct particles *particles, enum attribute attribute)
{
    return particles->layout == LAYOUT_AOS && attribute == ATTRIBUTE_VELOCITY;
}

uint32_t particles_stride(const struct particles *particles, enum attribute attribute)
{
    return particles->layout == LAYOUT_AOS && attribute <= ATTRIBUTE_VELOCITY ? 2 : 1;
}

uint32_t particles_first(const struct particles *particles, enum attribute attribute)
{
    return shares_array(particles, attribute);
}

struct buffer *particles_w(const struct particles *particles)
{
    struct buffer *w = particles->attribute[ATTRIBUTE_W];
    return w ? w : particles->attribute[ATTRIBUTE_VELOCITY];
}

uint32_t particles_arrays(struct particles *particles, struct particle_array arrays[ATTRIBUTES])
{
    uint32_t count = 0;
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        if (attribute_present(particles->species, a) && !shares_array(particles, a))
            arrays[count++] = (struct particle_array){a, &particles->attribute[a], &particles->spare[a],
                                                      particles_stride(particles, a) *
                                                          attribute_bytes(particles->precision, a)};
    return count;
}

static void share_arrays(struct particles *particles)
{
    if (particles->layout != LAYOUT_AOS)
        return;
    particles->attribute[ATTRIBUTE_VELOCITY] = particles->attribute[ATTRIBUTE_OFFSET];
    particles->spare[ATTRIBUTE_VELOCITY] = particles->spare[ATTRIBUTE_OFFSET];
}

enum status particles_create(struct device *device, const struct slab *slab, enum precision precision,
                             enum particle_layout layout, const struct species_config *species,
                             uint32_t capacity, struct particles *particles)
{
    struct particle_array arrays[ATTRIBUTES];
    const double real_particles = species->density * slab->box.lx * slab->box.ly;
    *particles = (struct particles){.device = device,
                                    .species = species,
                                    .precision = precision,
                                    .layout = layout,
                                    .capacity = capacity,
                                    .weight = real_particles / (double)species->particles};
    const uint32_t count = particles_arrays(particles, arrays);
    for (uint32_t n = 0; n < count; n++) {
        TRY(buffer_create(device, capacity * arrays[n].bytes, "the particles", arrays[n].now));
        TRY(buffer_create(device, capacity * arrays[n].bytes, "the spare arrays of particles",
                          arrays[n].spare));
    }
    share_arrays(particles);
    return buffer_create_zeroed(device, (grid_cells(&slab->local) + (size_t)1) * sizeof(uint32_t),
                                "cell offsets", &particles->cell_offsets);
}

void particles_destroy(struct particles *particles)
{
    struct particle_array arrays[ATTRIBUTES];
    if (!particles->species)
        return;
    const uint32_t count = particles_arrays(particles, arrays);
    for (uint32_t n = 0; n < count; n++) {
        buffer_destroy(arrays[n].now);
        buffer_destroy(arrays[n].spare);
    }
    buffer_destroy(&particles->cell_offsets);
    *particles = (struct particles){0};
}

void particles_swap(struct particles *particles)
{
    struct particle_array arrays[ATTRIBUTES];
    for (uint32_t n = particles_arrays(particles, arrays); n-- > 0;)
        buffer_swap(*arrays[n].now, *arrays[n].spare);
}

/* The spare array goes first, so that no more than three arrays are held at a time. */
static enum status lengthen(struct particles *particles, uint32_t capacity,
                            const struct particle_array *array)
{
    const size_t bytes = capacity * array->bytes;
    buffer_destroy(array->spare);
    TRY(buffer_create(particles->device, bytes, "longer lists of particles", array->spare));
    TRY(buffer_copy(*array->now, 0, *array->spare, 0, particles->count * array->bytes, STAGE_EXCHANGE));
    buffer_swap(*array->now, *array->spare);
    TRY(device_finish(particles->device)); /* or the device still reads what is destroyed */
    buffer_destroy(array->spare);
    return buffer_create(particles->device, bytes, "longer spare lists of particles", array->spare);
}

enum status particles_reserve(struct particles *particles, uint32_t capacity)
{
    struct particle_array arrays[ATTRIBUTES];
    if (capacity <= particles->capacity)
        return STATUS_OK;
    TRY(device_finish(particles->device));
    const uint32_t count = particles_arrays(particles, arrays);
    for (uint32_t n = 0; n < count; n++)
        TRY(lengthen(particles, capacity, &arrays[n]));
    share_arrays(particles);
    particles->capacity = capacity;
    return STATUS_OK;
}

enum status particles_copy(const struct particles *particles, enum attribute attribute, size_t first,
                           size_t count, void *values)
{
    const size_t bytes = attribute_bytes(particles->precision, attribute);
    const struct buffer_rows rows = {.begin = bytes * particles_first(particles, attribute),
                                     .bytes = bytes,
                                     .stride = bytes * particles_stride(particles, attribute),
                                     .first = first,
                                     .count = count};
    return buffer_read_rows(particles->attribute[attribute], &rows, values);
}

enum status particles_read(const struct particles *particles, enum attribute attribute, size_t first,
                           size_t count, double *values)
{
    TRY(particles_copy(particles, attribute, first, count, values));
    reals_widen(particles->precision, attribute_table[attribute].components * count, values);
    return STATUS_OK;
}

enum status particles_write(struct particles *particles, enum attribute attribute, size_t first, size_t count,
                            const void *values)
{
    const size_t bytes = attribute_bytes(particles->precision, attribute);
    const size_t stride = particles_stride(particles, attribute);
    const size_t begin = stride * first + particles_first(particles, attribute);
    struct buffer *array = particles->attribute[attribute];
    void *memory = NULL;
    if (stride == 1 || count == 0) /* an empty array cannot be mapped */
        return buffer_write(array, begin * bytes, count * bytes, values);
    TRY(buffer_map(array, &memory));
    for (size_t n = 0; n < count; n++)
        memcpy((char *)memory + (begin + n * stride) * bytes, (const char *)values + n * bytes, bytes);
    return buffer_unmap(array, memory);
}
