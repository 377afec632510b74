/* Finite, over ranks: the particle of one rank is named on all, before the field that it spoilt on all. */
#include "support/mpi_support.h"

#include "device/device.h"
#include "output/finite.h"

#include <string.h>

enum { ROWS = 3, NY = 4, GHOST = 2, PARTICLES = 2 };

static struct device *device;
static struct slab slab;
static struct species_config species = {.name = "electrons", .density = 1, .particles = PARTICLES};
static struct particles particles;
static struct fields fields;
static const struct config config = {.precision = PRECISION_SINGLE, .species_count = 1};
static struct view view;

static int create_all(void **state)
{
    (void)state;
    const struct grid box = grid_make(
        &(struct grid_config){.cells = {ROWS * (uint32_t)ranks.size, NY}, .length = {ranks.size, 1}});
    const double finite[2 * PARTICLES] = {0};
    slab = slab_make(&box, ROWS * (uint32_t)ranks.rank, ROWS, ranks.size == 1 ? 0 : GHOST);
    assert_ok(device_open(test_device_spec(), &device));
    assert_ok(particles_create(device, &slab, PRECISION_SINGLE, LAYOUT_SOA, &species, PARTICLES, &particles));
    particles.count = PARTICLES;
    uint32_t *starts = calloc(grid_cells(&slab.local) + 1, sizeof *starts);
    assert_non_null(starts);
    for (uint32_t cell = NY + 4; cell <= grid_cells(&slab.local); cell++)
        starts[cell] = PARTICLES; /* all in own row 1 */
    assert_ok(buffer_write(particles.cell_offsets, 0, (grid_cells(&slab.local) + (size_t)1) * sizeof *starts,
                           starts));
    free(starts);
    assert_ok(buffer_write_reals(particles.attribute[ATTRIBUTE_OFFSET], PRECISION_SINGLE, 0, 2 * PARTICLES,
                                 finite));
    assert_ok(buffer_write_reals(particles.attribute[ATTRIBUTE_VELOCITY], PRECISION_SINGLE, 0, 2 * PARTICLES,
                                 finite));
    assert_ok(fields_create(device, &slab.local, PRECISION_SINGLE, &fields));
    assert_ok(buffer_fill(fields.rho, 0));
    assert_ok(buffer_fill(fields.e, 0));
    view = (struct view){
        .config = &config, .communicator = &ranks, .slab = &slab, .particles = &particles, .fields = &fields};
    return 0;
}

static int destroy_all(void **state)
{
    (void)state;
    particles_destroy(&particles);
    device_close(&device);
    return 0;
}

static void assert_found(const char *format, int row)
{
    char wanted[128];
    assert_int_equal(finite_find(&view), STATUS_FAILED);
    snprintf(wanted, sizeof wanted, format, row);
    assert_non_null(strstr(status_message(), wanted));
}

TEST(what_one_rank_finds_all_know)
{
    const double bad = NAN;
    assert_ok(finite_find(&view));
    if (ranks.rank == ranks.size - 1)
        assert_ok(buffer_write_reals(fields.rho, PRECISION_SINGLE, 2 * NY, 1, &bad));
    assert_found("the charge density, nan, at node (%d, 0)", ROWS * ranks.size - 1);
    assert_ok(buffer_write_reals(fields.ex, PRECISION_SINGLE, 0, 1, &bad)); /* on all ranks */
    if (ranks.rank == ranks.size - 1)
        assert_ok(buffer_write_reals(particles.attribute[ATTRIBUTE_VELOCITY], PRECISION_SINGLE, 3, 1, &bad));
    assert_found("the velocity (0, nan) of a particle of species electrons in cell (%d, 3)",
                 ROWS * ranks.size - 2);
}

MPI_TEST_MAIN(create_all, destroy_all)
