/* Snapshot: the file holds the state of the device to the last bit that its format allows, by the rules of
 * openPMD and ED-PIC, and is whole or not there.
 *
 * A run of this program with --full-disk is the child of the test of that name. */
#include "support/test_support.h"

#include "output/hdf5_array.h"
#include "output/snapshot.h"
#include "output/units.h"

#include <dirent.h>
#include <float.h>
#include <hdf5.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP = 42 };

/* ---- a state, made by hand ---- */

struct state {
    char folder[64];
    struct device *device;
    struct config config;
    struct grid grid;
    struct fields fields;
    struct particles particles[2];
};

/* Electrons with ids and ions without, 6 x 5 cells; the counts fill no cell evenly. */
static struct config example(enum precision precision)
{
    struct config config = {
        .title = "by hand",
        .grid = {{6, 5}, {6.1, 4.7}},
        .time = {.step = 0.1, .steps = 100},
        .precision = precision,
        .species_count = 2,
        .species =
            {{.name = "electrons", .charge = -1, .mass = 1, .density = 1, .particles = 1001, .ids = true},
             {.name = "ions", .charge = 2, .mass = 1836, .density = 0.5, .particles = 77}},
        .deposit = {.shape = SHAPE_TSC, .filter_passes = 2},
        .output = {.snapshots = {.every = 1, .particles = true, .compression = 4}},
        .units = {1.0e18, 100},
    };
    return config;
}

/* Offset of particle j: spread over [0, 1), the last one as near to 1 as the precision can say. */
static double offset_of(const struct state *state, uint32_t count, uint32_t j, unsigned axis)
{
    const bool is_double = state->config.precision == PRECISION_DOUBLE;
    if (j + 1 == count)
        return is_double ? 1 - DBL_EPSILON / 2 : 1 - (double)FLT_EPSILON / 2;
    const double value = fmod((j + 1) * (axis == 0 ? 0.6180339887 : 0.7548776662), 1.0);
    return is_double ? value : (double)(float)value;
}

static double velocity_of(uint32_t j, unsigned axis)
{
    return (axis == 0 ? 1.0 : -0.25) * ((double)(j % 1024) - 512) / 64; /* exact in both precisions */
}

static uint64_t id_of(uint32_t count, uint32_t j)
{
    return count - 1 - j;
}

static double node_of(unsigned array, uint32_t node)
{
    return (array + 1) * 1000.0 + node;
}

/* Cell c holds the particles from count*c/cells on. */
static uint32_t first_of(uint32_t count, uint32_t cell, uint32_t cells)
{
    return (uint32_t)((uint64_t)count * cell / cells);
}

static enum status fill_species(struct state *state, struct particles *particles)
{
    const uint32_t count = particles->count;
    const uint32_t cells = grid_cells(&state->grid);
    double *pairs = calloc(2 * (size_t)count, sizeof *pairs);
    uint64_t *ids = calloc(count, sizeof *ids);
    uint32_t *offsets = calloc(cells + 1, sizeof *offsets);
    enum status status = pairs && ids && offsets ? STATUS_OK : STATUS_FAILED;
    for (uint32_t j = 0; status == STATUS_OK && j < 2 * count; j++)
        pairs[j] = offset_of(state, count, j / 2, j % 2);
    if (status == STATUS_OK)
        status = buffer_write_reals(particles->attribute[ATTRIBUTE_OFFSET], state->config.precision, 0,
                                    2 * (size_t)count, pairs);
    for (uint32_t j = 0; status == STATUS_OK && j < 2 * count; j++)
        pairs[j] = velocity_of(j / 2, j % 2);
    if (status == STATUS_OK)
        status = buffer_write_reals(particles->attribute[ATTRIBUTE_VELOCITY], state->config.precision, 0,
                                    2 * (size_t)count, pairs);
    for (uint32_t j = 0; status == STATUS_OK && j < count; j++)
        ids[j] = id_of(count, j);
    if (status == STATUS_OK && particles->attribute[ATTRIBUTE_ID])
        status = buffer_write(particles->attribute[ATTRIBUTE_ID], 0, count * sizeof *ids, ids);
    for (uint32_t c = 0; status == STATUS_OK && c <= cells; c++)
        offsets[c] = first_of(count, c, cells);
    if (status == STATUS_OK)
        status = buffer_write(particles->cell_offsets, 0, (cells + 1) * sizeof *offsets, offsets);
    free(pairs);
    free(ids);
    free(offsets);
    return status;
}

