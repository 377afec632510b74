/* Lost step: a rank whose slab has become too large for the tiled step goes on with plain ones, and takes
 * fused ones again when it can; the physics is that of plain steps throughout, also from a checkpoint on. */
#include "support/mpi_support.h"

#include "support/physics_support.h"

#include "step/stepper.h"

/* A cluster of electrons that flies along x, 2.4 cells a step, while rows change hands to follow it: few rows
 * for those who have it, most of the box for the others. */
static const char flying_cluster[] =
    "{title: lost step, grid: {cells: [48, 64], length: [24, 32]}, time: {step: 0.05, steps: 30},"
    " precision: double, step: {method: tiled}, species: ["
    "{name: electrons, charge: -1, mass: 1, density: 1, particles: 3000, ids: true,"
    " velocities: {kind: maxwellian, thermal: [1, 1], drift: [24, 1]},"
    " perturb: {density: [{axis: x, mode: 1, amplitude: 0.99}, {axis: x, mode: 1, amplitude: 0.99},"
    " {axis: x, mode: 1, amplitude: 0.99}, {axis: x, mode: 1, amplitude: 0.99}]}},"
    "{name: ions, charge: 1, mass: 50, density: 1, particles: 700,"
    " positions: {kind: van_der_corput, bases: [11, 13]}, velocities: {kind: maxwellian, thermal: [1, 1]}}],"
    " parallel: {balance_every: 5, threshold: 1.05},"
    " output: {history: {modes: [[1, 0], [0, 2], [1, -1]]}}}";

/* 48 rows a rank, with those beside as many cells as there are digits; 60 are too many, and particles are too
 * few for windows. */
static struct config config_for(int size)
{
    struct config config = physics_config(flying_cluster);
    config.grid.cells[0] *= (uint32_t)size;
    config.grid.length[0] *= size;
    return config;
}

/* How often a rank went from the one kind of step to the other in the middle of a run. */
struct changes {
    uint64_t to_plain, to_fused;
};

static bool is_fused(const struct simulation *simulation)
{
    return simulation->stepper.kind == &tiled_step;
}

/* The rows of the history. The caller frees them. */
static struct history_row *run_on_all(const struct config *config, struct log *log, struct changes *changes)
{
    struct simulation simulation;
    struct history_row *rows = test_array(config->time.steps + 1, sizeof *rows);
    assert_ok(simulation_create_on(&ranks, config, device, NULL, &simulation));
    assert_true(is_fused(&simulation));
    simulation.log = log;
    for (uint64_t n = 0; !simulation_done(&simulation); n++) {
        const bool was_fused = is_fused(&simulation);
        assert_ok(simulation_step(&simulation));
        rows[n] = simulation.row;
        changes->to_plain += was_fused && !is_fused(&simulation);
        changes->to_fused += n > 0 && !was_fused && is_fused(&simulation);
    }
    simulation_destroy(&simulation);
    return rows;
}

static void compare(const struct config *config, uint64_t first, const struct history_row *found,
                    const struct history_row *expected)
{
    const double tolerance = 1e-10;
    for (uint64_t n = first; n <= config->time.steps; n++) {
        for (uint32_t mode = 0; mode < config->output.history.mode_count; mode++)
            for (int part = 0; part < 2; part++)
                assert_near(found[n].modes[mode][part], expected[n].modes[mode][part], tolerance);
        const double energy = physics_total_energy(&expected[n]);
        assert_near(physics_total_energy(&found[n]), energy, tolerance * energy);
        for (int axis = 0; axis < 2; axis++)
            assert_near(found[n].momentum[axis], expected[n].momentum[axis],
                        tolerance * physics_total_mass(config));
    }
}

