/* Fields: allocation. */
#include "domain/fields.h"

enum status fields_create(struct device *device, const struct grid *grid, enum precision precision,
                          enum solver_name solver, struct fields *fields)
{
    const size_t real = precision_bytes(precision), bytes = grid_cells(grid) * real,
                 stride = buffer_view_stride(bytes);
    const uint32_t components = field_first(solver, FIELDS);
    *fields = (struct fields){.solver = solver, .stride = (uint32_t)(stride / real)};
    TRY(buffer_create(device, components * stride, "fields", &fields->all));
    for (uint32_t c = 0; c < components; c++)
        TRY(buffer_view(fields->all, c * stride, bytes, &fields->component[c]));
    for (enum field f = 0; f < FIELDS; f++)
        if (field_components(solver, f) > 0)
            TRY(buffer_view(fields->all, field_first(solver, f) * stride,
                            field_components(solver, f) * stride, &fields->of[f]));
    TRY(buffer_view(fields->all, 0, field_first(solver, FIELD_PHI) * stride, &fields->felt));
    const uint32_t rho = field_first(solver, FIELD_RHO);
    return buffer_view(fields->all, rho * stride, (components - rho) * stride, &fields->sources);
}
