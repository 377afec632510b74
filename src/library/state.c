/* Library: fields and particles, read and written between steps. */
#include "library/internal.h"

#include "base/suggest.h"
#include "shared/loading.h"

#include <stdlib.h>
#include <string.h>

/* STATUS_USAGE where a value is not finite. */
static enum status require_finite(const char *place, const char *name, size_t count, const double *values)
{
    for (size_t n = 0; n < count; n++)
        if (!isfinite(values[n]))
            return status_fail(STATUS_USAGE, "%s%s: expected finite numbers, found %g in place %zu", place,
                               name, values[n], n);
    return STATUS_OK;
}

/* ---- fields ---- */

enum { FIELD_NAME_LENGTH = 32 };

/* Of a component of a field. */
struct component_name {
    char text[FIELD_NAME_LENGTH]; /* "E/x" or "phi", by openPMD's names */
    enum field field;
};

/* How many there are. */
static size_t name_components(enum solver_name solver, struct component_name names[FIELD_COMPONENTS],
                              const char *known[FIELD_COMPONENTS])
{
    for (enum field f = 0; f < FIELDS; f++)
        for (uint32_t axis = 0; axis < field_components(solver, f); axis++) {
            const uint32_t c = field_first(solver, f) + axis;
            names[c].field = f;
            snprintf(names[c].text, FIELD_NAME_LENGTH, "%s%s%s", field_table[f].record,
                     field_components(solver, f) > 1 ? "/" : "", field_axis(solver, f, axis));
            known[c] = names[c].text;
        }
    return field_first(solver, FIELDS);
}

/* The field of that name, with its values at n. */
static enum status find_field(struct radixpic *run, const char *name, enum field *field,
                              struct buffer **component)
{
    struct simulation *simulation = &run->session.simulation;
    struct component_name names[FIELD_COMPONENTS];
    const char *known[FIELD_COMPONENTS];
    size_t c;
    const size_t count = name_components(run->config.fields.solver, names, known);
    TRY(suggest_find("field", field_record(name), known, count, &c));
    *field = names[c].field;
    *component = simulation->fields.component[c];
    TRY(state_sort_written(run));
    TRY(simulation_solve(simulation));
    return field_table[*field].provider == FIELD_ON_REQUEST
               ? field_solver_potential(simulation->field_solver, &simulation->fields)
               : STATUS_OK;
}

static size_t nodes(const struct radixpic *run)
{
    return grid_cells(&run->session.simulation.slab.box);
}

/* The first cell of the rank's own rows, in the box. */
static size_t first_cell(const struct slab *slab)
{
    return (size_t)slab->first_row * slab->box.ny;
}

static enum status read_field(struct radixpic *run, const char *name, double *values)
{
    const struct slab *slab = &run->session.simulation.slab;
    struct buffer *component;
    enum field field;
    TRY(find_field(run, name, &field, &component));
    memset(values, 0, nodes(run) * sizeof *values);
    TRY(buffer_read_reals(component, run->config.precision, 0, slab_own_cells(slab),
                          values + first_cell(slab)));
    communicator_sum(&run->session.communicator, nodes(run), values);
    return STATUS_OK;
}

enum radixpic_status radixpic_read_field(struct radixpic *run, const char *name, double *values)
{
    RETURN_TOGETHER(read_field(run, name, values), run, name, values);
}

/* All rows of the local grid from those of the box. */
static enum status write_rows(struct radixpic *run, struct buffer *component, const double *values)
{
    const struct slab *slab = &run->session.simulation.slab;
    const size_t ny = slab->box.ny, cells = grid_cells(&slab->local);
    double *local = calloc(cells, sizeof *local);
    if (!local)
        return status_fail(STATUS_FAILED, "no memory for a field of %zu nodes", cells);
    for (uint32_t row = 0; row < slab->local.nx; row++)
        if (!slab_is_lost(slab, row))
            memcpy(local + row * ny, values + slab_global_row(slab, row) * ny, ny * sizeof *local);
    const enum status status = buffer_write_reals(component, run->config.precision, 0, cells, local);
    free(local);
    return status;
}

static enum status write_field(struct radixpic *run, const char *name, const double *values)
{
    struct buffer *component;
    enum field field;
    TRY(find_field(run, name, &field, &component));
    if (field_table[field].provider != FIELD_OF_SOLVER)
        return status_fail(STATUS_USAGE,
                           "%s follows from the particles; components of E and B can be written", name);
    TRY(session_agree(&run->session, require_finite("", name, nodes(run), values)));
    return write_rows(run, component, values);
}

