/* Snapshot: the file holds the state of the device to the last bit that its format allows, by the rules of
 * openPMD and ED-PIC, and is whole or not there.
 *
 * A run of this program with an argument is the child of the test of full disks. */
#include "support/snapshot_scene.h"

#include <hdf5.h>
#include <signal.h>

static const struct communicator alone = {.size = 1, .local_size = 1};

static struct config example(enum precision precision)
{
    return scene_config(precision, 6, 1001);
}

/* A scene of the whole box, and a folder for its file. */
static void begin(const struct config *config, struct scene *scene, char folder[SCENE_NAME])
{
    const struct grid box = grid_make(&config->grid);
    const struct slab slab = slab_whole_box(&box);
    scene_create(config, &alone, &slab, config->grid.cells[0], scene);
    folder_make(folder);
}

static void end(struct scene *scene, const char *folder)
{
    device_close(&scene->owner);
    folder_remove(folder);
}

static void write_and_check(const struct config *config)
{
    struct scene scene;
    struct stat information;
    char folder[SCENE_NAME];
    uint64_t bytes;
    begin(config, &scene, folder);
    assert_ok(scene_write(&scene, folder, &bytes));
    assert_int_equal(stat(scene_path(folder), &information), 0);
    assert_int_equal(information.st_size, bytes);
    /* An estimate is of use within a factor of two; it may be far above where arrays compress. */
    assert_true(bytes <= snapshot_bytes(config));
    if (config->output.snapshots.compression == 0)
        assert_true(snapshot_bytes(config) < 2 * bytes);
    assert_int_equal(folder_count(folder, "data_42.h5"), 1);
    scene_check_file(&scene, folder);
    end(&scene, folder);
}

/* ---- tests of the content ---- */

TEST(content)
{
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
TEST(several_pieces)
{
    struct config config = scene_config(PRECISION_SINGLE, 301, HDF5_PIECE + 12345);
    config.species_count = 1;
    config.grid.cells[1] = 1001;
    config.output.snapshots.compression = 1;
    write_and_check(&config);
}

/* One particle, far more cells than particles. */
TEST(one_particle)
{
    struct config config = scene_config(PRECISION_DOUBLE, 6, 1);
    config.species_count = 1;
    write_and_check(&config);
}

TEST(spoiled_files_are_seen)
{
    const struct config config = example(PRECISION_SINGLE);
    struct scene scene;
    char folder[SCENE_NAME], command[2 * SCENE_NAME];
    uint64_t bytes;
    begin(&config, &scene, folder);
    assert_ok(scene_write(&scene, folder, &bytes));
    snprintf(command, sizeof command, "/usr/bin/python3 -B tests/support/openpmd_mutations.py %s",
             scene_path(folder));
    assert_int_equal(system(command), 0);
    end(&scene, folder);
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

TEST(same_state_same_bytes)
{
    const struct config config = example(PRECISION_SINGLE);
    struct scene scene;
    char folder[SCENE_NAME];
    uint64_t bytes, bytes_again;
    begin(&config, &scene, folder);
    assert_ok(scene_write(&scene, folder, &bytes));
    char *first = read_file(scene_path(folder), bytes);
    sleep(1); /* so that the date does differ, and is the only thing */
    assert_ok(scene_write(&scene, folder, &bytes_again));
    assert_int_equal(bytes, bytes_again);
    char *second = read_file(scene_path(folder), bytes);
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
    end(&scene, folder);
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

TEST(arrays_beyond_32_bits)
{
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

TEST(flipped_bit_is_noticed)
{
    for (uint32_t compression = 0; compression <= 9; compression += 9) {
        struct config config = example(PRECISION_SINGLE);
        struct scene scene;
        char folder[SCENE_NAME];
        uint64_t bytes;
        config.output.snapshots.compression = compression;
        begin(&config, &scene, folder);
        assert_ok(scene_write(&scene, folder, &bytes));
        flip_and_read(scene_path(folder), "data/42/fields/phi", false);
        flip_and_read(scene_path(folder), "data/42/fields/phi", true);
        end(&scene, folder);
    }
}

static void assert_fails(enum status status, const char *path, const char *reason)
{
    assert_int_equal(status, STATUS_FAILED);
    if (!strstr(status_message(), path) || !strstr(status_message(), reason))
        fail_msg("'%s' names not both %s and %s", status_message(), path, reason);
}

TEST(folders_that_do_not_do)
{
    const struct config config = example(PRECISION_SINGLE);
    struct scene scene;
    char folder[SCENE_NAME], missing[SCENE_NAME + 16], path[SCENE_NAME + 32];
    uint64_t bytes;
    begin(&config, &scene, folder);
    snprintf(path, sizeof path, "%s", scene_path(folder));
    snprintf(missing, sizeof missing, "%s/missing", folder);
    assert_fails(scene_write(&scene, missing, &bytes), "/missing/data_42.h5", "No such file or directory");
    assert_int_equal(folder_count(folder, ""), 0);

    /* Something else has the name. */
    assert_int_equal(mkdir(path, 0777), 0);
    assert_fails(scene_write(&scene, folder, &bytes), "/data_42.h5", "Is a directory");
    assert_int_equal(folder_count(folder, "data_42.h5"), 1);
    assert_int_equal(rmdir(path), 0);

    /* The older file is replaced by a success. */
    FILE *older = fopen(path, "w");
    assert_non_null(older);
    fclose(older);
    assert_ok(scene_write(&scene, folder, &bytes));
    scene_check_file(&scene, folder);
    assert_fails(scene_write(&scene, path, &bytes), "/data_42.h5/data_42.h5", "Not a directory");
    end(&scene, folder);
}

/* The child: fails to write at every limit of the size of a file, keeps the older file, writes when the limit
 * is gone, and ends by exit(): whatever HDF5 could not write must not come back then. A failed check ends it,
 * too. */
static int full_disk(bool last_write_fails)
{
    const struct config config = scene_config(PRECISION_DOUBLE, 6, 50000);
    struct scene scene;
    struct stat information;
    char folder[SCENE_NAME];
    uint64_t bytes, ignored;
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    signal(SIGXFSZ, SIG_IGN);
    if (open_device(NULL) != 0)
        return 1;
    begin(&config, &scene, folder);
    assert_ok(scene_write(&scene, folder, &bytes));
    const uint64_t limits[] = {0, 100, 2048, 10000, bytes / 8, bytes / 2, bytes - 20000, bytes - 1};
    struct rlimit limit = {0, RLIM_INFINITY};
    for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++) {
        limit.rlim_cur = limits[n];
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_fails(scene_write(&scene, folder, &ignored), scene_path(folder), "File too large");
        assert_int_equal(folder_count(folder, "data_42.h5"), 1);
        assert_int_equal(stat(scene_path(folder), &information), 0);
        assert_int_equal(information.st_size, bytes);
    }
    limit.rlim_cur = RLIM_INFINITY;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    if (!last_write_fails)
        assert_ok(scene_write(&scene, folder, &bytes));
    end(&scene, folder);
    return close_device(NULL);
}

TEST(full_disk_leaves_no_trace)
{
    assert_int_equal(system("/proc/$PPID/exe --full-disk"), 0);
    assert_int_equal(system("/proc/$PPID/exe --full-disk-to-the-end"), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return full_disk(strcmp(argv[1], "--full-disk") != 0);
    return run_listed_tests(open_device, close_device);
}
