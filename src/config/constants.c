/* Constants: read before all other values, which may name them. */
#include "config/reading.h"
#include "config/schema.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(((struct constant *)0)->name) == CONFIG_NAME_LENGTH,
               "a constant has a name of the config");

/* Sets lx and ly, once grid.length can be read by the constants so far. Its own complaints are read_tree()'s.
 */
static void learn_length(struct reading *reading)
{
    const struct schema_row *row = schema_find(&config_schema, "grid.length");
    const struct tree_node *node = tree_value(tree_value(reading->tree.root, "grid"), "length");
    double length[2];
    char why[VALUE_WHY_LENGTH];
    if (!node || node->kind != TREE_SEQUENCE || tree_count(node) != 2)
        return;
    for (int axis = 0; axis < 2; axis++) {
        const struct tree_node *item = axis == 0 ? node->first_child : node->last_child;
        if (item->kind != TREE_SCALAR ||
            !value_parse(row, item->text, item->length, item->plain, &reading->constants, &length[axis], why))
            return;
    }
    for (int axis = 0; axis < 2; axis++)
        reading->constants.items[axis].value = length[axis];
}

/* Whether a name has a meaning in formulas, or as a unit. */
static bool is_taken(const char *name)
{
    static const char *const units[] = {"lambda_D", "v_th", "omega_p", "n_0", "m_e", "eV"};
    bool is_unit = false;
    for (size_t n = 0; n < sizeof units / sizeof units[0]; n++)
        is_unit |= strcmp(name, units[n]) == 0;
    return is_unit || formula_has_word(name);
}

/* Whether the key of a constant can be its name; complains where it cannot. */
static bool read_name(struct reading *reading, const struct tree_node *mapping, const struct tree_node *node,
                      char name[CONFIG_NAME_LENGTH])
{
    static const struct schema_row row = {"", TYPE_NAME, .low = 1, .high = CONFIG_NAME_LENGTH - 1,
                                          .capacity = CONFIG_NAME_LENGTH};
    const struct tree_node *key = node->key, *first = tree_value(mapping, key->text);
    char why[VALUE_WHY_LENGTH];
    at(reading, "constants");
    if (!value_parse(&row, key->text, key->length, true, NULL, name, why)) {
        complain(reading, key, "%s", why);
        return false;
    }
    at(reading, "constants.%s", name);
    if (is_taken(name))
        complain(reading, key,
                 "is a word of formulas, as c and gamma are, or a unit, as eV is; choose another name");
    else if (first != node)
        complain(reading, key, "given twice; first at line %zu", first->key->origin.line);
    return is_sound(reading, reading->path);
}

/* Reads the value of a constant, which is left alone where it has a complaint. */
static void read_number(struct reading *reading, const struct tree_node *node, double *value)
{
    static const struct schema_row row = {"", TYPE_REAL, .low = -INFINITY, .high = INFINITY};
    char why[VALUE_WHY_LENGTH];
    if (node->kind != TREE_SCALAR)
        complain(reading, node, "expected a finite number, found a list or a mapping");
    else if (!value_parse(&row, node->text, node->length, node->plain, &reading->constants, value, why))
        complain(reading, node, "%s%s", why,
                 strstr(why, "is not known")
                     ? "; a constant may use those before it, and lx and ly where grid.length uses none"
                     : "");
}

void read_constants(struct reading *reading)
{
    const struct tree_node *mapping = tree_value(reading->tree.root, "constants");
    const bool is_mapping = mapping && mapping->kind == TREE_MAPPING;
    struct constants *constants = &reading->constants;
    const size_t most = 2 + (is_mapping ? tree_count(mapping) : 0);
    constants->items = config_new_items(reading->config, most, sizeof *constants->items);
    if (at(reading, "constants") && (!constants->items || (mapping && !is_mapping)))
        complain(reading, mapping,
                 constants->items ? "expected names with their numbers" : "no memory for them");
    if (!constants->items)
        return;
    constants->items[0] = (struct constant){.name = "lx", .value = NAN};
    constants->items[1] = (struct constant){.name = "ly", .value = NAN};
    constants->count = 2;
    learn_length(reading);
    for (const struct tree_node *node = is_mapping ? mapping->first_child : NULL; node; node = node->next) {
        struct constant *constant = &constants->items[constants->count];
        if (!read_name(reading, mapping, node, constant->name))
            continue;
        constant->value = 1;
        read_number(reading, node, &constant->value);
        constants->count++;
    }
    learn_length(reading);
    reading->path[0] = '\0';
    reading->config->constants = constants->items + 2;
    reading->config->constant_count = constants->count - 2;
}

void check_constants(struct reading *reading)
{
    const struct tree_node *mapping = tree_value(reading->tree.root, "constants");
    const struct tree_node *node = reading->total == 0 && mapping ? mapping->first_child : NULL;
    for (const struct constant *constant = reading->config->constants; node; node = node->next, constant++) {
        at(reading, "constants.%s", constant->name);
        if (!constant->is_used && node->origin.setting != TREE_FROM_FILE)
            complain(reading, node, "no number and no formula of the config uses it");
    }
}
