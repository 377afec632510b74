/* Determinism: one config has one result, bit for bit. However the sort is cut up, a stable one has one
 * permutation: tests/kernel/test_sorts.c shows it. */
#include "support/physics_support.h"

/* Everything a run ends with: the history's rows and the device arrays of every species. */
struct outcome {
    size_t bytes;
    char *content;
};

/* NULL where the step does without such an array. */
static void append_buffer(FILE *stream, const struct buffer *buffer)
{
    if (!buffer)
        return;
    void *content = test_array(1, buffer_bytes(buffer));
    assert_ok(buffer_read(buffer, 0, buffer_bytes(buffer), content));
    assert_int_equal(fwrite(content, 1, buffer_bytes(buffer), stream), buffer_bytes(buffer));
}

static struct outcome run(const struct config *config)
{
    struct outcome outcome = {0, NULL};
    struct simulation simulation;
    FILE *stream = open_memstream(&outcome.content, &outcome.bytes);
    assert_non_null(stream);
    assert_ok(simulation_create(config, device, &simulation));
    while (!simulation_done(&simulation)) {
        assert_ok(simulation_step(&simulation));
        assert_int_equal(fwrite(&simulation.row, sizeof simulation.row, 1, stream), 1);
    }
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct particles *particles = &simulation.particles[s];
        for (enum attribute a = 0; a < ATTRIBUTES; a++)
            append_buffer(stream, particles->attribute[a]);
    }
    assert_int_equal(fclose(stream), 0);
    simulation_destroy(&simulation);
    return outcome;
}

static void assert_same_outcome(const struct config *config, const struct outcome *expected)
{
    struct outcome outcome = run(config);
    assert_int_equal(outcome.bytes, expected->bytes);
    assert_memory_equal(outcome.content, expected->content, outcome.bytes);
}

TEST(two_runs_end_in_the_same_bits)
{
    struct config config = physics_config(physics_warm_plasma);
    for (int n = 0; n <= 2 * SHAPE_TSC + 1; n++) { /* ngp and cic by kernels that test_methods.c has too */
        config.step.method = n % 2 == 0 ? STEP_RADIX : STEP_AUTO;
        config.deposit.shape = (enum shape_kind)(n / 2);
        config.precision =
            config.deposit.shape == SHAPE_CIC || n == 2 * SHAPE_TSC ? PRECISION_SINGLE : PRECISION_DOUBLE;
        struct outcome first = run(&config);
        assert_same_outcome(&config, &first);
    }
}

/* What a run keeps for output may not touch what it computes. */
TEST(measuring_less_often_does_not_change_the_last_row)
{
    struct config config = physics_config(physics_warm_plasma);
    struct history_row *each = physics_run(&config);
    config.output.history.every = 7;
    struct history_row *few = physics_run(&config);
    assert_memory_equal(&each[20], &few[20], sizeof each[20]);
    assert_memory_equal(&each[14], &few[14], sizeof each[14]);
}

TEST(ids_do_not_change_the_history)
{
    struct config config = physics_config(physics_warm_plasma);
    const struct history_row *with_ids = physics_run(&config);
    config.species[0].ids = false;
    assert_memory_equal(&physics_run(&config)[20], &with_ids[20], sizeof *with_ids);
}

TEST_MAIN(open_device, close_device)