static enum status fill_fields(struct state *state)
{
    struct buffer *const arrays[] = {state->fields.ex, state->fields.ey, state->fields.phi,
                                     state->fields.rho};
    const uint32_t cells = grid_cells(&state->grid);
    double *nodes = calloc(cells, sizeof *nodes);
    enum status status = nodes ? STATUS_OK : STATUS_FAILED;
    for (unsigned a = 0; a < 4 && status == STATUS_OK; a++) {
        for (uint32_t n = 0; n < cells; n++)
            nodes[n] = node_of(a, n);
        status = buffer_write_reals(arrays[a], state->config.precision, 0, cells, nodes);
    }
    free(nodes);
    return status;
}

static enum status state_create(const struct config *config, struct state *state)
{
    *state = (struct state){.folder = "/tmp/radixpic_snapshot_XXXXXX", .config = *config};
    if (!mkdtemp(state->folder))
        return status_fail(STATUS_FAILED, "no folder for the test");
    state->grid = grid_make(&config->grid);
    TRY(device_open(test_device_spec(), &state->device));
    TRY(fields_create(state->device, &state->grid, config->precision, &state->fields));
    TRY(fill_fields(state));
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct slab slab = slab_whole_box(&state->grid);
        const uint32_t count = (uint32_t)config->species[s].particles;
        TRY(particles_create(state->device, &slab, config->precision, LAYOUT_SOA, &state->config.species[s],
                             count, &state->particles[s]));
        state->particles[s].count = count;
        TRY(fill_species(state, &state->particles[s]));
    }
    return STATUS_OK;
}

static void state_destroy(struct state *state)
{
    for (uint32_t s = 0; s < state->config.species_count; s++)
        particles_destroy(&state->particles[s]);
    device_close(&state->device);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", state->folder);
    if (system(command) != 0)
        print_message("%s was left\n", state->folder);
}

static enum status state_write(const struct state *state, const char *folder, uint64_t *bytes)
{
    static const struct communicator alone = {.size = 1, .local_size = 1};
    const struct slab slab = slab_whole_box(&state->grid);
    const struct view view = {.config = &state->config,
                              .communicator = &alone,
                              .slab = &slab,
                              .fields = &state->fields,
                              .particles = state->particles,
                              .step = STEP,
                              .time = STEP * state->config.time.step};
    return snapshot_write(NULL, folder, &view, bytes);
}

/* ---- reading back ---- */

static void snapshot_path(const struct state *state, char path[96])
{
    snprintf(path, 96, "%s/data_%d.h5", state->folder, STEP);
}

/* Another library would be fairer, but the file's meaning is checked by h5py below; here are the numbers. */
static double *read_array(hid_t file, const char *name, size_t count)
{
    double *values = calloc(count, sizeof *values);
    assert_non_null(values);
    char path[96];
    snprintf(path, sizeof path, "data/%d/%s", STEP, name);
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(dataset >= 0);
    const hid_t space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    return values;
}

