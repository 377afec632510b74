/* Sorting: plans, keys in the order of particles that moved, the host's sort and the judge of all. */
#include "experiments/sorting/sorting.h"

#include "particles/loading.h"

#include <string.h>

enum status sort_plan_make(const struct device_info *info, const struct sort_config *asked,
                           uint32_t radix_bits, uint32_t count, struct sorter_plan *plan)
{
    struct sort_config config = *asked;
    const uint32_t bits = config.key_bits, digit = radix_bits < bits ? radix_bits : bits;
    config.passes = digit > 0 ? (bits + digit - 1) / digit : SORT_AUTO;
    if (config.method != SORT_METHOD_PAPER)
        return sorter_plan_default(info, &config, bits, count, plan);
    *plan = (struct sorter_plan){.method = config.method, .key_bits = bits, .passes = config.passes};
    /* The passes that cover the key could be made with fewer bits than asked for; here r is what counts. */
    return radix_plan_make_radix(info, &config, bits, digit, &plan->radix);
}

void sort_write(struct bench *bench, const struct sorter_plan *plan, uint32_t count,
                const struct times *times)
{
    const struct radix_plan *radix = &plan->radix;
    char parameters[96] = "";
    if (plan->method == SORT_METHOD_PAPER)
        snprintf(parameters, sizeof parameters, " r=%u I=%u G=%u s=%u transpose=%s table=%s",
                 radix->radix_bits, radix->items_per_group, radix->groups, radix->histogram_splits,
                 radix->transpose ? "on" : "off", radix_plan_table_name(radix));
    bench_words(bench, false, times->verified, "method=%s N=%u b=%u p=%u%s", sort_method_name(plan->method),
                count, plan->key_bits, plan->passes, parameters);
    for (enum stage phase = first_sort_phase; phase <= last_sort_phase; phase++)
        if (times->stages[phase].most > 0)
            bench_row(bench, times->stages[phase], 1e3, "%s_ms", sort_phase_name(phase));
    bench_row(bench, times->total, 1e3, "total_ms");
}

/* ---- keys ---- */

enum { MOVE_ITEMS = 64 };

static enum status move(struct device *device, const struct grid *grid, const struct pic_keys *list)
{
    const struct particles *particles = &list->particles;
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    TRY(program_build(device, "pic_sort.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "pic_sort_move", &kernel));
    return KERNEL_LAUNCH(
        kernel, launch_covering(particles->count, device_group_items(device, MOVE_ITEMS), STAGE_OTHER, 0),
        particles->cell_offsets, grid->nx, grid->ny, particles->attribute[ATTRIBUTE_OFFSET],
        particles->attribute[ATTRIBUTE_VELOCITY], particles->count, list->lists.keys);
}

/* x, y, u, v in the unit square: bases 2, 3, 5, 7. */
enum status pic_keys_create(struct device *device, const struct grid *grid, uint32_t count,
                            struct pic_keys *list)
{
    const struct slab slab = slab_whole_box(grid);
    const struct sort_config left_open = {.passes = SORT_AUTO};
    struct sorter_plan plan;
    struct buffer *keys = NULL;
    const size_t bytes = count * sizeof(uint32_t);
    list->species = (struct species_config){
        .name = "particles",
        .charge = -1,
        .mass = 1,
        .density = 1,
        .particles = count,
        .positions = {.kind = POSITIONS_VAN_DER_CORPUT, .bases = {2, 3}},
        .velocities = {.kind = VELOCITIES_UNIFORM, .bases = {5, 7}, .range = {{0, 1}, {0, 1}}},
    };
    TRY(particles_create(device, &slab, PRECISION_SINGLE, LAYOUT_SOA, &list->species, count,
                         &list->particles));
    list->lists.cell_offsets = list->particles.cell_offsets;
    list->lists.cells = grid_cells(grid);
    TRY(buffer_create(device, bytes, "keys in PIC order", &keys));
    list->lists.keys = keys;
    TRY(buffer_create(device, bytes, "sorted keys", &list->lists.sorted_keys));
    TRY(buffer_create(device, bytes, "permutation", &list->lists.permutation));
    TRY(DEVICE_NEW_ARRAY(device, list->on_host, count));
    list->particles.count = count;
    TRY(sorter_plan_default(device_info(device), &left_open, grid_key_bits(grid), count, &plan));
    TRY(load_sorted(&slab, &plan, 0, &list->particles));
    TRY(move(device, grid, list));
    return buffer_read(list->lists.keys, 0, bytes, list->on_host);
}

/* ---- the host ---- */

void host_cell_offsets(const uint32_t *keys, uint32_t count, uint32_t cells, uint32_t *offsets)
{
    for (uint32_t j = 0; j < count; j++)
        offsets[keys[j] + 1]++;
    for (uint32_t c = 0; c < cells; c++)
        offsets[c + 1] += offsets[c];
}

enum status host_judge_sort(struct device *device, const uint32_t *keys, const uint32_t *sorted_keys,
                            const uint32_t *permutation, uint32_t count, struct sort_verdict *verdict)
{
    uint8_t *seen = NULL;
    TRY(DEVICE_NEW_ARRAY(device, seen, count));
    *verdict = (struct sort_verdict){true, true, true};
    for (uint32_t j = 0; j < count; j++) {
        const uint32_t source = permutation[j];
        if (source >= count || seen[source] || (sorted_keys && keys[source] != sorted_keys[j])) {
            verdict->permutation = false;
            break;
        }
        seen[source] = 1;
        const uint32_t before = permutation[j > 0 ? j - 1 : 0];
        verdict->sorted = verdict->sorted && keys[before] <= keys[source];
        verdict->stable = verdict->stable && (keys[before] != keys[source] || before <= source);
    }
    return STATUS_OK;
}

enum status device_judge_sort(struct device *device, const uint32_t *keys, uint32_t count,
                              const struct radix_lists *lists, struct sort_verdict *verdict)
{
    const size_t bytes = count * sizeof(uint32_t), cells = lists->cells + (size_t)1;
    uint32_t *sorted = NULL, *permutation = NULL, *offsets = NULL, *expected = NULL;
    TRY(DEVICE_NEW_ARRAY(device, permutation, count));
    TRY(buffer_read(lists->permutation, 0, bytes, permutation));
    if (lists->sorted_keys) {
        TRY(DEVICE_NEW_ARRAY(device, sorted, count));
        TRY(buffer_read(lists->sorted_keys, 0, bytes, sorted));
    }
    TRY(host_judge_sort(device, keys, sorted, permutation, count, verdict));
    if (lists->cell_offsets) {
        TRY(DEVICE_NEW_ARRAY(device, offsets, cells));
        TRY(DEVICE_NEW_ARRAY(device, expected, cells));
        TRY(buffer_read(lists->cell_offsets, 0, cells * sizeof *offsets, offsets));
        host_cell_offsets(keys, count, lists->cells, expected);
        verdict->sorted = verdict->sorted && memcmp(offsets, expected, cells * sizeof *offsets) == 0;
    }
    return STATUS_OK;
}