enum radixpic_status radixpic_write_field(struct radixpic *run, const char *name, const double *values)
{
    RETURN_TOGETHER(write_field(run, name, values), run, name, values);
}

/* ---- the cells of particles ---- */

void state_forget(struct radixpic *run)
{
    device_close(&run->keys_owner);
    memset(run->cells, 0, sizeof run->cells);
}

static enum status find_keys(struct radixpic *run, uint32_t species)
{
    const struct slab *slab = &run->session.simulation.slab;
    const struct particles *list = &run->session.simulation.particles[species];
    const size_t cells = slab_own_cells(slab);
    uint32_t *offsets = NULL, *keys = NULL;
    if (run->cells[species].keys)
        return STATUS_OK;
    if (!run->keys_owner)
        TRY(device_branch(run->session.device, &run->keys_owner));
    TRY(DEVICE_NEW_ARRAY(run->keys_owner, offsets, cells + 1));
    TRY(DEVICE_NEW_ARRAY(run->keys_owner, keys, list->count));
    TRY(buffer_read(list->cell_offsets, 0, (cells + 1) * sizeof *offsets, offsets));
    for (size_t cell = 0; cell < cells; cell++)
        for (uint32_t n = offsets[cell]; n < offsets[cell + 1]; n++)
            keys[n] = (uint32_t)(first_cell(slab) + cell);
    run->cells[species].keys = keys;
    return STATUS_OK;
}

enum status state_sort_written(struct radixpic *run)
{
    double is_unsorted[CONFIG_MAX_SPECIES];
    for (uint32_t s = 0; s < run->config.species_count; s++)
        is_unsorted[s] = run->cells[s].is_unsorted;
    communicator_max(&run->session.communicator, run->config.species_count, is_unsorted);
    for (uint32_t s = 0; s < run->config.species_count; s++) {
        if (is_unsorted[s] == 0)
            continue;
        run->sorts++;
        TRY(find_keys(run, s));
        TRY(simulation_sort_again(&run->session.simulation, s, run->cells[s].keys));
    }
    state_forget(run);
    return STATUS_OK;
}

/* ---- particles ---- */

enum { SPATIAL = 2, COMPONENTS = 5 };
static const char *const component_names[COMPONENTS] = {"x", "y", "u", "v", "w"};

/* What a call is about. */
struct component {
    uint32_t species;
    struct particles *list;
    enum attribute attribute;
    uint32_t axis;       /* among the components of the attribute, */
    uint32_t components; /* so many */
};

static enum status find_species(struct radixpic *run, const char *name, struct component *found)
{
    const char *known[CONFIG_MAX_SPECIES];
    size_t s;
    for (uint32_t n = 0; n < run->config.species_count; n++)
        known[n] = run->config.species[n].name;
    TRY(suggest_find("species", name, known, run->config.species_count, &s));
    *found = (struct component){.species = (uint32_t)s, .list = &run->session.simulation.particles[s]};
    return STATUS_OK;
}

static enum status find_component(struct radixpic *run, const char *species, const char *name,
                                  struct component *found)
{
    size_t n;
    TRY(find_species(run, species, found));
    TRY(suggest_find("attribute", name, component_names, COMPONENTS, &n));
    found->attribute = (enum attribute[COMPONENTS]){ATTRIBUTE_OFFSET, ATTRIBUTE_OFFSET, ATTRIBUTE_VELOCITY,
                                                    ATTRIBUTE_VELOCITY, ATTRIBUTE_W}[n];
    found->axis = (uint32_t)n % SPATIAL;
    found->components = attribute_table[found->attribute].components;
    if (!found->list->attribute[found->attribute])
        return status_fail(STATUS_USAGE,
                           "species %s has no w; ask for it by velocities.dimensions: 3 in the config",
                           species);
    return n < SPATIAL ? find_keys(run, found->species) : STATUS_OK;
}

/* All components of the attribute of all particles; the caller frees them. */
static enum status read_all(const struct component *component, double **values)
{
    const struct particles *list = component->list;
    *values = malloc((component->components * (size_t)list->count + 1) * sizeof **values);
    if (!*values)
        return status_fail(STATUS_FAILED, "species %s: no memory for its particles", list->species->name);
    const enum status status = particles_read(list, component->attribute, 0, list->count, *values);
    if (status == STATUS_OK)
        return STATUS_OK;
    free(*values);
    return status;
}

