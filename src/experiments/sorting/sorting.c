/* Sorting: plans, keys in the order of particles that moved, the judge of sorts and their timing. */
#include "experiments/sorting/sorting.h"

#include "particles/loading.h"
#include "shared/random.h"

#include <string.h>

enum status sort_plan_make(const struct device_info *info, const struct sort_config *asked,
                           uint32_t radix_bits, uint32_t count, struct sorter_plan *plan)
{
    struct sort_config config = *asked;
    const uint32_t bits = config.key_bits, digit = radix_bits < bits ? radix_bits : bits;
    config.passes = digit > 0 ? (bits + digit - 1) / digit : SORT_AUTO;
    if (config.method != SORT_METHOD_PAPER)
        return sorter_plan_make(info, &config, bits, count, plan);
    *plan = (struct sorter_plan){.method = config.method, .key_bits = bits, .passes = config.passes};
    /* The passes that cover the key could be made with fewer bits than asked for; here r is what counts. */
    return radix_plan_make(info, &config, bits, digit, &plan->radix);
}

/* ---- lists of keys ---- */

enum status sort_list_create(struct device *device, uint32_t count, uint32_t cells, struct sort_list *list)
{
    const size_t bytes = count * sizeof(uint32_t);
    list->count = count;
    list->lists.cells = cells;
    TRY(buffer_create(device, bytes, "keys", &list->keys));
    list->lists.keys = list->keys;
    TRY(buffer_create(device, bytes, "sorted keys", &list->lists.sorted_keys));
    return buffer_create(device, bytes, "permutation", &list->lists.permutation);
}

enum status pic_keys_fill(struct pic_keys *keys, const struct grid *grid, enum key_order order)
{
    const struct particles *particles = &keys->particles;
    const uint32_t count = particles->count, cells = grid_cells(grid);
    uint32_t *on_host = keys->list.on_host;
    const size_t bytes = count * sizeof *on_host;
    if (order == KEYS_ONE_WAY || order == KEYS_BOTH_WAYS) {
        TRY(KERNEL_LAUNCH(keys->move, launch_flat(count, STAGE_OTHER, 0), particles->cell_offsets, grid->nx,
                          grid->ny, particles->attribute[ATTRIBUTE_OFFSET],
                          particles->attribute[ATTRIBUTE_VELOCITY], (uint32_t)(order == KEYS_BOTH_WAYS),
                          count, keys->list.keys));
        return buffer_read(keys->list.keys, 0, bytes, on_host);
    }
    for (uint32_t j = 0; j < count; j++) {
        const uint32_t place = order == KEYS_REVERSED ? count - 1 - j : j;
        on_host[j] = (uint32_t)(order == KEYS_RANDOM ? (random_mix(j) >> 32) * cells >> 32
                                                     : (uint64_t)place * cells / count);
    }
    return buffer_write(keys->list.keys, 0, bytes, on_host);
}