static double read_number(hid_t file, const char *object, const char *attribute)
{
    char path[96];
    snprintf(path, sizeof path, "data/%d/%s", STEP, object);
    double value = NAN;
    const hid_t id = H5Aopen_by_name(file, path, attribute, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(id >= 0);
    assert_true(H5Aread(id, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(id);
    return value;
}

static void check_positions(const struct state *state, hid_t file, const struct particles *particles)
{
    const struct grid *grid = &state->grid;
    const uint32_t cells = grid_cells(grid);
    /* The way in the cell is rounded once, to the run's precision; the sum once, to double. */
    const double rounding = state->config.precision == PRECISION_DOUBLE ? 0 : (double)FLT_EPSILON / 2;
    for (unsigned axis = 0; axis < 2; axis++) {
        const char *const letter = axis == 0 ? "x" : "y";
        const double box = axis == 0 ? grid->lx : grid->ly;
        const double spacing = axis == 0 ? grid->dx : grid->dy;
        char name[96];
        snprintf(name, sizeof name, "particles/%s/position/%s", particles->species->name, letter);
        double *ways = read_array(file, name, particles->count);
        snprintf(name, sizeof name, "particles/%s/positionOffset/%s", particles->species->name, letter);
        double *corners = read_array(file, name, particles->count);
        uint32_t cell = 0;
        for (uint32_t j = 0; j < particles->count; j++) {
            while (first_of(particles->count, cell + 1, cells) <= j)
                cell++;
            const uint32_t index = axis == 0 ? cell / grid->ny : cell % grid->ny;
            const double expected = (index + offset_of(state, particles->count, j, axis)) * spacing;
            assert_near(ways[j] + corners[j], expected, spacing * rounding + 4 * DBL_EPSILON * box);
            assert_near(corners[j], index * spacing, DBL_EPSILON * box);
            assert_true(ways[j] + corners[j] >= 0 && ways[j] + corners[j] < box);
        }
        free(ways);
        free(corners);
    }
}

static void check_species(const struct state *state, hid_t file, uint32_t species)
{
    const struct particles *particles = &state->particles[species];
    const uint32_t count = particles->count;
    check_positions(state, file, particles);
    char name[96];
    for (unsigned axis = 0; axis < 2; axis++) {
        snprintf(name, sizeof name, "particles/%s/momentum/%s", particles->species->name,
                 axis == 0 ? "x" : "y");
        double *momenta = read_array(file, name, count);
        for (uint32_t j = 0; j < count; j++)
            assert_near(momenta[j], particles->species->mass * velocity_of(j, axis), 0); /* exact numbers */
        free(momenta);
    }
    snprintf(name, sizeof name, "particles/%s/weighting", particles->species->name);
    const struct units units = units_make(&state->config.units);
    assert_near(read_number(file, name, "value") / (particles->weight * units.particles), 1, 1e-15);
    snprintf(name, sizeof name, "particles/%s/momentum", particles->species->name);
    assert_near(read_number(file, name, "timeOffset"), -state->config.time.step / 2, 0);
    if (!particles->attribute[ATTRIBUTE_ID])
        return;
    snprintf(name, sizeof name, "particles/%s/id", particles->species->name);
    double *ids = read_array(file, name, count);
    for (uint32_t j = 0; j < count; j++)
        assert_near(ids[j], (double)id_of(count, j) + (species == 0 ? 0 : (double)state->particles[0].count),
                    0);
    free(ids);
}

/* What a reader multiplies the numbers by. */
static void check_units(const struct state *state, hid_t file)
{
    const struct units u = units_make(&state->config.units);
    const struct {
        const char *component;
        double unit;
    } all[] = {{"fields/E/x", u.electric_field},
               {"fields/E/y", u.electric_field},
               {"fields/phi", u.potential},
               {"fields/chargeDensity", u.charge_density},
               {"particles/electrons/position/x", u.length},
               {"particles/electrons/positionOffset/y", u.length},
               {"particles/electrons/momentum/x", u.momentum},
               {"particles/electrons/momentum/y", u.momentum},
               {"particles/electrons/charge", u.charge},
               {"particles/electrons/mass", u.mass},
               {"particles/electrons/weighting", 1}};
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        assert_near(read_number(file, all[n].component, "unitSI"), all[n].unit, 0);
    assert_near(read_number(file, "fields/E", "gridUnitSI"), u.length, 0);
    assert_near(read_number(file, "", "timeUnitSI"), u.time, 0);
}

static void check_content(const struct state *state)
{
    static const char *const names[] = {"fields/E/x", "fields/E/y", "fields/phi", "fields/chargeDensity"};
    char path[96];
    snapshot_path(state, path);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    const uint32_t cells = grid_cells(&state->grid);
    for (unsigned a = 0; a < 4; a++) {
        double *nodes = read_array(file, names[a], cells);
        for (uint32_t n = 0; n < cells; n++)
            assert_near(nodes[n], node_of(a, n), 0);
        free(nodes);
    }
    if (state->config.output.snapshots.particles) {
        for (uint32_t s = 0; s < state->config.species_count; s++)
            check_species(state, file, s);
        check_units(state, file);
    }
    assert_true(H5Fclose(file) >= 0);
}

/* Runs a python script with the snapshot as its argument; its findings are in the test's output. */
static void check_with(const char *script, const struct state *state)
{
    char path[96], command[192];
    snapshot_path(state, path);
    snprintf(command, sizeof command, "/usr/bin/python3 -B %s %s", script, path);
    assert_int_equal(system(command), 0);
}

/* Only files of the name `expected` (none for NULL) are in the folder: no temporary one is left. */
static void assert_folder_holds(const char *folder, const char *expected)
{
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    unsigned found = 0;
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        found++;
        if (!expected || strcmp(entry->d_name, expected) != 0)
            fail_msg("%s holds %s", folder, entry->d_name);
    }
    closedir(listing);
    assert_int_equal(found, expected ? 1 : 0);
}

static void write_and_check(const struct config *config)
{
    struct state state;
    assert_ok(state_create(config, &state));
    uint64_t bytes;
    assert_ok(state_write(&state, state.folder, &bytes));
    char path[96];
    snapshot_path(&state, path);
    struct stat information;
    assert_int_equal(stat(path, &information), 0);
    assert_int_equal(information.st_size, bytes);
    /* An estimate is of use within a factor of two; it may be far above where arrays compress. */
    assert_true(bytes <= snapshot_bytes(config));
    if (config->output.snapshots.compression == 0)
        assert_true(snapshot_bytes(config) < 2 * bytes);
    assert_folder_holds(state.folder, "data_42.h5");
    check_content(&state);
    check_with("scripts/check_openpmd.py --quiet", &state);
    state_destroy(&state);
}

/* ---- tests of the content ---- */

static void content(void **unused)
{
    (void)unused;
    for (int precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++) {
        struct config config = example((enum precision)precision);
        write_and_check(&config);
        config.output.snapshots.compression = 0;
        config.species[0].ids = false;
        config.species[1].ids = true;
        config.deposit = (struct deposit_config){.shape = SHAPE_NGP};
        config.fields.gradient = GRADIENT_CENTRED;
        write_and_check(&config);
        config.output.snapshots.particles = false;
        write_and_check(&config);
    }
}

/* More particles than one piece, and nodes in several chunks, the last ones ragged. */
static void several_pieces(void **unused)
{
    (void)unused;
    struct config config = example(PRECISION_SINGLE);
    config.species_count = 1;
    config.species[0].particles = (1 << 20) + 12345;
    config.grid.cells[0] = 301;
    config.grid.cells[1] = 1001;
    config.output.snapshots.compression = 1;
    write_and_check(&config);
}

/* One particle, far more cells than particles. */
static void one_particle(void **unused)
{
    (void)unused;
    struct config config = example(PRECISION_DOUBLE);
    config.species_count = 1;
    config.species[0].particles = 1;
    write_and_check(&config);
}

static void spoiled_files_are_seen(void **unused)
{
    (void)unused;
    const struct config config = example(PRECISION_SINGLE);
    struct state state;
    assert_ok(state_create(&config, &state));
    uint64_t bytes;
    assert_ok(state_write(&state, state.folder, &bytes));
    check_with("tests/support/openpmd_mutations.py", &state);
    state_destroy(&state);
}

static char *read_file(const char *path, size_t bytes)
{
    char *content_of_file = malloc(bytes);
    FILE *stream = fopen(path, "rb");
    assert_true(content_of_file && stream);
    assert_int_equal(fread(content_of_file, 1, bytes, stream), bytes);
    fclose(stream);
    return content_of_file;
}

static void same_state_same_bytes(void **unused)
{
    (void)unused;
    const struct config config = example(PRECISION_SINGLE);
    struct state state;
    assert_ok(state_create(&config, &state));
    char path[96];
    snapshot_path(&state, path);
    uint64_t bytes, bytes_again;
    assert_ok(state_write(&state, state.folder, &bytes));
    char *first = read_file(path, bytes);
    sleep(1); /* so that the date does differ, and is the only thing */
    assert_ok(state_write(&state, state.folder, &bytes_again));
    assert_int_equal(bytes, bytes_again);
    char *second = read_file(path, bytes);
    size_t from = bytes, to = 0;
    for (size_t n = 0; n < bytes; n++) {
        if (first[n] != second[n]) {
            from = n < from ? n : from;
            to = n;
        }
    }
    /* The checksum of the object header with the date ends its block, whose length is a few hundred bytes. */
    assert_true(from <= to && to - from < 1024);
    free(first);
    free(second);
    state_destroy(&state);
}

/* ---- arrays beyond 32 bits ---- */

/* What element n of the whole array is. */
static uint8_t element_of(uint64_t n)
{
    return (uint8_t)(1 + n % 251);
}

static enum status fill_elements(const void *source, uint64_t first, size_t count, void *values)
{
    const uint64_t begin = *(const uint64_t *)source; /* of the part */
    for (size_t n = 0; n < count; n++)
        ((uint8_t *)values)[n] = element_of(begin + first + n);
    return STATUS_OK;
}

/* Reads the part back, through HDF5's own counting. */
static void check_part(const char *path, const struct hdf5_array *array, uint64_t columns)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "elements", H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    hsize_t shape[2] = {0, 0};
    assert_int_equal(H5Sget_simple_extent_dims(space, shape, NULL), array->dimensions);
    assert_int_equal(shape[0], array->shape[0]);
    const hsize_t start[2] = {array->first_row, 0}, extent[2] = {array->rows, columns};
    const hid_t memory = H5Screate_simple(array->dimensions, extent, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0);
    const size_t count = (size_t)(array->rows * columns);
    uint8_t *values = calloc(1, count);
    assert_non_null(values);
    assert_true(H5Dread(dataset, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, values) >= 0);
    for (size_t n = 0; n < count; n++)
        assert_int_equal(values[n], element_of(array->first_row * columns + n));
    free(values);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

/* Writes only a part of an array and finds it again where it belongs. */
static void write_part_of(int dimensions, const uint64_t shape[2], uint64_t first_row, uint64_t rows)
{
    static const struct communicator alone = {.size = 1, .local_size = 1};
    char folder[] = "/tmp/radixpic_array_XXXXXX", path[96], command[96];
    assert_non_null(mkdtemp(folder));
    const uint64_t columns = dimensions == 2 ? shape[1] : 1, begin = first_row * columns;
    const struct hdf5_array array = {.type = H5T_NATIVE_UINT8,
                                     .dimensions = dimensions,
                                     .shape = {shape[0], shape[1]},
                                     .first_row = first_row,
                                     .rows = rows,
                                     .fill = fill_elements,
                                     .source = &begin};
    struct hdf5_file file;
    uint64_t bytes;
    assert_ok(hdf5_file_create(&alone, folder, "large.h5", 1, 4096, &file));
    hdf5_close(&file, hdf5_dataset(&file, file.id, "elements", &array));
    assert_ok(hdf5_file_finish(&file, &bytes));
    snprintf(path, sizeof path, "%s/large.h5", folder);
    check_part(path, &array, columns);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void arrays_beyond_32_bits(void **unused)
{
    (void)unused;
    const uint64_t list = (UINT64_C(1) << 33) + 12345, nodes[2] = {(1 << 17) + 3, (1 << 16) + 5};
    write_part_of(1, (const uint64_t[2]){(UINT64_C(1) << 31) + 7, 0}, (UINT64_C(1) << 31) - 1000, 1007);
    write_part_of(1, (const uint64_t[2]){list, 0}, (UINT64_C(1) << 32) - 70000, 140000);
    write_part_of(1, (const uint64_t[2]){list, 0}, list - 100, 100);
    write_part_of(2, nodes, nodes[0] - 2, 2);
    const uint64_t most[2] = {UINT64_C(1) << 34, 0};
    assert_int_equal(hdf5_stored_elements(1, most), most[0]);
}

/* ---- tests of faults ---- */

/* Flips one bit in the first chunk of a dataset; the array must not be read as if nothing had happened. */
static void flip_and_read(const char *path, const char *name, bool expect_error)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(dataset >= 0);
    haddr_t address;
    hsize_t size;
    const hid_t space = H5Dget_space(dataset);
    assert_true(H5Dget_chunk_info(dataset, space, 0, NULL, NULL, &address, &size) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);

    if (expect_error) {
        FILE *stream = fopen(path, "r+b");
        assert_non_null(stream);
        fseek(stream, (long)(address + size / 2), SEEK_SET);
        const int byte = fgetc(stream);
        fseek(stream, (long)(address + size / 2), SEEK_SET);
        fputc(byte ^ 4, stream);
        fclose(stream);
    }

    float values[30];
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const herr_t result = H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    assert_true(expect_error ? result < 0 : result >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void flipped_bit_is_noticed(void **unused)
{
    (void)unused;
    for (uint32_t compression = 0; compression <= 9; compression += 9) {
        struct config config = example(PRECISION_SINGLE);
        config.output.snapshots.compression = compression;
        struct state state;
        assert_ok(state_create(&config, &state));
        uint64_t bytes;
        assert_ok(state_write(&state, state.folder, &bytes));
        char path[96];
        snapshot_path(&state, path);
        flip_and_read(path, "data/42/fields/phi", false);
        flip_and_read(path, "data/42/fields/phi", true);
        state_destroy(&state);
    }
}

static void assert_message(const char *path, const char *reason)
{
    if (!strstr(status_message(), path) || !strstr(status_message(), reason))
        fail_msg("'%s' names not both %s and %s", status_message(), path, reason);
}

static void folders_that_do_not_do(void **unused)
{
    (void)unused;
    const struct config config = example(PRECISION_SINGLE);
    struct state state;
    assert_ok(state_create(&config, &state));
    char path[96], folder[96];
    snapshot_path(&state, path);
    uint64_t bytes;

    snprintf(folder, sizeof folder, "%s/missing", state.folder);
    assert_int_equal(state_write(&state, folder, &bytes), STATUS_FAILED);
    assert_message("/missing/data_42.h5", "No such file or directory");
    assert_folder_holds(state.folder, NULL);

    /* Something else has the name. */
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(state_write(&state, state.folder, &bytes), STATUS_FAILED);
    assert_message("/data_42.h5", "Is a directory");
    assert_folder_holds(state.folder, "data_42.h5");
    assert_int_equal(rmdir(path), 0);

    /* The older file is replaced by a success. */
    FILE *older = fopen(path, "w");
    assert_non_null(older);
    fclose(older);
    assert_ok(state_write(&state, state.folder, &bytes));
    check_content(&state);
    assert_int_equal(state_write(&state, path, &bytes), STATUS_FAILED);
    assert_message("/data_42.h5/data_42.h5", "Not a directory");
    state_destroy(&state);
}

/* The child: fails to write at every limit of the size of a file, keeps the older file, writes when the limit
 * is gone, and ends by exit(): whatever HDF5 could not write must not come back then. */
static int full_disk(bool last_write_fails)
{
    struct config config = example(PRECISION_DOUBLE);
    config.species[0].particles = 50000;
    struct state state;
    uint64_t bytes;
    signal(SIGXFSZ, SIG_IGN);
    if (state_create(&config, &state) != STATUS_OK || state_write(&state, state.folder, &bytes) != STATUS_OK)
        return 10;
    char path[96], temporary[96];
    snapshot_path(&state, path);
    snprintf(temporary, sizeof temporary, "%s/.data_%d.h5.tmp", state.folder, STEP);
    const uint64_t limits[] = {0, 100, 2048, 10000, bytes / 8, bytes / 2, bytes - 20000, bytes - 1};
    struct rlimit limit = {0, RLIM_INFINITY};
    struct stat information;
    for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++) {
        limit.rlim_cur = limits[n];
        uint64_t ignored;
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            return 11;
        if (state_write(&state, state.folder, &ignored) != STATUS_FAILED)
            return 12;
        if (!strstr(status_message(), path) || !strstr(status_message(), "File too large")) {
            fprintf(stderr, "%s\n", status_message());
            return 13;
        }
        if (stat(temporary, &information) == 0)
            return 14;
        if (stat(path, &information) != 0 || (uint64_t)information.st_size != bytes)
            return 15;
    }
    limit.rlim_cur = RLIM_INFINITY;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 16;
    if (!last_write_fails && state_write(&state, state.folder, &bytes) != STATUS_OK)
        return 17;
    state_destroy(&state);
    return 0;
}

static void full_disk_leaves_no_trace(void **unused)
{
    (void)unused;
    assert_int_equal(system("/proc/$PPID/exe --full-disk"), 0);
    assert_int_equal(system("/proc/$PPID/exe --full-disk-to-the-end"), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return full_disk(strcmp(argv[1], "--full-disk") != 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content),
        cmocka_unit_test(several_pieces),
        cmocka_unit_test(one_particle),
        cmocka_unit_test(spoiled_files_are_seen),
        cmocka_unit_test(same_state_same_bytes),
        cmocka_unit_test(arrays_beyond_32_bits),
        cmocka_unit_test(flipped_bit_is_noticed),
        cmocka_unit_test(folders_that_do_not_do),
        cmocka_unit_test(full_disk_leaves_no_trace),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