static enum status read_particles(struct radixpic *run, const char *species, const char *name, double *values)
{
    const struct grid *grid = &run->session.simulation.slab.box;
    struct component component;
    double *all = NULL;
    TRY(find_component(run, species, name, &component));
    TRY(read_all(&component, &all));
    const uint32_t *keys = run->cells[component.species].keys, axis = component.axis;
    const double side = axis == 0 ? grid->dx : grid->dy;
    for (size_t n = 0; n < component.list->count; n++) {
        values[n] = all[component.components * n + axis];
        if (component.attribute == ATTRIBUTE_OFFSET)
            values[n] = ((axis == 0 ? keys[n] / grid->ny : keys[n] % grid->ny) + values[n]) * side;
    }
    free(all);
    return STATUS_OK;
}

enum radixpic_status radixpic_read_particles(struct radixpic *run, const char *species, const char *attribute,
                                             double *values)
{
    RETURN_LOCKED(read_particles(run, species, attribute, values), run, species, attribute, values);
}

/* Particle n to the position `value` along the axis; returns its offset there as it will be stored. */
static double place(const struct radixpic *run, const struct component *component, size_t n, double value)
{
    const struct grid *grid = &run->session.simulation.slab.box;
    const uint32_t axis = component->axis, cells = axis == 0 ? grid->nx : grid->ny;
    uint32_t *key = &run->cells[component->species].keys[n];
    struct site site = site_at(value / (axis == 0 ? grid->lx : grid->ly), cells);
    site = site_rounded(site.cell,
                        run->config.precision == PRECISION_SINGLE ? (float)site.offset : site.offset, cells);
    *key = axis == 0 ? cell_index(site.cell, *key % grid->ny, grid->ny)
                     : cell_index(*key / grid->ny, site.cell, grid->ny);
    return site.offset;
}

/* As the device has them, in place. */
static void to_run_precision(enum precision precision, size_t count, double *values)
{
    for (size_t n = 0; n < count && precision == PRECISION_SINGLE; n++) {
        const float single = (float)values[n];
        memcpy((char *)values + n * sizeof single, &single, sizeof single);
    }
}

enum status state_step_waves(struct radixpic *run, bool is_together)
{
    struct simulation *simulation = &run->session.simulation;
    if (!simulation->fields.waves || simulation->is_solved)
        return STATUS_OK;
    if (!is_together && simulation->communicator.size > 1)
        return status_fail(STATUS_USAGE, "before particles are written, the ranks of an electromagnetic run "
                                         "sum their currents: call radixpic_meet() first, on all of them");
    return simulation_solve(simulation);
}

static enum status write_particles(struct radixpic *run, const char *species, const char *name,
                                   const double *values)
{
    struct component component;
    char place_name[CONFIG_NAME_LENGTH + 16];
    double *all = NULL;
    TRY(find_component(run, species, name, &component));
    TRY(state_step_waves(run, false));
    struct particles *list = component.list;
    const bool moves = component.attribute == ATTRIBUTE_OFFSET;
    snprintf(place_name, sizeof place_name, "species %s, ", species);
    TRY(require_finite(place_name, name, list->count, values));
    TRY(read_all(&component, &all));
    for (size_t n = 0; n < list->count; n++)
        all[component.components * n + component.axis] =
            moves ? place(run, &component, n, values[n]) : values[n];
    run->cells[component.species].is_unsorted |= moves;
    to_run_precision(run->config.precision, component.components * (size_t)list->count, all);
    const enum status status = particles_write(list, component.attribute, 0, list->count, all);
    free(all);
    return status;
}

enum radixpic_status radixpic_write_particles(struct radixpic *run, const char *species,
                                              const char *attribute, const double *values)
{
    RETURN_LOCKED(write_particles(run, species, attribute, values), run, species, attribute, values);
}

static enum status read_ids(struct radixpic *run, const char *species, uint64_t *values)
{
    struct component found = {0};
    TRY(find_species(run, species, &found));
    if (!attribute_present(found.list->species, ATTRIBUTE_ID))
        return status_fail(STATUS_USAGE, "species %s has no ids; ask for them by ids: true in the config",
                           species);
    return particles_copy(found.list, ATTRIBUTE_ID, 0, found.list->count, values);
}

