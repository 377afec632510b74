/* Loading: the particles on the device, by the kernel and by the host, against each other. What the recipe
 * makes of an index, which both share, tests/unit/test_recipe.c holds against formulae. */
#include "support/device_fixture.h"

#include "particles/loading.h"
#include "particles/recipe.h"

/* A species' particles as the device holds them. */
struct loaded {
    double *offset, *velocity; /* [2 * count] */
    double *w;                 /* [count], 0 without it */
    uint32_t *key;             /* [count] */
    uint64_t *id;              /* [count] */
};

enum way { BY_DOOR /* by a kernel where the device has fp64 */, BY_HOST };

static struct loaded allocate(size_t count)
{
    return (struct loaded){test_array(2 * count, sizeof(double)), test_array(2 * count, sizeof(double)),
                           test_array(count, sizeof(double)), test_array(count, sizeof(uint32_t)),
                           test_array(count, sizeof(uint64_t))};
}

/* Loads particles first, ..., first + species->particles - 1 into that layout and reads them back. */
static struct loaded load(enum particle_layout layout, const struct grid *grid,
                          const struct species_config *species, enum precision precision, uint64_t first,
                          enum way way)
{
    const struct slab slab = slab_whole_box(grid);
    const uint32_t count = (uint32_t)species->particles;
    struct particles particles;
    struct buffer *keys = test_buffer(count * sizeof(uint32_t), NULL);
    assert_ok(particles_create(device, &slab, precision, layout, species, count, &particles));
    particles.count = count;
    assert_ok((way == BY_HOST ? loading_fill_by_host : loading_fill)(grid, first, &particles, keys));
    struct loaded loaded = allocate(count);
    assert_ok(particles_read(&particles, ATTRIBUTE_OFFSET, 0, count, loaded.offset));
    assert_ok(particles_read(&particles, ATTRIBUTE_VELOCITY, 0, count, loaded.velocity));
    if (species_has_w(species))
        assert_ok(particles_read(&particles, ATTRIBUTE_W, 0, count, loaded.w));
    assert_ok(buffer_read(keys, 0, count * sizeof(uint32_t), loaded.key));
    if (species->ids)
        assert_ok(buffer_read(particles.attribute[ATTRIBUTE_ID], 0, count * sizeof(uint64_t), loaded.id));
    return loaded;
}

/* Landau damping's electrons. */
static struct species_config electrons(uint64_t count)
{
    struct species_config species = {
        .name = "electrons",
        .charge = -1,
        .mass = 1,
        .density = 1,
        .particles = count,
        .ids = true,
        .positions = {.kind = POSITIONS_VAN_DER_CORPUT, .bases = {2, 3}},
        .velocities = {.kind = VELOCITIES_MAXWELLIAN, .bases = {5, 7}, .thermal = {1, 0.5}, .drift = {0, 3}},
    };
    species.perturb.density.count = 1;
    species.perturb.density.items[0] = (struct perturbation){AXIS_X, 1, 0.01};
    return species;
}

static struct species_config random_electrons(uint64_t count)
{
    struct species_config species = electrons(count);
    species.random_key = 3 | UINT64_C(2) << 32;
    species.positions = (struct positions_config){.kind = POSITIONS_RANDOM};
    species.velocities.generator = GENERATOR_RANDOM;
    return species;
}

static struct grid grid_of(uint32_t nx, uint32_t ny)
{
    const struct grid_config config = {{nx, ny}, {4 * M_PI, 4 * M_PI}};
    return grid_make(&config);
}

/* A position in cells from the left or lower border of the box. */
static double position(const struct grid *grid, const struct loaded *loaded, size_t n, enum axis axis)
{
    const uint32_t cell = axis == AXIS_X ? loaded->key[n] / grid->ny : loaded->key[n] % grid->ny;
    return cell + loaded->offset[2 * n + axis];
}

