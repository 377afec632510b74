/* Stage table: what rank 0 prints and writes of the times of all ranks, to the digit. */
#include "support/mpi_support.h"
#include "support/test_folder.h"

#include "base/below.h"
#include "output/stage_table.h"

enum { STEPS = 10, ADVANCES = 9, PUSHED_BYTES = 1000000000, TEXT = 4096 };

static struct folder folder;

static int make_folder(void **state)
{
    (void)state;
    folder = folder_make_for_all();
    folder_file(&folder, "timers.csv");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return ranks.rank > 0 ? 0 : folder_remove_with_file(&folder);
}

static struct timers timers;
static struct run_cost cost;

/* Of P ranks rank r takes P - r seconds for the push and 1 for the deposit; the last rank alone has a halo;
 * there is no exchange. Rank r has 2 million particles more than rank r - 1, in a loop of 8 + r seconds, of a
 * process of 20 + r seconds. */
static int make_numbers(void **state)
{
    const uint64_t size = (uint64_t)ranks.size, million = 1000000;
    (void)state;
    timers = (struct timers){0};
    timers_add(&timers, STAGE_START_DEVICE, 1, 0, 1);
    timers_add(&timers, STAGE_START_KERNELS, 0.0625, 0, 4);
    timers_add(&timers, STAGE_LOAD, 0.5, 1000, 1);
    timers_add(&timers, STAGE_SORT_OFFSETS, 0.25, 0, 1);
    timers_add(&timers, STAGE_DEPOSIT, 0.1, 0, STEPS);
    timers_add(&timers, STAGE_PUSH, 0.1 * (ranks.size - ranks.rank), PUSHED_BYTES / STEPS, STEPS);
    if (ranks.rank == ranks.size - 1)
        timers_add(&timers, STAGE_HALO, 0.1, 0, STEPS);
    timers_add(&timers, STAGE_OTHER, 100, 1, 1);
    cost = (struct run_cost){.steps = STEPS,
                             .advances = ADVANCES,
                             .particles = million * size * size,
                             .own_particles = million * (1 + 2 * (uint64_t)ranks.rank),
                             .step_seconds = 8 + ranks.rank,
                             .wall_seconds = 20 + ranks.rank,
                             .timed_every = 1};
    return 0;
}

#undef TEST
#define TEST(name) TEST_WITH(name, make_numbers, free_arrays)

/* What the numbers above come to. */
struct expected {
    double size, push, steps, wall, particles;
};

static struct expected expect(void)
{
    const double size = ranks.size, push = (1 + size) / 2;
    return (struct expected){
        .size = size, .push = push, .steps = 7 + size, .wall = 19 + size, .particles = 1e6 * size * size};
}

static const char *print_to_text(void)
{
    static char text[TEXT];
    memset(text, 0, sizeof text);
    FILE *stream = fmemopen(text, sizeof text, "w");
    assert_non_null(stream);
    struct log log = {.file = stream};
    const struct run_folder run = {.path = folder.path, .descriptor = in_folder_begin(folder.path, 0)};
    assert_ok(stage_table_write(&log, &run, &ranks, &timers, &cost));
    in_folder_end(run.descriptor);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* The line that begins with `name`, without it. */
static const char *line_of(const char *text, const char *name)
{
    static char line[256];
    const char *found = strstr(text, name);
    while (found && found != text && found[-1] != '\n')
        found = strstr(found + 1, name);
    if (!found)
        fail_msg("no line of %s in\n%s", name, text);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(found, "\n"), found);
    return line + strlen(name);
}

/* least, mean, most, share in percent, GB/s and M particles/s where they are not negative */
static void check_line(const char *text, const char *name, const double *numbers)
{
    char wanted[256], bandwidth[32] = "", rates[64] = "";
    if (numbers[4] >= 0)
        snprintf(bandwidth, sizeof bandwidth, "%.2f", numbers[4]);
    if (numbers[5] >= 0)
        snprintf(rates, sizeof rates, " %9s %14.1f", bandwidth, numbers[5]);
    if (ranks.size == 1)
        snprintf(wanted, sizeof wanted, "%-20s %10.4f %5.1f %%%s", name, numbers[1], numbers[3], rates);
    else
        snprintf(wanted, sizeof wanted, "%-20s %12.4f %10.4f %10.4f %10.3f %5.1f %%%s", name, numbers[0],
                 numbers[1], numbers[2], numbers[2] / numbers[1], numbers[3], rates);
    assert_string_equal(line_of(text, name), wanted + strlen(name));
}

TEST(the_table_is_that_of_all_ranks)
{
    const struct expected e = expect();
    const char *text = print_to_text();
    if (ranks.rank > 0) {
        assert_string_equal(text, "");
        return;
    }
    const double moved = 1e-6 * STEPS * e.particles, share = 100 / e.wall;
    const double halo = 1 / e.size, bandwidth = 1e-9 * PUSHED_BYTES * e.size / e.push;
    check_line(text, "push", (double[]){1, e.push, e.size, e.push * share, bandwidth, moved / e.push});
    check_line(text, "steps",
               (double[]){8, 7.5 + e.size / 2, e.steps, (7.5 + e.size / 2) * share, -1,
                          1e-6 * ADVANCES * e.particles / e.steps});
    const double wall = 19.5 + e.size / 2;
    check_line(text, "stages together", (double[]){20, wall, e.wall, wall * share, -1, -1});
    check_line(text, "wall clock", (double[]){20, wall, e.wall, 100, -1, -1});
    check_line(text, "start: kernels", (double[]){0.25, 0.25, 0.25, 0.25 * share, -1, -1});
    check_line(text, "halo", (double[]){ranks.size == 1 ? 1 : 0, halo, 1, halo * share, 0, moved / halo});
    assert_null(strstr(text, "exchange"));
    assert_null(strstr(text, "start: MPI"));
    assert_null(strstr(text, "times what one step"));
}

