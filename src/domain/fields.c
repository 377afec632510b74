/* Fields: allocation. */
#include "domain/fields.h"

enum status fields_create(struct device *device, const struct grid *grid, enum precision precision,
                          struct fields *fields)
{
    const size_t bytes = grid_cells(grid) * precision_bytes(precision), stride = buffer_view_stride(bytes);
    *fields = (struct fields){0};
    TRY(buffer_create(device, bytes, "charge density", &fields->rho));
    TRY(buffer_create(device, bytes, "potential", &fields->phi));
    TRY(buffer_create(device, 2 * stride, "electric field", &fields->e));
    TRY(buffer_view(fields->e, 0, bytes, &fields->ex));
    return buffer_view(fields->e, stride, bytes, &fields->ey);
}
