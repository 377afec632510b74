/* The library by its header alone, with the sanitizers too: state that is read and written, errors, threads.
 * tests/library/test_package.py has more of what it computes. */
#include "radixpic.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "answers.h"

enum { CELLS_X = 16, CELLS_Y = 8, NODES = CELLS_X * CELLS_Y, PARTICLES = 4096, STEPS = 12, COLUMNS = 10 };

/* Lengths and lattice are powers of two, so that positions are exact. */
static const char config[] = "grid: {cells: [16, 8], length: [8, 4]}\n"
                             "time: {step: 0.125, steps: 3}\n"
                             "species:\n"
                             "  - name: electrons\n"
                             "    charge: -1\n"
                             "    mass: 1\n"
                             "    density: 1\n"
                             "    particles: 4096\n"
                             "    positions: {kind: lattice, counts: [64, 64]}\n"
                             "    velocities: {kind: maxwellian, drift: [0.5, 0]}\n"
                             "precision: double\n"
                             "output: {history: {modes: [[1, 0]]}}\n";

static const char *const methods[] = {"step.method=radix", "step.method=fused"};
enum { METHODS = sizeof methods / sizeof methods[0] };
static const char *const precisions[] = {"precision=double", "precision=single"};

/* On the device of all tests. */
static struct radixpic *make(size_t count, const char *const *settings)
{
    const char *all[8];
    char device[256];
    struct radixpic *run = NULL;
    const char *chosen = getenv("RADIXPIC_TEST_DEVICE");
    snprintf(device, sizeof device, "device=%s", chosen && chosen[0] ? chosen : "auto");
    for (size_t n = 0; n < count; n++)
        all[n] = settings[n];
    all[count] = device;
    if (radixpic_create_from_text(config, all, count + 1, &run) != RADIXPIC_OK)
        fail_msg("%s", radixpic_error());
    return run;
}

static void read_all(struct radixpic *run, double values[4][PARTICLES])
{
    static const char *const names[] = {"x", "y", "u", "v"};
    for (int n = 0; n < 4; n++)
        succeeds(radixpic_read_particles(run, "electrons", names[n], values[n]));
}

/* ---- the tests ---- */

static void test_what_there_is(void **state)
{
    (void)state;
    uint32_t cells[2];
    double length[2], unit = 0;
    struct radixpic_species species;
    static uint64_t ids[PARTICLES], sum;
    struct radixpic *run = make(2, (const char *[]){"title=Own", "species.electrons.ids=true"});
    radixpic_grid(run, cells, length);
    assert_int_equal(cells[0], CELLS_X);
    assert_int_equal(cells[1], CELLS_Y);
    assert_true(length[0] == 8 && length[1] == 4);
    assert_int_equal(radixpic_species_count(run), 1);
    succeeds(radixpic_species_at(run, 0, &species));
    assert_string_equal(species.name, "electrons");
    assert_int_equal(species.particles, PARTICLES);
    assert_true(species.charge == -1 && species.mass == 1 && species.weight == 32.0 / PARTICLES);
    assert_non_null(strstr(radixpic_config(run), "title: Own"));
    assert_non_null(strstr(radixpic_config(run), "steps: 3"));
    succeeds(radixpic_unit(run, "phi", &unit));
    assert_true(unit == 100); /* volts: the default temperature in electronvolts */
    assert_true(radixpic_steps(run) == 0 && radixpic_time(run) == 0);
    succeeds(radixpic_step(run, 5)); /* beyond time.steps */
    assert_true(radixpic_steps(run) == 5 && radixpic_time(run) == 0.625);
    succeeds(radixpic_read_ids(run, "electrons", ids));
    for (int n = 0; n < PARTICLES; n++)
        sum += ids[n];
    assert_int_equal(sum, PARTICLES * (PARTICLES - 1) / 2);
    radixpic_destroy(&run);
    assert_null(run);
    radixpic_destroy(&run);
}