/* Rank r's wall clock less its stages is 17 - P + 2r seconds, of the last one, with its halo, a second less.
 */
TEST(what_no_stage_has_is_a_row)
{
    const struct expected e = expect();
    const double least = ranks.size == 1 ? 15 : 17 - e.size, mean = 16 - 1 / e.size;
    const char *text = print_to_text();
    if (ranks.rank == 0)
        check_line(text, "other", (double[]){least, mean, 14 + e.size, 100 * mean / e.wall, -1, -1});
    timers_add(&timers, STAGE_PUSH, 100, 0, 1); /* at the same time as others */
    text = print_to_text();
    if (ranks.rank > 0)
        return;
    const double together = 103 + e.push + 1 / e.size, most = ranks.size == 1 ? 105 : 103 + e.size;
    assert_non_null(strstr(line_of(text, "other"), " 0.0000 "));
    check_line(text, "stages together", (double[]){105, together, most, 100 * together / e.wall, -1, -1});
}

TEST(the_imbalance_of_the_particles_is_told)
{
    const char *text = print_to_text();
    if (ranks.size == 1)
        assert_null(strstr(text, "imbalance"));
    if (ranks.size == 1 || ranks.rank > 0)
        return;
    char wanted[128];
    snprintf(wanted, sizeof wanted, " %.3f: most particles of a rank over the mean of %d ranks",
             (2.0 * ranks.size - 1) / ranks.size, ranks.size);
    assert_string_equal(line_of(text, "particle imbalance  "), wanted);
}

TEST(sampled_times_are_told)
{
    cost.timed_every = 7;
    const char *text = print_to_text();
    if (ranks.rank == 0)
        assert_string_equal(line_of(text, "(stages: "), "7 times what one step in 7 took)");
}

/* The numbers of a run that did nothing are numbers. */
TEST(nothing_done_is_no_division_by_zero)
{
    timers = (struct timers){0};
    cost = (struct run_cost){0};
    const char *text = print_to_text();
    if (ranks.rank > 0)
        return;
    assert_non_null(line_of(text, "wall clock"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
}

/* ---- timers.csv ---- */

/* seconds, launches, bytes, GB/s, particles/s, least, mean, most */
static void check_row(const char *text, const char *name, const double *numbers)
{
    char wanted[256];
    snprintf(wanted, sizeof wanted, "%.9g,%.0f,%.0f,%.6g,%.6g,%.9g,%.9g,%.9g,%.6g", numbers[0], numbers[1],
             numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], numbers[7], numbers[7] / numbers[6]);
    assert_string_equal(line_of(text, name), wanted);
}

TEST(the_file_is_that_of_all_ranks)
{
    const struct expected e = expect();
    print_to_text();
    if (ranks.rank > 0)
        return;
    const char *text = read_text(folder.file);
    assert_string_equal(line_of(text, "stage,seconds,launches,bytes,"),
                        "gigabytes_per_second,particles_per_second,"
                        "seconds_min,seconds_mean,seconds_max,imbalance");
    const double moved = STEPS * e.particles, bytes = PUSHED_BYTES * e.size, bandwidth = 1e-9 * bytes;
    check_row(
        text, "push,",
        (double[]){e.push, STEPS * e.size, bytes, bandwidth / e.push, moved / e.push, 1, e.push, e.size});
    check_row(text, "load,",
              (double[]){0.5, e.size, 1000 * e.size, 2e-6 * e.size, 2 * e.particles, 0.5, 0.5, 0.5});
    check_row(
        text, "steps,",
        (double[]){e.steps, STEPS, 0, 0, ADVANCES * e.particles / e.steps, 8, 7.5 + e.size / 2, e.steps});
    check_row(text, "wall clock,", (double[]){e.wall, 0, 0, 0, 0, 20, 19.5 + e.size / 2, e.wall});
    check_row(text, "start: kernels,", (double[]){0.25, 4 * e.size, 0, 0, 0, 0.25, 0.25, 0.25});
    assert_string_equal(line_of(text, "exchange,"), "0,0,0,0,0,0,0,0,1");
}

TEST(a_folder_that_is_missing_fails_all_ranks)
{
    static const char path[] = "/tmp/radixpic_no_such_folder";
    struct run_folder missing = {.path = path};
    if (ranks.rank == 0) {
        assert_int_equal(mkdir(path, 0777), 0);
        missing.descriptor = in_folder_begin(path, 0);
        assert_int_equal(rmdir(path), 0);
    }
    assert_fails(stage_table_write(&(struct log){0}, &missing, &ranks, &timers, &cost),
                 "/tmp/radixpic_no_such_folder/timers.csv: No such file");
}

MPI_TEST_MAIN(make_folder, remove_folder)
