/* Check: the rules of fields.drive. */
#include "config/reading.h"

/* A wave at the Nyquist mode is seen at the nodes as +1, -1, +1, ... or not at all, wherever it has run to.
 */
static void check_drive(struct reading *reading, uint32_t index)
{
    const struct drive_config *drive = &reading->config->fields.drive[index];
    const uint32_t most = (reading->config->grid.cells[drive->axis] - 1) / 2;
    if (is_sound(reading, "grid.cells") && at(reading, "fields.drive.%u.axis", index) &&
        at(reading, "fields.drive.%u.mode", index) && drive->mode > most)
        complain(reading, NULL, "expected 1 to %u, below the Nyquist mode along %c, found %u", most,
                 "xy"[drive->axis], drive -> mode);
    if (at(reading, "fields.drive.%u.from", index) && at(reading, "fields.drive.%u.until", index) &&
        drive->until > 0 && drive->until <= drive->from)
        complain(reading, NULL, "expected a time after from, %g, or 0, found %g", drive->from, drive->until);
}

void check_fields(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->config->fields.drive_count; i++)
        check_drive(reading, i);
}
