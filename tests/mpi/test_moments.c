/* Moments, on any number of ranks: the file of all of them holds what the host computes from the same
 * particles, and follows openPMD. */
#include "support/mpi_support.h"

#include "support/list_support.h"
#include "support/test_folder.h"
#include "support/write_now.h"

#include "output/openpmd.h"
#include "output/outputs.h"

#include "shared/moments.h"

#include <hdf5.h>

enum { NX = 9, NY = 4, CELLS = NX * NY, SPECIES = 2, STEP = 3, MOST = 300, BEAM = 32768 };

static struct species_config two_species[SPECIES] = {
    {.name = "electrons",
     .charge = -1,
     .mass = 0.5,
     .density = 2,
     .particles = 1000,
     .velocities.dimensions = 3},
    {.name = "ions", .charge = 1, .mass = 100, .density = 1, .particles = 7}};
static const struct config example = {
    .grid = {{NX, NY}, {4.5, 3}},
    .time = {.step = 0.1, .steps = 10},
    .species_count = SPECIES,
    .species = two_species,
    .output = {.moments = {.every = 1}, .snapshots = {.compression = 4}},
    .units = {1.0e18, 100},
};

/* Electrons are in every third cell and up to MOST of them; the few ions are in row 0 alone. */
static uint32_t count_of(uint32_t species, uint32_t cell)
{
    if (species == 1)
        return cell < NY ? 2 * cell : 0;
    return cell % 3 == 0 ? 0 : cell == 4 ? MOST : cell % 7 + 1;
}

/* Cell 5 has a beam, 30,000 times as fast as warm: exact in both precisions, as all velocities here. */
static double velocity_of(uint32_t species, uint32_t cell, uint32_t n, unsigned axis)
{
    const double warm = ((int)((n * 37 + cell * 11 + axis * 5 + species) % 64) - 32) / 64.0;
    return cell == 5 ? BEAM + warm / 4 : warm + axis;
}

/* In the order of the moments; z where the species has w. */
static const char *const names[ENERGY] = {
    "density",     "temperature", "velocity/x",  "velocity/y",  "velocity/z",  "J/x",
    "J/y",         "J/z",         "pressure/xx", "pressure/xy", "pressure/yy", "pressure/xz",
    "pressure/yz", "pressure/zz", "heatFlux/x",  "heatFlux/y",  "heatFlux/z"};

/* kind 0: u, 1: u/gamma. */
static long double square_of(const struct species_config *species, uint32_t s, uint32_t cell, uint32_t n)
{
    long double square = 0;
    for (unsigned axis = 0; axis < species_dimensions(species); axis++)
        square += powl(velocity_of(s, cell, n, axis), 2);
    return square;
}

static long double velocity(const struct species_config *species, uint32_t s, uint32_t cell, uint32_t n,
                            int axis, int kind)
{
    const long double gamma = sqrtl(1 + species->per_c_squared * square_of(species, s, cell, n));
    return velocity_of(s, cell, n, (unsigned)axis) / (kind == 1 ? gamma : 1);
}

/* From the definitions in kernels/moments.cl. */
static void expect(const struct species_config *species, uint32_t s, uint32_t cell, double weight,
                   double moments[ENERGY])
{
    const int dimensions = (int)species_dimensions(species);
    const struct grid box = grid_make(&example.grid);
    const uint32_t count = count_of(s, cell);
    const double density = weight / (box.dx * box.dy);
    const double per_c_squared = species->per_c_squared;
    long double means[3][2] = {{0}} /* of u and of v = u/gamma */, p[6] = {0}, flux[3] = {0}, energy = 0,
                speed = 0;
    memset(moments, 0, ENERGY * sizeof *moments);
    moments[DENSITY] = density * count;
    for (uint32_t n = 0; n < count; n++)
        for (int axis = 0; axis < dimensions; axis++)
            for (int kind = 0; kind < 2; kind++)
                means[axis][kind] += velocity(species, s, cell, n, axis, kind) / count;
    for (int axis = 0; axis < dimensions; axis++) {
        moments[VELOCITY + axis] = (double)means[axis][0];
        moments[CURRENT + axis] = (double)(species->charge * density * count * means[axis][1]);
        speed += means[axis][1] * means[axis][1];
    }
    for (uint32_t n = 0; n < count; n++) {
        const long double square = square_of(species, s, cell, n);
        energy += square / (1 + sqrtl(1 + per_c_squared * square)) / count;
    }
    for (uint32_t n = 0; n < count; n++) {
        const long double square = square_of(species, s, cell, n);
        const long double more = square / (1 + sqrtl(1 + per_c_squared * square)) - energy;
        long double c[3] = {0}, d[3] = {0};
        for (int axis = 0; axis < dimensions; axis++) {
            c[axis] = velocity(species, s, cell, n, axis, 0) - means[axis][0];
            d[axis] = velocity(species, s, cell, n, axis, 1) - means[axis][1];
        }
        for (int a = 0, place = 0; a < 3; a++) {
            flux[a] += species->mass * density * more * d[a];
            for (int b = 0; b <= a; b++, place++)
                p[place] += species->mass * density * (c[a] * d[b] + c[b] * d[a]) / 2;
        }
    }
    for (int place = 0; place < 6; place++)
        moments[PRESSURE + place] = (double)p[place];
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++)
            flux[a] -= means[b][1] * p[a > b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a];
        moments[HEAT_FLUX + a] = (double)flux[a];
    }
    if (count > 0)
        moments[TEMPERATURE] = (double)((p[0] + p[2] + p[5]) / (dimensions * density * count) /
                                        sqrtl(1 - per_c_squared * speed));
}