/* A config and the same particles written into another one: the same bits. */
static void test_written_particles(void **state)
{
    (void)state;
    static double written[4][PARTICLES], first[STEPS][COLUMNS], second[STEPS][COLUMNS], values[PARTICLES];
    static const char cold[] = "species.electrons.velocities={kind: cold}";
    static const char other[] = "species.electrons.positions={kind: van_der_corput}";
    for (int m = 0; m < METHODS; m++)
        for (int p = 0; p < 2; p++) {
            struct radixpic *loaded = make(2, (const char *[]){methods[m], precisions[p]});
            struct radixpic *own = make(4, (const char *[]){methods[m], precisions[p], cold, other});
            read_all(loaded, written);
            for (int n = 0; n < PARTICLES; n++) /* wrapped into the box */
                written[1][n] += n % 2 == 0 ? 40 : -4;
            succeeds(radixpic_write_particles(own, "electrons", "u", written[2]));
            succeeds(radixpic_write_particles(own, "electrons", "x", written[0]));
            succeeds(radixpic_write_particles(own, "electrons", "y", written[1]));
            succeeds(radixpic_write_particles(own, "electrons", "v", written[3]));
            succeeds(radixpic_read_particles(own, "electrons", "x", values)); /* in the same order */
            assert_memory_equal(values, written[0], sizeof values);
            succeeds(radixpic_step(loaded, STEPS));
            succeeds(radixpic_step(own, STEPS));
            radixpic_read_history(loaded, &first[0][0]);
            radixpic_read_history(own, &second[0][0]);
            assert_memory_equal(first, second, sizeof first);
            radixpic_destroy(&loaded);
            radixpic_destroy(&own);
        }
}

static void test_errors(void **state)
{
    (void)state;
    static double values[PARTICLES];
    uint64_t ids[1];
    struct radixpic_species species;
    struct radixpic *run = (struct radixpic *)values;
    refuses(radixpic_create_from_text("grid: 3\n", NULL, 0, &run), "config:1:");
    assert_null(run);
    refuses(radixpic_create("/proc/nowhere/my.yaml", NULL, 0, &run),
            "/proc/nowhere/my.yaml: cannot read the config");
    refuses(radixpic_create_from_text(config, (const char *[]){"time.stepp=1"}, 1, &run),
            "did you mean \"step\"?");
    assert_int_equal(radixpic_create_from_text(config, (const char *[]){"device=no such"}, 1, &run),
                     RADIXPIC_NO_DEVICE);
    assert_non_null(strstr(radixpic_error(), "no such"));
    run = make(0, NULL);
    refuses(radixpic_read_field(run, "E/z", values), "field \"E/z\" is not known");
    refuses(radixpic_write_field(run, "phi", values), "phi follows from the particles");
    refuses(radixpic_write_field(run, "rho", values), "rho follows from the particles");
    refuses(radixpic_read_particles(run, "ions", "x", values), "species \"ions\" is not known");
    refuses(radixpic_read_particles(run, "electrons", "s", values), "attribute \"s\" is not known");
    refuses(radixpic_read_particles(run, "electrons", "w", values), "species electrons has no w");
    refuses(radixpic_read_ids(run, "electrons", ids), "species electrons has no ids");
    refuses(radixpic_species_at(run, 1, &species), "no species number 1");
    refuses(radixpic_unit(run, "z", values), "quantity \"z\" is not known");
    values[7] = (double)NAN;
    refuses(radixpic_write_particles(run, "electrons", "x", values),
            "species electrons, x: expected finite numbers, found nan in place 7");
    values[7] = (double)INFINITY;
    refuses(radixpic_write_field(run, "E/x", values), "E/x: expected finite numbers, found inf in place 7");
    uint32_t keys[] = {1, 128}, sorted[2], permutation[2];
    refuses(radixpic_sort(run, 2, keys, 9, sorted, permutation, sorted, sorted),
            "passes: expected 1 to 2, found 9");
    refuses(radixpic_sort(run, 0, keys, 1, sorted, permutation, sorted, sorted), "keys: expected 1 to");
    refuses(radixpic_sort(run, 2, keys, 1, sorted, permutation, sorted, sorted), "found 128 in place 1");
    refuses(radixpic_sort(run, 1, keys, 1, sorted, NULL, sorted, sorted), "expected both or neither");
    succeeds(radixpic_step(run, 1)); /* none of it did any harm */
    /* a simulation that fails in a step takes no other, and stays readable */
    for (int n = 0; n < PARTICLES; n++)
        values[n] = n % 2 == 0 ? 1e200 : 1e190;
    succeeds(radixpic_write_particles(run, "electrons", "u", values));
    assert_int_equal(radixpic_step(run, 1), RADIXPIC_FAILED);
    assert_non_null(strstr(radixpic_error(), "is non-finite; the run stops here"));
    assert_int_equal(radixpic_step(run, 1), RADIXPIC_FAILED);
    assert_non_null(strstr(radixpic_error(), "failed in an earlier step: "));
    succeeds(radixpic_read_particles(run, "electrons", "v", values));
    radixpic_destroy(&run);
}

