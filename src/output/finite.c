/* Finite: the first particle, then the first node, with a non-finite value. */
#include "output/outputs.h"

#include <math.h>
#include <stdarg.h>

enum { PIECE = 4096, MOST_COMPONENTS = 2 };

/* "step 3 (t = 0.3): the field Ex, nan, at node (3, 4) is non-finite; ...", from a printf-style format. */
__attribute__((format(printf, 2, 3))) static enum status fail(const struct view *view, const char *format,
                                                              ...)
{
    char what[CONFIG_NAME_LENGTH + 200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return status_fail(
        STATUS_FAILED,
        "step %llu (t = %g): %s; the run stops here. Try a smaller time.step (omega_p dt below 2) or smaller "
        "charges and velocities",
        (unsigned long long)view->step, view->time, what);
}

/* The NaN that x86 comes to has a sign, and is printed as "-nan". */
static double printable(double value)
{
    return isnan(value) ? (double)NAN : value;
}

/* ---- particles ---- */

static enum status fail_at_particle(const struct view *view, const struct particles *particles,
                                    enum attribute attribute, uint32_t index, const double *values)
{
    char text[80];
    const uint32_t ny = view->slab->local.ny, own = slab_own_cells(view->slab);
    uint32_t *offsets = NULL; /* of the list's device handle: the run ends here */
    TRY(DEVICE_NEW_ARRAY(particles->device, offsets, own));
    TRY(buffer_read(particles->cell_offsets, 0, own * sizeof *offsets, offsets));
    const uint32_t cell = range_at(offsets, own, index);
    int used = snprintf(text, sizeof text, "%g", printable(values[0]));
    for (uint32_t n = 1; n < attribute_table[attribute].components; n++)
        used += snprintf(text + used, sizeof text - (size_t)used, ", %g", printable(values[n]));
    return fail(view, "the %s (%s) of a particle of species %s in cell (%u, %u) is non-finite",
                attribute_table[attribute].name, text, particles->species->name,
                slab_global_row(view->slab, cell / ny), cell % ny);
}

static enum status search_attribute(const struct view *view, const struct particles *particles,
                                    enum attribute attribute)
{
    const uint32_t components = attribute_table[attribute].components;
    double values[MOST_COMPONENTS * PIECE] = {0};
    for (uint32_t first = 0; first < particles->count; first += PIECE) {
        const uint32_t left = particles->count - first, count = left < PIECE ? left : PIECE;
        TRY(particles_read(particles, attribute, first, count, values));
        for (uint32_t n = 0; n < components * count; n++)
            if (!isfinite(values[n]))
                return fail_at_particle(view, particles, attribute, first + n / components,
                                        &values[n / components * components]);
    }
    return STATUS_OK;
}

/* Velocities before offsets, which follow from them. */
static enum status search_particles(const struct view *view)
{
    for (uint32_t s = 0; s < view->config->species_count; s++)
        for (enum attribute a = ATTRIBUTES; a-- > 0;)
            if (attribute_table[a].is_real && view->particles[s].attribute[a])
                TRY(search_attribute(view, &view->particles[s], a));
    return STATUS_OK;
}

/* ---- fields ---- */

static enum status search_nodes(const struct view *view, const struct buffer *nodes, const char *what)
{
    const uint32_t own = slab_own_cells(view->slab), ny = view->slab->local.ny;
    double values[PIECE];
    for (uint32_t first = 0; first < own; first += PIECE) {
        const uint32_t count = own - first < PIECE ? own - first : PIECE;
        TRY(buffer_read_reals(nodes, view->config->precision, first, count, values));
        for (uint32_t n = 0; n < count; n++)
            if (!isfinite(values[n]))
                return fail(view, "%s, %g, at node (%u, %u) is non-finite", what, printable(values[n]),
                            slab_global_row(view->slab, (first + n) / ny), (first + n) % ny);
    }
    return STATUS_OK;
}

/* The densities first, from which E and B follow. */
static enum status search_fields(const struct view *view)
{
    const enum solver_name solver = view->config->fields.solver;
    for (enum field f = FIELDS; f-- > 0;)
        for (uint32_t axis = 0; axis < field_components(solver, f); axis++) {
            char what[64];
            snprintf(what, sizeof what, "the %s%s", field_table[f].name, field_axis(solver, f, axis));
            if (field_table[f].provider != FIELD_ON_REQUEST)
                TRY(search_nodes(view, field_component(view->fields, f, axis), what));
        }
    return STATUS_OK;
}

enum status finite_find(const struct view *view)
{
    TRY(communicator_agree(view->communicator, search_particles(view)));
    return communicator_agree(view->communicator, search_fields(view));
}

enum status finite_require(const struct view *view, const char *what, double value)
{
    if (isfinite(value))
        return STATUS_OK;
    TRY(finite_find(view));
    return communicator_agree(view->communicator,
                              fail(view, "the %s is non-finite, though all numbers in it are finite", what));
}
