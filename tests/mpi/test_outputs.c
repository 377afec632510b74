/* Outputs: what all ranks agree on in a step, they agree on in one call. */
#include "support/mpi_support.h"

#include "support/physics_support.h"
#include "support/test_folder.h"

static int agreements;

/* MPI's is called through this one. */
int MPI_Allreduce(const void *values, void *results, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm communicator)
{
    agreements++;
    return PMPI_Allreduce(values, results, count, type, operation, communicator);
}

static const char plasma[] =
    "{grid: {cells: [32, 16], length: [16, 8]}, time: {step: 0.1, steps: 8},"
    " species: [{name: electrons, charge: -1, mass: 1, density: 1, particles: 4096,"
    " velocities: {kind: maxwellian, thermal: [1, 1]}}], output: {history: {every: 1}}}";

TEST(a_step_without_files_agrees_once)
{
    const struct config config = physics_config(plasma);
    struct folder folder = folder_make_for_all();
    struct run_folder run_folder = {.path = folder.path, .use = RUN_FOLDER_NEW};
    struct simulation simulation;
    assert_ok(simulation_create_on(&ranks, &config, device, NULL, &simulation));
    assert_ok(outputs_open(simulation.outputs, &ranks, &run_folder));
    while (!simulation_done(&simulation)) {
        agreements = 0;
        assert_ok(simulation_step(&simulation));
        if (simulation.step > 1 && !simulation_done(&simulation))
            assert_int_equal(agreements, ranks.size > 1);
    }
    assert_ok(outputs_close(simulation.outputs));
    simulation_destroy(&simulation);
    folder_remove_for_all(&folder);
}

MPI_TEST_MAIN(open_device, close_device)
