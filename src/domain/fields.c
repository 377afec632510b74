/* Fields: allocation. */
#include "domain/fields.h"

enum status fields_create(struct device *device, const struct grid *grid, enum precision precision,
                          struct fields *fields)
{
    *fields = (struct fields){0};
    const size_t bytes = grid_cells(grid) * precision_bytes(precision);
    TRY(buffer_create(device, bytes, "charge density", &fields->rho));
    TRY(buffer_create(device, bytes, "potential", &fields->phi));
    const size_t stride = buffer_view_stride(bytes);
    TRY(buffer_create(device, 2 * stride, "electric field", &fields->e));
    TRY(buffer_view(fields->e, 0, bytes, &fields->ex));
    return buffer_view(fields->e, stride, bytes, &fields->ey);
}

void fields_destroy(struct fields *fields)
{
    buffer_destroy(&fields->rho);
    buffer_destroy(&fields->phi);
    buffer_destroy(&fields->ex);
    buffer_destroy(&fields->ey);
    buffer_destroy(&fields->e);
}

uint64_t fields_bytes(const struct grid *grid, enum precision precision)
{
    const size_t bytes = grid_cells(grid) * precision_bytes(precision);
    return 2 * ((uint64_t)bytes + buffer_view_stride(bytes));
}
