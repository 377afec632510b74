/* Not a number: one particle of a running simulation gets a velocity or offset that is none. The run stops
 * within time.check_every steps with a sentence that says where, and no checkpoint of it is ever written: the
 * last good one stays, to the byte. What a checkpoint finds by itself tests/kernel/test_checkpoint.c shows.
 */
#include "support/test_support.h"

#include "simulation.h"
#include "support/config_of_test.h"
#include "support/output_scene.h"

enum { CHECKPOINT = 8, PLANTED = 11 /* step */, ILL = 1234 /* the particle */ };

static const char plasma[] = "grid: {cells: [8, 4], length: [6, 3]}\n"
                             "time: {step: 0.1, steps: 100, check_every: 1}\n"
                             "species:\n"
                             "  - {name: ions, charge: 1, mass: 100, density: 1, particles: 500}\n"
                             "  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 2000,\n"
                             "     velocities: {kind: maxwellian}}\n"
                             "output: {history: {every: 1000}, checkpoints: {every: 8, keep: 1},\n"
                             "  probes: [{name: p, at: [5.9, 1.1], every: 1000}]}\n";

enum { DX, DY, U, V };

struct kind {
    enum step_method method;
    enum precision precision;
};

static const struct kind kinds[] = {{STEP_RADIX, PRECISION_SINGLE},
                                    {STEP_RADIX, PRECISION_DOUBLE},
                                    {STEP_FUSED, PRECISION_SINGLE},
                                    {STEP_FUSED, PRECISION_DOUBLE}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* A simulation with a good checkpoint behind it. */
struct patient {
    struct config config;
    struct simulation simulation;
    struct folder run;          /* of the run, and below it */
    struct run_folder run_path; /* the same for the outputs */
    struct folder folder;       /* its checkpoints */
    unsigned char *good;        /* the bytes of that checkpoint */
    size_t good_bytes;
};

static void take_steps(struct simulation *simulation, uint64_t until)
{
    while (simulation->step < until)
        assert_ok(simulation_step(simulation));
}

/* Runs until `step` is the next one. */
static void patient_create(const struct kind *kind, uint64_t step, struct patient *patient)
{
    patient->config = test_config(plasma, NULL, 0);
    patient->config.step.method = kind->method;
    patient->config.precision = kind->precision;
    patient->run = folder_make();
    patient->run_path = (struct run_folder){.path = patient->run.path, .use = RUN_FOLDER_NEW};
    snprintf(patient->folder.path, sizeof patient->folder.path, "%.40s/checkpoints", patient->run.path);
    assert_ok(simulation_create(&patient->config, device, &patient->simulation));
    assert_ok(outputs_open(patient->simulation.outputs, &alone, &patient->run_path));
    take_steps(&patient->simulation, step);
    assert_ok(outputs_finish(patient->simulation.outputs));
    assert_holds(&patient->folder, "checkpoint_8.h5");
    patient->good = read_file(folder_file(&patient->folder, "checkpoint_8.h5"), &patient->good_bytes);
}

/* The good checkpoint is still there, and nothing else. */
static void patient_destroy(struct patient *patient)
{
    size_t bytes;
    (void)!outputs_close(patient->simulation.outputs); /* whose failure a test may have provoked */
    assert_holds(&patient->folder, "checkpoint_8.h5");
    unsigned char *after = read_file(patient->folder.file, &bytes);
    assert_int_equal(bytes, patient->good_bytes);
    assert_memory_equal(after, patient->good, bytes);
    simulation_destroy(&patient->simulation);
    folder_remove(&patient->run);
}

/* One of the four numbers of a particle, on the device. */
static void plant(const struct particles *particles, int number, double value)
{
    list_write_one(particles, number < U ? ATTRIBUTE_OFFSET : ATTRIBUTE_VELOCITY, ILL, (unsigned)number % 2,
                   value);
}

/* Velocity and offset of step n make a charge density of step n + 1 that is none, and the field of that
 * spreads it over all particles: a check in that step knows whose it was, a later one only that some are ill.
 */
static void check_found(const struct kind *kind, uint32_t check_every, int number, double value)
{
    struct patient patient;
    struct simulation *simulation = &patient.simulation;
    const uint64_t moved = number < U ? PLANTED : PLANTED + 1;
    const uint64_t found = (moved + check_every - 1) / check_every * check_every;
    char words[64];
    patient_create(kind, PLANTED, &patient);
    patient.config.time.check_every = check_every;
    plant(&simulation->particles[1], number, value);
    enum status status = STATUS_OK;
    while (status == STATUS_OK && simulation->step < CHECKPOINT * 2)
        status = simulation_step(simulation);
    assert_int_equal(status, STATUS_FAILED);
    assert_int_equal(simulation->step, found);
    snprintf(words, sizeof words, "step %llu ", (unsigned long long)found);
    assert_sentence_holds(words);
    assert_sentence_holds(check_every == 1 ? "of a particle of species electrons in cell ("
                                           : "of a particle of species ions in cell (");
    assert_sentence_holds("is non-finite");
    patient_destroy(&patient);
}

TEST(a_particle_is_found_by_the_next_check)
{
    const double values[] = {NAN, INFINITY, -INFINITY};
    for (unsigned k = 0; k < KINDS; k++)
        for (int number = DX; number <= V; number += V - DX)
            for (uint32_t check_every = 1; check_every <= 5; check_every += 4)
                check_found(&kinds[k], check_every, number, values[((unsigned)number + k) % 3]);
}

/* A run with a row of each step from the checkpoint on, to its end or, with a velocity that is none in step
 * `planted`, to its failure, which it finds at *found. Returns history.csv, and *probe the file of a probe.
 */
static char *run_rows(const struct kind *kind, bool late, uint64_t planted, uint64_t *found, char **probe)
{
    struct patient patient;
    struct simulation *simulation = &patient.simulation;
    enum status status = STATUS_OK;
    patient_create(kind, CHECKPOINT + 1, &patient);
    patient.config.output.history.every = 1;
    patient.config.output.probes[0].every = 3;
    patient.config.output.checkpoints.every = 0;
    patient.config.time.check_every = 3;
    patient.config.time.steps = 3 * SUM_SLOTS;
    simulation->reads_late = late;
    while (status == STATUS_OK && !simulation_done(simulation)) {
        if (simulation->step == planted)
            plant(&simulation->particles[1], U, (double)NAN);
        status = simulation_step(simulation);
    }
    *found = simulation->step;
    assert_int_equal(status, planted > 0 ? STATUS_FAILED : STATUS_OK);
    char *rows = read_text(folder_file(&patient.run, "history.csv"));
    *probe = read_text(folder_file(&patient.run, "probes/p.csv"));
    patient_destroy(&patient);
    return rows;
}

/* With the same rows, up to the same step, and the same step in the sentence. */
TEST(sums_read_late_are_those_read_at_once)
{
    enum { PLANTED_LATE = SUM_SLOTS + 3 };
    for (unsigned k = 0; k < KINDS; k++)
        for (uint64_t planted = 0; planted <= PLANTED_LATE; planted += PLANTED_LATE) {
            uint64_t found[2];
            char *rows[2], *probes[2], last[16], words[16];
            for (int late = 0; late < 2; late++) {
                rows[late] = run_rows(&kinds[k], late, planted, &found[late], &probes[late]);
                snprintf(words, sizeof words, "step %d ", PLANTED_LATE);
                if (planted > 0)
                    assert_sentence_holds(words);
            }
            assert_string_equal(rows[0], rows[1]);
            assert_string_equal(probes[0], probes[1]);
            assert_non_null(strstr(probes[1], planted > 0 ? "\n33," : "\n96,"));
            snprintf(last, sizeof last, "\n%d,", planted > 0 ? PLANTED_LATE - 1 : 3 * SUM_SLOTS);
            const char *const line = strstr(rows[1], last);
            assert_true(line && strchr(line + 1, '\n') == strrchr(line, '\n'));
            assert_int_equal(found[0], planted > 0 ? PLANTED_LATE : 3 * SUM_SLOTS + 1);
            assert_true(planted > 0 ? found[1] > found[0] : found[1] == found[0]);
        }
}

TEST_MAIN(open_device, close_device)