static void check_inside(const struct grid *grid, const struct loaded *loaded, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        assert_true(loaded->key[n] < grid_cells(grid));
        for (size_t axis = 0; axis < 2; axis++) {
            assert_true(loaded->offset[2 * n + axis] >= 0 && loaded->offset[2 * n + axis] < 1);
            assert_true(isfinite(loaded->velocity[2 * n + axis]));
        }
    }
}

/* Kernel and host, both precisions, with every kind of profile. They share their source; sine, cosine and
 * logarithm of the two compilers may differ by 4 ulp each (OpenCL 1.2, table 7.1), which moves s by a few
 * 2^-53 and a position by `cells` as much, and a velocity (|v| < 16) by a few 2^-49. In single precision each
 * may round to the other neighbour: 2^-24 for offsets, 2^-21 for velocities below 8. */
static void check_kernel_equals_host(const struct species_config *species, enum precision precision,
                                     uint64_t first)
{
    const struct grid grid = grid_of(48, 32);
    const size_t count = species->particles;
    const double cells[2] = {grid.nx, grid.ny};
    struct loaded kernel = load(LAYOUT_AOS, &grid, species, precision, first, BY_DOOR);
    struct loaded host = load(LAYOUT_AOS, &grid, species, precision, first, BY_HOST);
    const double position_tolerance = precision == PRECISION_DOUBLE ? 48 * 8 * 0x1p-53 : 0x1p-24 + 0x1p-43;
    const double velocity_tolerance = precision == PRECISION_DOUBLE ? 0x1p-46 : 0x1p-21;
    check_inside(&grid, &kernel, count);
    check_inside(&grid, &host, count);
    for (size_t n = 0; n < count; n++) {
        for (enum axis axis = AXIS_X; axis <= AXIS_Y; axis++) {
            const double apart = position(&grid, &kernel, n, axis) - position(&grid, &host, n, axis);
            assert_near(remainder(apart, cells[axis]), 0, position_tolerance);
            assert_near(kernel.velocity[2 * n + axis], host.velocity[2 * n + axis], velocity_tolerance);
        }
        assert_near(kernel.w[n], host.w[n], velocity_tolerance);
        assert_true(kernel.id[n] == first + n && host.id[n] == first + n);
    }
}

static void check_precisions(const struct species_config *species, uint64_t first)
{
    check_kernel_equals_host(species, PRECISION_SINGLE, first);
    check_kernel_equals_host(species, PRECISION_DOUBLE, first);
}

TEST(kernel_equals_host)
{
    if (!device_info(device)->has_fp64)
        skip();
    struct species_config species = electrons(100003); /* more than one piece of the host, no whole groups */
    check_precisions(&species, 0);
    check_precisions(&species, (UINT64_C(1) << 31) - 1000);
    check_precisions(&species, (UINT64_C(1) << 32) - 1000);
    check_precisions(&species, CONFIG_MAX_SPECIES_PARTICLES - species.particles);
    species.particles = 5000;
    species.velocities =
        (struct velocities_config){.kind = VELOCITIES_FORMULA, .bases = {5, 7}, .range = {{-1, 1}, {2, 5}}};
    species.perturb.density.count = 3;
    species.perturb.density.items[1] = (struct perturbation){AXIS_X, 3, -0.5};
    species.perturb.density.items[2] = (struct perturbation){AXIS_Y, 2, 0.7};
    species.perturb.displacement.count = 1;
    species.perturb.displacement.items[0] = (struct perturbation){AXIS_Y, 1, 0.1};
    check_precisions(&species, 0);
    species.positions = (struct positions_config){.kind = POSITIONS_LATTICE, .counts = {100, 50}};
    species.velocities = (struct velocities_config){.kind = VELOCITIES_COLD, .drift = {1, 2}};
    check_precisions(&species, 0);
    species = electrons(5000);
    species.velocities = (struct velocities_config){.kind = VELOCITIES_MAXWELLIAN,
                                                    .dimensions = 3,
                                                    .bases = {5, 7, 11},
                                                    .thermal = {1, 0.5, 0.25},
                                                    .drift = {0, 3, -2}};
    species.perturb.density.count = 0;
    strcpy(species.profile.drift[2], "sin(2*pi*y/ly)");
    strcpy(species.profile.density, "1 + 0.5*sin(2*pi*x/lx)*sin(4*pi*y/ly)");
    strcpy(species.profile.drift[1], "cos(2*pi*x/lx)");
    strcpy(species.profile.thermal[0], "1 + y/ly");
    check_precisions(&species, 0);
    species.velocities.kind = VELOCITIES_FORMULA;
    memcpy(species.velocities.range, (double[3][2]){{-4, 4}, {-3, 5}, {0, 6}},
           sizeof species.velocities.range);
    strcpy(species.velocities.density[0], "exp(-u^2/2)");
    strcpy(species.velocities.density[1], "1 + u*v/20");
    strcpy(species.velocities.density[2], "exp(-w)");
    memset(&species.profile, 0, sizeof species.profile);
    check_precisions(&species, 0);
    species = random_electrons(5000);
    check_precisions(&species, (UINT64_C(1) << 32) - 1000);
}