enum radixpic_status radixpic_read_ids(struct radixpic *run, const char *species, uint64_t *values)
{
    RETURN_LOCKED(read_ids(run, species, values), run, species, values);
}

/* ---- without a copy ---- */

static enum status lend(struct radixpic *run, const char *species, const char *name,
                        struct radixpic_view *view)
{
    const size_t bytes = precision_bytes(run->config.precision);
    struct component component = {0};
    struct buffer *buffer = NULL;
    size_t first = 0;
    *view = (struct radixpic_view){.count = nodes(run), .stride = bytes, .bytes = bytes};
    if (!species) {
        enum field field;
        if (run->session.communicator.size > 1)
            return status_fail(STATUS_USAGE, "a field of several ranks cannot be lent; read and write it");
        TRY(find_field(run, name, &field, &buffer));
    } else {
        TRY(find_component(run, species, name, &component));
        if (component.attribute == ATTRIBUTE_OFFSET)
            return status_fail(STATUS_USAGE, "%s follows from cell and offset; u, v and w can be lent", name);
        TRY(state_step_waves(run, false));
        buffer = component.list->attribute[component.attribute];
        view->count = component.list->count;
        view->stride = bytes * particles_stride(component.list, component.attribute) * component.components;
        first = bytes * (particles_first(component.list, component.attribute) * component.components +
                         component.axis);
    }
    if (view->count == 0 || !device_info(run->session.device)->is_cpu) /* an empty array cannot be mapped */
        return STATUS_OK;
    view->buffer = buffer;
    TRY(buffer_lend(buffer, &view->memory, &view->native));
    view->values = (char *)view->memory + first;
    return STATUS_OK;
}

enum radixpic_status radixpic_lend(struct radixpic *run, const char *species, const char *name,
                                   struct radixpic_view *view)
{
    RETURN_LOCKED(lend(run, species, name, view), run, name, view);
}

enum radixpic_status radixpic_take_back(struct radixpic *run, const struct radixpic_view *view)
{
    RETURN_LOCKED(view->buffer ? buffer_unmap(view->buffer, view->memory) : STATUS_OK, run, view);
}

void radixpic_let_go(const struct radixpic_view *view)
{
    if (view)
        buffer_let_go(view->native);
}

/* ---- species ---- */

uint32_t radixpic_species_count(const struct radixpic *run)
{
    return handle_or_none(run)->config.species_count;
}

enum radixpic_status radixpic_species_at(const struct radixpic *run, uint32_t n,
                                         struct radixpic_species *species)
{
    if (GIVEN(run, species) != STATUS_OK)
        return RADIXPIC_USAGE;
    if (n >= run->config.species_count)
        return (enum radixpic_status)status_fail(STATUS_USAGE, "there is no species number %u; there are %u",
                                                 n, run->config.species_count);
    const struct species_config *config = &run->config.species[n];
    const struct particles *list = &run->session.simulation.particles[n];
    *species = (struct radixpic_species){.name = config->name,
                                         .charge = config->charge,
                                         .mass = config->mass,
                                         .density = config->density,
                                         .weight = list->weight,
                                         .particles = list->count};
    return RADIXPIC_OK;
}

/* ---- units ---- */

enum radixpic_status radixpic_unit(const struct radixpic *run, const char *quantity, double *si)
{
    enum { OWN = 1 + COMPONENTS, MOST = OWN + FIELD_COMPONENTS };
    struct component_name names[FIELD_COMPONENTS];
    const char *known[MOST] = {"time"};
    size_t n;
    if (GIVEN(run, quantity, si) != STATUS_OK)
        return RADIXPIC_USAGE;
    const struct units units = units_make(&run->config.units);
    memcpy(known + 1, component_names, sizeof component_names);
    const size_t count = OWN + name_components(run->config.fields.solver, names, known + OWN);
    if (suggest_find("quantity", field_record(quantity), known, count, &n) != STATUS_OK)
        return RADIXPIC_USAGE;
    *si = n == 0         ? units.time
          : n <= SPATIAL ? units.length
          : n < OWN      ? units.velocity
                         : *(const double *)((const char *)&units + field_table[names[n - OWN].field].unit);
    return RADIXPIC_OK;
}
