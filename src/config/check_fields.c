/* Check, fields: the rules of drives and of formulas of fields. */
#include "config/check.h"

#include "config/formulas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The work of a drive is that on the filtered density, divided by what the filter leaves of its mode: below
 * this, round-off of single precision would be 1e-4 of it. */
#define LEAST_FILTERED 1e-3

/* A run evaluates these formulas at the grid's nodes alone. */
void check_field_formulas(struct reading *reading, const char *group)
{
    const struct fields_config *fields = &reading->config->fields;
    const bool is_initial = strcmp(group, "initial") == 0;
    bool has_formula = false;
    const struct grid_config *grid = &reading->config->grid;
    const struct nodes nodes = nodes_once(box_nodes(grid->cells, grid->length));
    char why[FORMULA_WHY_LENGTH], *source = NULL;
    double most;
    for (int n = 0; n < 6; n++) {
        const char *formula = (is_initial ? fields->initial : fields->external)[n / 3][n % 3];
        if (!at(reading, "fields.%s.%s", group, n < 3 ? "E" : "B") || !is_sound(reading, "grid") ||
            !profile_is_given(formula, "0"))
            continue;
        has_formula = true;
        check_formula(reading, &nodes, formula, -INFINITY, &most);
        if (!is_initial && !external_source(reading->config, formula, &source, why))
            complain(reading, NULL, "%s", why);
        free(source);
        source = NULL;
    }
    const struct field_file *file = &fields->file[is_initial ? FIELDS_INITIAL : FIELDS_EXTERNAL];
    if (has_formula && file->path[0] && at(reading, "fields.%s.file", group))
        complain(reading, NULL, "expected either a file or formulas E and B, found both");
    if (file->place[0] && !file->path[0] && at(reading, "fields.%s.place", group))
        complain(reading, NULL, "expected fields.%s.file beside it", group);
}

/* A wave at the Nyquist mode is +1, -1, +1, ... at the nodes or 0 there, wherever it has run to. */
static void check_drive(struct reading *reading, uint32_t index)
{
    const struct drive_config *drive = &reading->config->fields.drive[index];
    const uint32_t cells = reading->config->grid.cells[drive->axis];
    const char axis = "xy"[drive->axis];
    const double left = deposit_filter(&reading->config->deposit, 2 * acos(-1.0) * drive->mode / cells);
    if (is_sound(reading, "grid.cells") && at(reading, "fields.drive.%u.axis", index) &&
        at(reading, "fields.drive.%u.mode", index)) {
        if (drive->mode >= (cells + 1) / 2)
            complain(reading, NULL, "expected less than half of the %u cells along %c, found %u", cells, axis,
                     drive->mode);
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
    else if (at(reading, "fields.drive.%u.ramp", index) && drive->until > 0 &&
             2 * drive->ramp > drive->until - drive->from)
        complain(reading, NULL, "expected at most half of the time from `from` to `until`, %g, found %g",
                 (drive->until - drive->from) / 2, drive->ramp);
}

void check_fields(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->config->fields.drive_count; i++)
        check_drive(reading, i);
    check_field_formulas(reading, "external");
}