/* Particles depend on their global index alone: a part is that slice of the whole, bit for bit, in
 * either layout. */
static void check_slice(struct species_config all)
{
    const struct grid grid = grid_of(32, 32);
    struct species_config some = all;
    const size_t first = 1234;
    some.particles = 1001;
    for (enum way way = BY_DOOR; way <= BY_HOST; way++) {
        struct loaded whole = load(LAYOUT_SOA, &grid, &all, PRECISION_SINGLE, 0, way);
        for (enum particle_layout layout = LAYOUT_SOA; layout <= LAYOUT_AOS; layout++) {
            struct loaded part = load(layout, &grid, &some, PRECISION_SINGLE, first, way);
            assert_memory_equal(part.offset, whole.offset + 2 * first, 2 * some.particles * sizeof(double));
            assert_memory_equal(part.velocity, whole.velocity + 2 * first,
                                2 * some.particles * sizeof(double));
            assert_memory_equal(part.key, whole.key + first, some.particles * sizeof(uint32_t));
            assert_memory_equal(part.id, whole.id + first, some.particles * sizeof(uint64_t));
        }
    }
}

TEST(part_is_slice_of_whole)
{
    check_slice(electrons(3000));
    check_slice(random_electrons(3000));
}

/* Van der Corput element 2^32 - 1 of base 2 is 1 - 2^-32: as a float offset in one of 32 cells it rounds
 * to 1. In place of that it is offset 0 of the next cell, here of cell 0. Element 2^32 of base 2 is 2^-33. */
static void check_rounding(enum axis axis, enum way way)
{
    const uint64_t first = (UINT64_C(1) << 32) - 2;
    const struct grid grid = axis == AXIS_X ? grid_of(32, 1) : grid_of(1, 32);
    struct species_config species = electrons(2);
    species.perturb.density.count = 0;
    species.positions.bases[axis] = 2;
    species.positions.bases[1 - axis] = 3;
    struct loaded single = load(LAYOUT_SOA, &grid, &species, PRECISION_SINGLE, first, way);
    check_inside(&grid, &single, 2);
    assert_int_equal(single.key[0], 0);
    assert_true(single.offset[axis] == 0);
    assert_int_equal(single.key[1], 0);
    assert_true(single.offset[2 + axis] == 32 * 0x1p-33);
    assert_true(single.id[1] == first + 1);
}

TEST(rounded_to_next_cell)
{
    for (enum axis axis = AXIS_X; axis <= AXIS_Y; axis++) {
        check_rounding(axis, BY_DOOR);
        check_rounding(axis, BY_HOST);
    }
}

TEST_MAIN(open_device, close_device)