/* By one sentence of every function that has a status; the others find nothing. */
static void test_null(void **state)
{
    (void)state;
    uint32_t words[2], *none = NULL;
    double values[2];
    int size = 7, moved;
    struct radixpic_view view = {0};
    struct radixpic_species species;
    struct radixpic_sort_shape shape;
    struct radixpic *run = (struct radixpic *)values, *nothing = NULL;
    refuses(radixpic_create(config, NULL, 0, NULL), "expected no NULL among the arguments result");
    refuses(radixpic_create(NULL, NULL, 0, &run), "the arguments config");
    assert_null(run);
    refuses(radixpic_create_from_text(NULL, NULL, 0, &run), "the arguments config");
    refuses(radixpic_create_on_ranks(NULL, NULL, NULL, 0, &run), "the arguments config");
    refuses(radixpic_create_from_text(config, NULL, 1, &run), "the arguments setting");
    refuses(radixpic_create_from_text(config, (const char *[]){NULL}, 1, &run), "the arguments setting");
    run = make(0, NULL);
    refuses(radixpic_meet(nothing, NULL, &moved), "the arguments run, moved");
    refuses(radixpic_meet(run, NULL, NULL), "run, moved");
    refuses(radixpic_write_into(run, NULL, 0), "run, folder");
    refuses(radixpic_step(nothing, 1), "run");
    refuses(radixpic_unit(run, "time", NULL), "run, quantity, si");
    refuses(radixpic_read_field(run, "E/x", NULL), "run, name, values");
    refuses(radixpic_write_field(run, NULL, values), "run, name, values");
    refuses(radixpic_species_at(run, 0, NULL), "run, species");
    refuses(radixpic_species_at(nothing, 0, &species), "run, species");
    refuses(radixpic_read_particles(run, NULL, "x", values), "run, species, attribute, values");
    refuses(radixpic_write_particles(run, "electrons", NULL, values), "run, species, attribute, values");
    refuses(radixpic_read_ids(run, "electrons", NULL), "run, species, values");
    refuses(radixpic_lend(run, NULL, NULL, &view), "run, name, view");
    refuses(radixpic_take_back(run, NULL), "run, view");
    succeeds(radixpic_take_back(run, &view)); /* nothing was lent */
    refuses(radixpic_sort_shape(nothing, &shape), "run, shape");
    refuses(radixpic_sort(run, 1, words, 1, words, words, none, words), "run, keys, table, scan");
    succeeds(radixpic_step(run, 1)); /* none of it did any harm */
    radixpic_destroy(&run);
    radixpic_destroy(NULL);
    radixpic_let_go(NULL);
    radixpic_stop(nothing, 2);
    radixpic_ranks(nothing, &size, &moved);
    radixpic_grid(nothing, words, values);
    radixpic_read_history(nothing, values);
    assert_true(size == 0 && words[0] == 0 && values[0] == 0);
    assert_true(radixpic_steps(nothing) == 0 && radixpic_time(nothing) == 0);
    assert_true(radixpic_species_count(nothing) == 0 && radixpic_history_rows(nothing) == 0);
    assert_string_equal(radixpic_history_names(nothing), "");
    assert_null(radixpic_config(nothing));
}

enum { THREADS = 4 };

static void *take_steps(void *run)
{
    static double values[THREADS * STEPS * COLUMNS + COLUMNS];
    for (int n = 0; n < STEPS; n++)
        if (radixpic_step(run, 1) != RADIXPIC_OK)
            return run;
    radixpic_read_history(run, values);
    return radixpic_steps(run) < STEPS ? run : NULL;
}

static void test_threads_take_turns(void **state)
{
    (void)state;
    struct radixpic *run = make(0, NULL);
    pthread_t threads[THREADS];
    for (int n = 0; n < THREADS; n++)
        assert_int_equal(pthread_create(&threads[n], NULL, take_steps, run), 0);
    for (int n = 0; n < THREADS; n++) {
        void *failed = run;
        pthread_join(threads[n], &failed);
        assert_null(failed);
    }
    assert_int_equal(radixpic_steps(run), THREADS * STEPS);
    assert_int_equal(radixpic_history_rows(run), THREADS * STEPS);
    radixpic_destroy(&run);
}

static void test_a_forked_process_has_none(void **state)
{
    (void)state;
    struct radixpic *run = make(0, NULL), *other = NULL;
    int how = 1;
    const pid_t child = fork();
    if (child == 0) {
        int wrong = radixpic_step(run, 1) != RADIXPIC_USAGE;
        wrong |= !strstr(radixpic_error(), "this process was forked from process");
        wrong |= radixpic_create_from_text(config, NULL, 0, &other) != RADIXPIC_USAGE || other;
        radixpic_destroy(&run);
        _exit(wrong || run);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    succeeds(radixpic_step(run, 1));
    radixpic_destroy(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_there_is),
        cmocka_unit_test(test_written_particles),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_threads_take_turns),
        cmocka_unit_test(test_a_forked_process_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
