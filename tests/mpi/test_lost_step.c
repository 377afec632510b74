/* Lost step: a rank whose slab has become too large for the tiled step goes on with plain ones, and takes
 * fused ones again when it can; the physics is that of plain steps throughout, also from a checkpoint on. */
#include "support/mpi_support.h"

#include "support/physics_support.h"
#include "support/test_folder.h"

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

/* How a rank began, and how often it went from the one kind of step to the other. */
struct changes {
    uint64_t plain_at_first, to_plain, to_fused;
};

static bool is_fused(const struct simulation *simulation)
{
    return simulation->stepper.kind == &tiled_step;
}

/* From the start or a checkpoint, with outputs in a folder where that is not NULL. The rows of the history;
 * their place is their step. */
static struct history_row *run_on_all(const struct config *config, struct checkpoint *from,
                                      const char *folder, struct log *log, struct changes *changes)
{
    struct run_folder run_folder = {.path = folder, .use = RUN_FOLDER_NEW};
    struct simulation simulation;
    struct history_row *rows = test_array(config->time.steps + 1, sizeof *rows);
    assert_ok(simulation_create_on(&ranks, config, device, from, &simulation));
    simulation.log = log;
    if (folder)
        assert_ok(outputs_open(simulation.outputs, &ranks, &run_folder));
    *changes = (struct changes){.plain_at_first = !is_fused(&simulation)};
    while (!simulation_done(&simulation)) {
        const bool was_fused = is_fused(&simulation);
        struct history_row *row = &rows[simulation.step];
        assert_ok(simulation_step(&simulation));
        *row = simulation.row;
        changes->to_plain += was_fused && !is_fused(&simulation);
        changes->to_fused += !was_fused && is_fused(&simulation);
    }
    if (folder)
        assert_ok(outputs_close(simulation.outputs));
    simulation_destroy(&simulation);
    return rows;
}

TEST(a_rank_that_loses_its_fused_step_goes_on)
{
    if (ranks.size == 3) /* left out for its time */
        return;
    struct config config = config_for(ranks.size), plain = config;
    plain.step.method = STEP_RADIX;
    plain.fields.decomposition = DECOMPOSITION_REPLICATED; /* alone, not with the other ranks */
    struct history_row *expected = physics_run_alone(&ranks, &plain);
    char *said = NULL;
    size_t length = 0;
    struct log log = {.file = open_memstream(&said, &length)};
    assert_non_null(log.file);
    struct changes changes;
    struct history_row *found = run_on_all(&config, NULL, NULL, &log, &changes);
    assert_int_equal(fclose(log.file), 0);
    assert_int_equal(changes.plain_at_first, 0);
    physics_compare(&config, 0, found, expected, 1e-10, 1e-10);
    assert_int_equal(strstr(said, "takes the radix step from now on") != NULL, changes.to_plain > 0);
    uint64_t of_all[2] = {changes.to_plain, changes.to_fused};
    communicator_sum_counts(&ranks, 2, of_all);
    assert_int_equal(of_all[0] > 0, ranks.size > 1);
    assert_int_equal(of_all[1] > 0, ranks.size > 1);
}

enum { STORED = 13 }; /* a step when some rank of several has lost its fused step */

TEST(a_checkpoint_of_such_a_rank_is_gone_on_with)
{
    if (ranks.size > 2) /* neither more neighbours nor more ranks are another case of it */
        return;
    const struct config config = config_for(ranks.size);
    struct config first_part = config;
    first_part.time.steps = STORED;
    first_part.output.checkpoints = (struct checkpoints_config){.every = STORED, .keep = 1};
    struct changes changes;
    struct folder folder = folder_make_for_all();
    (void)run_on_all(&first_part, NULL, folder.path, NULL, &changes);
    struct history_row *expected = run_on_all(&config, NULL, NULL, NULL, &changes);
    struct checkpoint *checkpoint = NULL;
    assert_ok(
        checkpoint_open(&ranks, folder_file(&folder, "checkpoints/checkpoint_13.h5"), false, &checkpoint));
    struct history_row *found = run_on_all(&config, checkpoint, NULL, NULL, &changes);
    checkpoint_close(&checkpoint);
    communicator_sum_counts(&ranks, 1, &changes.plain_at_first);
    assert_int_equal(changes.plain_at_first > 0, ranks.size > 1);
    physics_compare(&config, STORED, found, expected, 1e-10, 1e-10);
    folder_remove_for_all(&folder);
}

/* At the start it is the user's choice that does not fit. */
TEST(a_run_does_not_begin_with_what_there_is_not)
{
    struct config config = config_for(ranks.size);
    config.grid.cells[1] *= 2;
    struct simulation simulation;
    assert_refuses(simulation_create_on(&ranks, &config, device, NULL, &simulation),
                   "cannot take the tiled step");
    simulation_destroy(&simulation);
}

MPI_TEST_MAIN(open_device, close_device)
