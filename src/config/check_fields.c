/* Check: the rules of fields.drive. */
#include "config/reading.h"

#include <math.h>

/* The work of a drive is that on the filtered density, divided by what the filter leaves of its mode: below
 * this, round-off of single precision would be 1e-4 of it. */
#define LEAST_FILTERED 1e-3

/* A wave at the Nyquist mode is seen at the nodes as +1, -1, +1, ... or not at all, wherever it has run to.
 */
static void check_drive(struct reading *reading, uint32_t index)
{
    const struct drive_config *drive = &reading->config->fields.drive[index];
    const uint32_t cells = reading->config->grid.cells[drive->axis];
    const double left = pow((1 + cos(2 * acos(-1.0) * drive->mode / cells)) / 2,
                            reading->config->deposit.filter_passes); /* kernels/filter.cl */
    if (is_sound(reading, "grid.cells") && at(reading, "fields.drive.%u.axis", index) &&
        at(reading, "fields.drive.%u.mode", index)) {
        if (drive->mode >= (cells + 1) / 2)
            complain(reading, NULL, "expected less than half of the %u cells along %c, found %u", cells,
                     "xy"[drive->axis], drive -> mode);
        else if (left < LEAST_FILTERED)
            complain(
                reading, NULL,
                "expected a mode of which deposit.filter_passes leaves at least %g, found %u, of which it "
                "leaves %.3g",
                LEAST_FILTERED, drive->mode, left);
    }
    if (at(reading, "fields.drive.%u.from", index) && at(reading, "fields.drive.%u.until", index) &&
        drive->until > 0 && drive->until <= drive->from)
        complain(reading, NULL, "expected a time after from, %g, or 0, found %g", drive->from, drive->until);
}

void check_fields(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->config->fields.drive_count; i++)
        check_drive(reading, i);
}
