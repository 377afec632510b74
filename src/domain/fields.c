/* Fields: allocation. */
#include "domain/fields.h"

enum status fields_create(struct device *device, const struct grid *grid, enum precision precision,
                          struct fields *fields)
{
    *fields = (struct fields){0};
    const size_t bytes = grid_cells(grid) * precision_bytes(precision);
    TRY(buffer_create(device, bytes, "charge density", &fields->rho));
    TRY(buffer_create(device, bytes, "potential", &fields->phi));
    TRY(buffer_create(device, bytes, "electric field along x", &fields->ex));
    return buffer_create(device, bytes, "electric field along y", &fields->ey);
}

void fields_destroy(struct fields *fields)
{
    buffer_destroy(&fields->rho);
    buffer_destroy(&fields->phi);
    buffer_destroy(&fields->ex);
    buffer_destroy(&fields->ey);
}

uint64_t fields_bytes(const struct grid *grid, enum precision precision)
{
    return UINT64_C(4) * grid_cells(grid) * precision_bytes(precision);
}