static void fill_list(const struct config *config, const struct slab *slab, uint32_t species, bool aos,
                      struct particles *list)
{
    const uint32_t cells = grid_cells(&slab->local), own = slab_own_cells(slab), first = slab->first_row * NY;
    double pairs[CELLS * MOST][2], w[CELLS * MOST];
    uint32_t starts[CELLS + 8 * NY] = {0}, count = 0;
    for (uint32_t cell = 0; cell < cells; cell++) {
        for (uint32_t n = 0; cell < own && n < count_of(species, first + cell); n++, count++) {
            for (unsigned axis = 0; axis < 2; axis++)
                pairs[count][axis] = velocity_of(species, first + cell, n, axis);
            w[count] = velocity_of(species, first + cell, n, 2);
        }
        starts[cell + 1] = count;
    }
    list_create(slab, config->precision, &config->species[species], aos, count, list);
    list_write(list, ATTRIBUTE_VELOCITY, pairs[0]);
    list_write(list, ATTRIBUTE_W, w);
    list_write_starts(list, cells, starts);
}

static void check_mesh(hid_t file, const struct config *config, uint32_t species, enum moment moment,
                       double weight)
{
    const double rounding = config->precision == PRECISION_SINGLE ? 0x1p-22 : 0x1p-50;
    double values[CELLS];
    char name[96];
    snprintf(name, sizeof name, "data/%d/fields/%s_%s", STEP, config->species[species].name, names[moment]);
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(dataset >= 0);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        double expected[ENERGY];
        expect(&config->species[species], species, cell, weight, expected);
        /* Along a beam of gamma 100 velocities differ by less than v by that squared. */
        const double per_c_squared = config->species[species].per_c_squared;
        const double lost = cell == 5 ? 1 + per_c_squared * BEAM * BEAM : 1;
        assert_near(values[cell], expected[moment],
                    4 * rounding * lost * fmax(fabs(expected[moment]), cell == 5 ? 0.01 : 1));
    }
}

static void check_file(const char *path, const struct config *config, double weights[SPECIES])
{
    char command[320];
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    for (uint32_t s = 0; s < SPECIES; s++)
        for (enum moment moment = 0; moment < ENERGY; moment++)
            if (!strchr(strchr(names[moment], '/') ? strchr(names[moment], '/') : "", 'z') ||
                species_has_w(&config->species[s]))
                check_mesh(file, config, s, moment, weights[s]);
    H5Fclose(file);
    snprintf(command, sizeof command, "/usr/bin/python3 -B scripts/check_openpmd.py --quiet %s >&2", path);
    assert_int_equal(system(command), 0);
}

static void write_and_check(const struct config *config, bool aos)
{
    struct folder folder = folder_make_for_all();
    struct particles lists[SPECIES];
    const struct partition partition = test_partition(ranks.size, NX);
    void *moments = NULL;
    uint64_t bytes = 0;
    double weights[SPECIES];
    const struct grid box = grid_make(&config->grid);
    const struct slab slab =
        slab_make(&box, partition.first[ranks.rank], partition_rows(&partition, ranks.rank), 2);
    for (uint32_t s = 0; s < SPECIES; s++) {
        fill_list(config, &slab, s, aos, &lists[s]);
        weights[s] = lists[s].weight;
    }
    const struct view view = {.config = config,
                              .communicator = &ranks,
                              .slab = &slab,
                              .particles = lists,
                              .step = STEP,
                              .time = 0.3};
    assert_ok(moments_output.create(device, config, &moments));
    struct hdf5_file *file = NULL;
    const enum status recorded = outputs_record(&moments_output, moments, folder.path, &view, &file);
    assert_ok(write_now(recorded, file, &ranks, &bytes));
    assert_in_range(bytes, 1, outputs_size(&moments_output, config).bytes);
    if (ranks.rank == 0) {
        assert_holds(&folder, "moments_3.h5");
        check_file(folder_file(&folder, "moments_3.h5"), config, weights);
    }
    folder_remove_for_all(&folder);
}

/* In double precision the electrons are relativistic, and the beam nearly as fast as light. */
TEST(moments_are_those_of_the_host)
{
    for (unsigned kind = 0; kind < 4; kind++) {
        struct config config = example;
        if (kind & 1)
            config.fields.solver = SOLVER_ELECTROMAGNETIC;
        config.species[0].per_c_squared = kind & 1 ? 1e-5 : 0;
        config.precision = kind & 1 ? PRECISION_DOUBLE : PRECISION_SINGLE;
        if (kind & 1 && !device_info(device)->has_fp64)
            continue;
        write_and_check(&config, kind & 2);
    }
}

TEST(without_the_key_there_is_nothing)
{
    struct config config = example;
    config.output.moments.every = 0;
    assert_false(outputs_is_ever_due(&moments_output, &config));
}

MPI_TEST_MAIN(open_device, close_device)
