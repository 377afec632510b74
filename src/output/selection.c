/* Selection: marks, a bit for each particle, and how many are chosen before those of each block of marks. */
#include "output/selection.h"

#include "base/integers.h"
#include "config/formulas.h"
#include "output/particle_factors.h"

#include <stdlib.h>

enum {
    WORD = 32,         /* particles, a bit each */
    BLOCK = 64,        /* words, as in the kernels */
    ELEMENT_SIZES = 4, /* of elements, as in kernels/shared/element.h */
    LEAST_ELEMENT = 4  /* bytes; each size is twice the last */
};

struct selection {
    const struct selection_config *rule; /* not owned */
    struct kernel *mark, *count, *cells, *copy[ELEMENT_SIZES];
    struct kernel *condition;    /* NULL: there is none */
    struct buffer *marks;        /* of the longest species */
    struct buffer *begins;       /* uint[blocks + 1]: chosen particles before those of each block */
    struct buffer *cell_offsets; /* uint[cells + 1], of the chosen particles */
    uint32_t *host_begins;
};

/* ---- creation ---- */

static enum status create_kernels(struct device *device, struct selection *selection)
{
    struct program *program = NULL;
    char name[32];
    TRY(program_build(device, "selection.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "selection_mark", &selection->mark));
    TRY(kernel_create(program, "selection_count", &selection->count));
    TRY(kernel_create(program, "selection_cells", &selection->cells));
    for (int n = 0; n < ELEMENT_SIZES; n++) {
        snprintf(name, sizeof name, "selection_copy_%d", LEAST_ELEMENT << n);
        TRY(kernel_create(program, name, &selection->copy[n]));
    }
    return STATUS_OK;
}

/* Of any of its species, for all of which check_config() has accepted the formula. */
static enum status create_condition(struct device *device, const struct config *config,
                                    const struct species_config *species, struct selection *selection)
{
    struct program *program = NULL;
    char *source = NULL, *lines = NULL, why[FORMULA_WHY_LENGTH];
    if (!particle_formula_source(config, species, selection->rule->where, &source, why))
        return status_fail(STATUS_FAILED, "the condition %s: %s", selection->rule->where, why);
    enum status status = STATUS_OK;
    if (asprintf(&lines, "#define CONDITION %s\n", source) < 0) {
        lines = NULL; /* asprintf() leaves it undefined */
        status = status_fail(STATUS_FAILED, "no memory for a condition on particles");
    }
    TRY_IF_OK(program_build_after(device, lines, "condition.cl", config->precision, &program));
    free(lines);
    free(source);
    TRY_IF_OK(kernel_create(program, "condition_mark", &selection->condition));
    return status;
}

enum status selection_create(struct device *device, const struct config *config,
                             const struct selection_config *rule, const struct species_names *names,
                             struct selection **created)
{
    const size_t cells = (size_t)config->grid.cells[0] * config->grid.cells[1], word = sizeof(uint32_t);
    const struct species_config *longest = NULL;
    struct selection *selection;
    void *memory = NULL;
    *created = NULL;
    for (uint32_t n = 0; n < config->species_count; n++)
        if (species_are_named(names, config->species[n].name) &&
            (!longest || config->species[n].particles > longest->particles))
            longest = &config->species[n];
    if (!longest || rule->kind == PARTICLES_NONE || (rule->kind == PARTICLES_ALL && rule->where[0] == '\0'))
        return STATUS_OK;
    TRY(DEVICE_NEW(device, selection));
    *created = selection;
    selection->rule = rule;
    const size_t words = divide_up(at_most(longest->particles, CONFIG_MAX_PARTICLES), WORD);
    const size_t begins = divide_up(words, BLOCK) + (size_t)1;
    TRY(create_kernels(device, selection));
    if (rule->where[0] != '\0')
        TRY(create_condition(device, config, longest, selection));
    TRY(buffer_create(device, words * word, "the marks of chosen particles", &selection->marks));
    TRY(buffer_create(device, begins * word, "the numbers of chosen particles", &selection->begins));
    TRY(buffer_create(device, (cells + 1) * word, "the cells of chosen particles", &selection->cell_offsets));
    TRY(host_memory_create(device, begins * word, &memory));
    selection->host_begins = memory;
    return STATUS_OK;
}

uint64_t selection_most(const struct selection_config *rule, uint64_t particles)
{
    const double all = (double)particles, fraction = rule->fraction;
    if (rule->kind == PARTICLES_EVERY_NTH)
        return (particles - 1) / rule->every_nth + 1;
    if (rule->kind == PARTICLES_FRACTION)
        return (uint64_t)fmin(ceil(all * fraction + 6 * sqrt(all * fraction * (1 - fraction))), all);
    return particles;
}

bool selection_has_condition(const struct selection *selection)
{
    return selection->condition != NULL;
}

/* ---- marks ---- */

/* Sets how many marks there are before each block, and in all. */
static enum status count_marks(const struct selection *selection, const struct particles *particles,
                               uint32_t *count)
{
    const uint32_t words = divide_up(particles->count, WORD), blocks = divide_up(words, BLOCK);
    uint32_t *const begins = selection->host_begins;
    *count = 0;
    TRY(KERNEL_LAUNCH(selection->count, launch_flat(blocks, STAGE_OUTPUT, 0), selection->marks, words,
                      selection->begins));
    TRY(buffer_read(selection->begins, 0, blocks * sizeof *begins, begins));
    for (uint32_t block = 0; block < blocks; block++) {
        const uint32_t chosen = begins[block];
        begins[block] = *count;
        *count += chosen;
    }
    begins[blocks] = *count;
    return buffer_write(selection->begins, 0, (blocks + (size_t)1) * sizeof *begins, begins);
}

enum status selection_sample(const struct selection *selection, const struct particles *particles,
                             uint64_t first_id, uint64_t before, uint32_t *count)
{
    const struct selection_config *rule = selection->rule;
    const bool by_ids = rule->kind == PARTICLES_FRACTION;
    const uint64_t each = by_ids ? 0 : rule->kind == PARTICLES_EVERY_NTH ? rule->every_nth : 1;
    const uint32_t words = divide_up(particles->count, WORD);
    *count = 0;
    if (particles->count == 0)
        return STATUS_OK;
    TRY(KERNEL_LAUNCH(selection->mark,
                      launch_flat(words, STAGE_OUTPUT, by_ids ? particles->count * sizeof(uint64_t) : 0),
                      particles->attribute[by_ids ? ATTRIBUTE_ID : ATTRIBUTE_OFFSET], first_id,
                      (uint64_t)ldexp(rule->fraction, 53), each, before, particles->count, selection->marks));
    return count_marks(selection, particles, count);
}

enum status selection_meet(const struct selection *selection, const struct particles *particles,
                           const struct slab *slab, uint32_t *count)
{
    const struct species_config *species = particles->species;
    const struct particle_factors factors = particle_factors(&slab->box, species);
    const uint64_t bytes = attribute_bytes(particles->precision, ATTRIBUTE_VELOCITY);
    *count = 0;
    if (particles->count == 0)
        return STATUS_OK;
    TRY(KERNEL_LAUNCH(
        selection->condition,
        launch_flat(divide_up(particles->count, WORD), STAGE_OUTPUT, bytes * particles->count),
        particles->attribute[ATTRIBUTE_VELOCITY], particles_stride(particles, ATTRIBUTE_VELOCITY),
        particles_first(particles, ATTRIBUTE_VELOCITY), particles_w(particles), species_has_w(species),
        particles->attribute[ATTRIBUTE_OFFSET], particles_stride(particles, ATTRIBUTE_OFFSET),
        particles_first(particles, ATTRIBUTE_OFFSET), arg_reals(factors.values, PARTICLE_FACTORS),
        particles->cell_offsets, slab_own_cells(slab), slab->box.ny, slab->first_row, particles->count,
        selection->marks));
    return count_marks(selection, particles, count);
}

/* ---- what is chosen ---- */

enum status selection_cells(const struct selection *selection, const struct particles *particles,
                            uint32_t cells, uint32_t *cell_offsets)
{
    if (particles->count == 0)
        return STATUS_OK;
    TRY(KERNEL_LAUNCH(selection->cells, launch_flat(cells + UINT64_C(1), STAGE_OUTPUT, 0), selection->marks,
                      selection->begins, particles->cell_offsets, cells, selection->cell_offsets));
    return buffer_read(selection->cell_offsets, 0, (cells + (size_t)1) * sizeof *cell_offsets, cell_offsets);
}

enum status selection_copy(const struct selection *selection, const struct particles *particles,
                           const struct particle_array *array, uint32_t count)
{
    const uint32_t words = divide_up(particles->count, WORD);
    int size = 0;
    while (size < ELEMENT_SIZES - 1 && (size_t)LEAST_ELEMENT << size < array->bytes)
        size++;
    return KERNEL_LAUNCH(selection->copy[size], launch_flat(words, STAGE_OUTPUT, 2 * count * array->bytes),
                         selection->marks, selection->begins, words, *array->now, *array->spare);
}