/* x, y, u, v in the unit square: bases 2, 3, 5, 7. */
enum status pic_keys_create(struct device *device, const struct grid *grid, uint32_t count,
                            struct pic_keys *keys)
{
    const struct slab slab = slab_whole_box(grid);
    const struct sort_config left_open = {.passes = SORT_AUTO};
    struct sorter_plan plan;
    struct program *program = NULL;
    keys->species = (struct species_config){
        .name = "particles",
        .charge = -1,
        .mass = 1,
        .density = 1,
        .particles = count,
        .positions = {.kind = POSITIONS_VAN_DER_CORPUT, .bases = {2, 3}},
        .velocities = {.kind = VELOCITIES_FORMULA, .bases = {5, 7}, .range = {{0, 1}, {0, 1}}},
    };
    TRY(particles_create(device, &slab, PRECISION_SINGLE, LAYOUT_SOA, &keys->species, count,
                         &keys->particles));
    TRY(sort_list_create(device, count, grid_cells(grid), &keys->list));
    keys->list.lists.cell_offsets = keys->particles.cell_offsets;
    keys->particles.count = count;
    TRY(sorter_plan_make(device_info(device), &left_open, grid_key_bits(grid), count, &plan));
    TRY(load_sorted(&slab, &plan, NULL, 0, &keys->particles));
    TRY(DEVICE_NEW_ARRAY(device, keys->list.on_host, count));
    TRY(program_build(device, "pic_sort.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "pic_sort_move", &keys->move));
    return pic_keys_fill(keys, grid, KEYS_ONE_WAY);
}

/* ---- what a sort must be ---- */

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

/* Of the result on the device a copy on the host; NULL where there is none. */
static enum status read_words(struct device *device, const struct buffer *buffer, size_t count,
                              uint32_t **words)
{
    *words = NULL;
    if (!buffer)
        return STATUS_OK;
    TRY(DEVICE_NEW_ARRAY(device, *words, count));
    return buffer_read(buffer, 0, count * sizeof **words, *words);
}

enum status device_judge_sort(struct device *device, const struct sort_list *list,
                              const struct radix_lists *lists, struct sort_verdict *verdict)
{
    const uint32_t count = list->count, cells = lists->cells;
    uint32_t *sorted, *permutation, *offsets, *expected = NULL;
    TRY(read_words(device, lists->sorted_keys, count, &sorted));
    TRY(read_words(device, lists->permutation, count, &permutation));
    TRY(read_words(device, lists->cell_offsets, cells + (size_t)1, &offsets));
    *verdict = (struct sort_verdict){true, true, true};
    if (permutation)
        TRY(host_judge_sort(device, list->on_host, sorted, permutation, count, verdict));
    if (sorted && list->in_order)
        verdict->sorted &= memcmp(sorted, list->in_order, count * sizeof *sorted) == 0;
    if (offsets) {
        TRY(DEVICE_NEW_ARRAY(device, expected, cells + (size_t)1));
        host_cell_offsets(list->on_host, count, cells, expected);
        verdict->sorted &= memcmp(offsets, expected, (cells + (size_t)1) * sizeof *offsets) == 0;
    }
    return STATUS_OK;
}

/* ---- sorts on the device ---- */

static const enum stage first_phase = STAGE_SORT_TRANSPOSE, last_phase = STAGE_SORT_REORDER;
enum { MOST_ROW = 16 };
static const double row_seconds = 0.01; /* long enough for a row of sorts */

enum status sort_case_run(void *sort_case)
{
    const struct sort_case *one = sort_case;
    return sorter_run(one->sorter, one->list->count, &one->lists);
}

/* The first warm-up: how many sorts are a row, which is long beside the clock. */
static enum status choose_row(struct sort_case *one)
{
    struct device *device = one->bench->device;
    double seconds = 0;
    TRY(sort_case_run(one));
    TRY(device_finish(device));
    for (enum stage phase = first_phase; phase <= last_phase; phase++)
        seconds += device_timers(device)->stages[phase].seconds;
    one->row = seconds * MOST_ROW < row_seconds ? MOST_ROW : 1 + (uint32_t)(row_seconds / seconds);
    return STATUS_OK;
}

/* A row of sorts back to back, whose launches are not timed one by one, since that takes time itself: so is
 * the time of a sort among others, as in a run. Then a sort alone for its phases. */
static enum status run_sorts(void *context)
{
    struct sort_case *one = context;
    struct device *device = one->bench->device;
    if (one->row == 0)
        return choose_row(one);
    TRY(device_region_begin(device));
    device_weigh_times(device, 0);
    for (uint32_t n = 0; n < one->row; n++)
        TRY(sort_case_run(one));
    device_weigh_times(device, 1);
    TRY(device_region_end(device, STAGE_OTHER, 0, STATUS_OK));
    return sort_case_run(one);
}

/* Sorts once more, where nothing of the sorts before can pass for the result. */
static enum status verify_sort(void *context, bool *right)
{
    struct sort_case *one = context;
    TRY(buffer_fill(one->list->lists.permutation, UINT32_MAX));
    TRY(buffer_fill(one->list->lists.sorted_keys, UINT32_MAX));
    TRY(sort_case_run(one));
    TRY(device_judge_sort(one->bench->part, one->list, &one->lists, &one->verdict));
    *right = sort_is_right(&one->verdict);
    return STATUS_OK;
}

enum status sort_case_create(struct device *device, struct sort_case *one)
{
    one->lists = one->list->lists;
    if (!one->wants_cells)
        one->lists.cell_offsets = NULL;
    else if (one->plan.method != SORT_METHOD_PAPER)
        one->lists.sorted_keys = NULL;
    if (one->plan.keys_alone)
        one->lists.permutation = NULL;
    return sorter_create(device, &one->plan, one->list->count, &one->sorter);
}

enum status sort_cases_time(struct bench *bench, void *sort_cases)
{
    const struct sort_cases *of = sort_cases;
    struct subject subjects[SORT_CASES_MOST];
    struct times times[SORT_CASES_MOST];
    for (uint32_t n = 0; n < of->count; n++) {
        of->cases[n].bench = bench;
        TRY(sort_case_create(bench->part, &of->cases[n]));
        subjects[n] = (struct subject){&of->cases[n], NULL, run_sorts, verify_sort, .warm_ups = 0};
    }
    TRY(bench_time(bench, subjects, of->count, times));
    for (uint32_t n = 0; n < of->count; n++) {
        of->cases[n].times = times[n];
        of->cases[n].times.total = spread_scaled(times[n].total, 1.0 / of->cases[n].row);
    }
    return STATUS_OK;
}

/* ---- tables ---- */

const struct bench_table sort_table = {"phase",
                                       {SPREAD("ms", "_ms", 1e3), NUMBER("Mkeys/s", NULL, 1e-6),
                                        NUMBER("GB/s", NULL, 1), OF_COPY, NUMBER("speedup", "speedup", 1)}};

void sort_row(const struct bench *bench, const char *name, uint32_t count, struct spread seconds,
              uint64_t bytes, struct spread speedup)
{
    const struct spread values[] = {seconds, spread_rate(count, seconds), spread_bandwidth(bytes, seconds),
                                    speedup};
    bench_row(bench, &sort_table, name, values, NULL);
}

void sort_print_verdict(const struct bench *bench, const struct sort_verdict *verdict)
{
    char text[96];
    snprintf(text, sizeof text, "%s, %s, %s", verdict->sorted ? "sorted" : "not sorted",
             verdict->stable ? "stable" : "not stable",
             verdict->permutation ? "a permutation" : "not a permutation");
    bench_print_verdict(bench, text);
}

const char *sort_words_of(const struct sorter_plan *plan, char words[SORT_WORDS_LENGTH])
{
    const struct radix_plan *radix = &plan->radix;
    const int length = snprintf(words, SORT_WORDS_LENGTH, "method=%s b=%u p=%u",
                                sort_method_name(plan->method), plan->key_bits, plan->passes);
    if (plan->method == SORT_METHOD_PAPER)
        snprintf(words + length, SORT_WORDS_LENGTH - (size_t)length,
                 " r=%u I=%u G=%u s=%u transpose=%s table=%s", radix->radix_bits, radix->items_per_group,
                 radix->groups, radix->histogram_splits, radix->transpose ? "on" : "off",
                 radix_plan_table_name(radix));
    return words;
}

void sort_report(const struct sort_case *one, double reference)
{
    const struct times *times = &one->times;
    const uint32_t count = one->list->count;
    char words[SORT_WORDS_LENGTH], sort[256];
    bench_words(one->bench, false, times->verified, "%s N=%u%s%s", sort_words_of(&one->plan, words), count,
                one->order ? " order=" : "", one->order ? one->order : "");
    sorter_plan_describe(&one->plan, sort, sizeof sort);
    printf("\nradix sort, %s; %s:\n", sort, one->plan.keys_alone ? "keys alone" : "with permutation");
    bench_head(&sort_table);
    for (enum stage phase = first_phase; phase <= last_phase; phase++)
        if (times->stages[phase].most > 0) /* its name begins with "sort: " */
            sort_row(one->bench, strrchr(stage_name(phase), ' ') + 1, count, times->stages[phase],
                     times->bytes[phase], (struct spread){0});
    sort_row(one->bench, "total", count, times->total, times_bytes(times),
             spread_rate(reference, times->total));
    if (one->plan.keys_alone)
        bench_print_verdict(one->bench, one->verdict.sorted ? "sorted" : "not sorted");
    else
        sort_print_verdict(one->bench, &one->verdict);
}
