/* Fields: allocation. */
#include "domain/fields.h"

enum status fields_create(struct device *device, const struct grid *grid, enum precision precision,
                          struct fields *fields)
{
    const size_t real = precision_bytes(precision), bytes = grid_cells(grid) * real,
                 stride = buffer_view_stride(bytes);
    *fields = (struct fields){.stride = (uint32_t)(stride / real)};
    TRY(buffer_create(device, FIELD_COMPONENTS * stride, "fields", &fields->all));
    for (uint32_t c = 0; c < FIELD_COMPONENTS; c++)
        TRY(buffer_view(fields->all, c * stride, bytes, &fields->component[c]));
    for (enum field f = 0; f < FIELDS; f++)
        TRY(buffer_view(fields->all, field_table[f].first * stride, field_table[f].components * stride,
                        &fields->of[f]));
    return STATUS_OK;
}