TEST(a_rank_that_loses_its_fused_step_goes_on)
{
    struct config config = config_for(ranks.size), plain = config;
    plain.step.method = STEP_RADIX;
    plain.fields.decomposition = DECOMPOSITION_REPLICATED; /* alone, not with the other ranks */
    struct history_row *expected = physics_run(&plain);
    char *said = NULL;
    size_t length = 0;
    struct log log = {.file = open_memstream(&said, &length)};
    assert_non_null(log.file);
    struct changes changes = {0};
    struct history_row *found = run_on_all(&config, &log, &changes);
    assert_int_equal(fclose(log.file), 0);
    compare(&config, 0, found, expected);
    assert_int_equal(strstr(said, "takes the radix step from now on") != NULL, changes.to_plain > 0);
    uint64_t of_all[2] = {changes.to_plain, changes.to_fused};
    communicator_sum_counts(&ranks, 2, of_all);
    assert_int_equal(of_all[0] > 0, ranks.size > 1);
    assert_int_equal(of_all[1] > 0, ranks.size > 1);
}

enum { STORED = 13 }; /* a step when some rank of several has lost its fused step */

/* A run that ends with a checkpoint of that step. */
static void run_until_stored(const struct config *config, const char *folder)
{
    struct config first_part = *config;
    first_part.time.steps = STORED;
    first_part.output.checkpoints = (struct checkpoints_config){.every = STORED, .keep = 1};
    struct simulation simulation;
    assert_ok(simulation_create_on(&ranks, &first_part, device, NULL, &simulation));
    const struct run_folder run_folder = {folder, RUN_FOLDER_NEW, false};
    assert_ok(outputs_open(simulation.outputs, &ranks, &run_folder, 0));
    while (!simulation_done(&simulation))
        assert_ok(simulation_step(&simulation));
    assert_ok(outputs_close(simulation.outputs));
    simulation_destroy(&simulation);
}

/* The rows of the history from there on. The caller frees them. */
static struct history_row *run_from_stored(const struct config *config, const char *folder)
{
    struct checkpoint *checkpoint = NULL;
    struct simulation simulation;
    struct history_row *rows = test_array(config->time.steps + 1, sizeof *rows);
    char path[96];
    assert_non_null(rows);
    snprintf(path, sizeof path, "%s/checkpoints/checkpoint_%d.h5", folder, STORED);
    assert_ok(checkpoint_open(&ranks, path, &checkpoint));
    assert_ok(simulation_create_on(&ranks, config, device, checkpoint, &simulation));
    checkpoint_close(&checkpoint);
    uint64_t plain = !is_fused(&simulation);
    communicator_sum_counts(&ranks, 1, &plain);
    assert_int_equal(plain > 0, ranks.size > 1);
    while (!simulation_done(&simulation)) {
        struct history_row *row = &rows[simulation.step];
        assert_ok(simulation_step(&simulation));
        *row = simulation.row;
    }
    simulation_destroy(&simulation);
    return rows;
}

TEST(a_checkpoint_of_such_a_rank_is_gone_on_with)
{
    const struct config config = config_for(ranks.size);
    char folder[64] = "/tmp/radixpic_lost_step_XXXXXX", command[96];
    if (ranks.rank == 0)
        assert_non_null(mkdtemp(folder));
    communicator_broadcast(&ranks, sizeof folder, folder);
    run_until_stored(&config, folder);
    struct changes changes = {0};
    struct history_row *found = run_from_stored(&config, folder),
                       *expected = run_on_all(&config, NULL, &changes);
    compare(&config, STORED, found, expected);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(ranks.rank == 0 ? system(command) : 0, 0);
}

/* At the start it is the user's choice that does not fit. */
TEST(a_run_does_not_begin_with_what_there_is_not)
{
    struct config config = config_for(ranks.size);
    config.grid.cells[1] *= 2;
    struct simulation simulation;
    assert_int_equal(simulation_create_on(&ranks, &config, device, NULL, &simulation), STATUS_USAGE);
    assert_non_null(strstr(status_message(), "cannot take the tiled step"));
    simulation_destroy(&simulation);
}

MPI_TEST_MAIN(open_device, close_device)
