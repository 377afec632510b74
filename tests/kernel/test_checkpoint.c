/* Checkpoint on one rank: what is written is read back bit for bit, no damage is believed, and no failure
 * costs an older checkpoint.
 *
 * A run of this program with --full-disk is the child of the test of that name. */
#include "support/checkpoint_scene.h"

#include "config/compare.h"
#include "diag/checkpoint_seal.h"

#include <dirent.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static const struct communicator alone = {.size = 1, .local_size = 1};
static const struct scene_kind plain = {.precision = PRECISION_DOUBLE, .ids = true, .crowd = 1};

/* ---- folders and files ---- */

struct folder {
    char path[64];
    char file[96]; /* of folder_file() */
};

static struct folder folder_make(void)
{
    struct folder folder = {.path = "/tmp/radixpic_checkpoint_XXXXXX"};
    assert_non_null(mkdtemp(folder.path));
    return folder;
}

static void folder_remove(const struct folder *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder->path);
    assert_int_equal(system(command), 0);
}

static const char *folder_file(struct folder *folder, const char *name)
{
    snprintf(folder->file, sizeof folder->file, "%s/%s", folder->path, name);
    return folder->file;
}

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    assert_int_equal(fclose(stream), 0);
}

/* The caller frees the bytes. */
static unsigned char *read_file(const char *path, size_t *count)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    *count = (size_t)found.st_size;
    unsigned char *bytes = malloc(*count);
    FILE *stream = fopen(path, "rb");
    assert_true(bytes && stream);
    assert_int_equal(fread(bytes, 1, *count, stream), *count);
    fclose(stream);
    return bytes;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* The names in the folder, sorted, are those in `expected`, a list of words. */
static void assert_holds(const struct folder *folder, const char *expected)
{
    char names[32][64], all[2048] = "";
    unsigned count = 0;
    DIR *listing = opendir(folder->path);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing)) && count < 32;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            snprintf(names[count++], sizeof names[0], "%.63s", entry->d_name);
    closedir(listing);
    qsort(names, count, sizeof names[0], compare_names);
    for (unsigned n = 0; n < count; n++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", n ? " " : "", names[n]);
    assert_string_equal(all, expected);
}

static enum status open_one(const char *path, struct scene_warnings *warnings, struct checkpoint **checkpoint)
{
    *warnings = (struct scene_warnings){0};
    return checkpoint_open(&alone, path, scene_warn, warnings, checkpoint);
}

static void assert_message(enum status status, enum status code, const char *const *words)
{
    assert_int_equal(status, code);
    for (; *words; words++)
        if (!strstr(status_message(), *words))
            fail_msg("'%s' does not say %s", status_message(), *words);
}
#define assert_fails(call, ...) assert_message(call, STATUS_FAILED, (const char *const[]){__VA_ARGS__, NULL})

/* ---- what is written is read back ---- */

static void check_all(const struct scene *scene, const char *path, uint64_t step)
{
    struct scene_warnings warnings;
    struct checkpoint *checkpoint;
    assert_ok(open_one(path, &warnings, &checkpoint));
    assert_int_equal(warnings.count, 0);
    struct checkpoint_header header;
    assert_ok(checkpoint_header(checkpoint, 0, &header));
    const struct checkpoint_state state = scene_state(scene, step);
    assert_memory_equal(&header, &state.header, sizeof header);
    assert_int_equal(checkpoint_header(checkpoint, 1, &header), STATUS_FAILED);
    assert_int_equal(checkpoint_partition(checkpoint)->ranks, 1);
    assert_int_equal(checkpoint_partition(checkpoint)->rows, SCENE_NX);

    size_t differences = 0;
    static const char *const nothing[] = {NULL};
    const struct config_side sides[] = {{"file", checkpoint_config(checkpoint)}, {"scene", &scene->config}};
    assert_ok(config_compare(&sides[0], &sides[1], nothing, stdout, &differences));
    assert_int_equal(differences, 0);

    scene_check_loads(&scene->kind, checkpoint);
    scene_check_rows(&scene->kind, checkpoint, 0, SCENE_NX);
    for (uint32_t row = 0; row < SCENE_NX; row++)
        scene_check_rows(&scene->kind, checkpoint, row, row + 2 < SCENE_NX ? 2 : 1);
    checkpoint_close(&checkpoint);
    assert_null(checkpoint);
}

static void round_trip(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    for (unsigned n = 0; n < 8; n++) {
        const struct scene_kind kind = {n & 1 ? PRECISION_DOUBLE : PRECISION_SINGLE, n & 2, n & 4, 1};
        struct scene scene;
        scene_create(&alone, &kind, NULL, &scene);
        const struct checkpoint_state state = scene_state(&scene, 42);
        uint64_t bytes;
        assert_ok(checkpoint_write(folder.path, &state, 2, &bytes));
        struct stat found;
        assert_int_equal(stat(folder_file(&folder, "checkpoint_42.h5"), &found), 0);
        assert_int_equal(found.st_size, bytes);
        check_all(&scene, folder.file, 42);
        scene_destroy(&scene);
    }
    assert_holds(&folder, "checkpoint_42.h5");
    folder_remove(&folder);
}

/* Several pieces and chunks, the last ones ragged. */
static void many_particles(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    for (unsigned quads = 0; quads < 2; quads++) {
        const struct scene_kind kind = {PRECISION_SINGLE, true, quads, 4001};
        struct scene scene;
        scene_create(&alone, &kind, NULL, &scene);
        assert_true(scene.lists[CHECKPOINT_MAIN][0].count > 1 << 19);
        assert_ok(scene_write(&scene, folder.path, 1, 1));
        check_all(&scene, folder_file(&folder, "checkpoint_1.h5"), 1);
        scene_destroy(&scene);
    }
    folder_remove(&folder);
}

/* Also in a folder that is not there yet. */
static void without_guests(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    scene_create(&alone, &plain, NULL, &scene);
    struct checkpoint_state state = scene_state(&scene, 7);
    state.lists[CHECKPOINT_GUESTS] = NULL;
    uint64_t bytes;
    assert_fails(checkpoint_write(folder.path, &state, 1, &bytes), "species electrons, step 7",
                 "particles are there");
    for (uint32_t s = 0; s < SCENE_SPECIES; s++)
        scene.config.species[s].particles = scene.lists[CHECKPOINT_MAIN][s].count;
    assert_ok(checkpoint_write(folder_file(&folder, "new"), &state, 1, &bytes));
    struct scene_warnings warnings;
    struct checkpoint *checkpoint;
    assert_ok(open_one(folder.file, &warnings, &checkpoint));
    struct host_list list;
    assert_ok(checkpoint_read_list(checkpoint, 1, CHECKPOINT_GUESTS, 0, SCENE_NX, &list));
    assert_int_equal(list.count, 0);
    host_list_free(&list);
    checkpoint_close(&checkpoint);
    scene_destroy(&scene);
    folder_remove(&folder);
}

/* ---- which ones stay ---- */

static void newest_are_kept(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    scene_create(&alone, &plain, NULL, &scene);
    for (uint64_t step = 8; step <= 11; step++)
        assert_ok(scene_write(&scene, folder.path, step, 2));
    assert_holds(&folder, "checkpoint_10.h5 checkpoint_11.h5");

    /* Names that are nearly those of checkpoints are not touched; what a killed run left is. */
    static const char *const strange[] = {"checkpoint_05.h5", "checkpoint_5.h5.bak", "checkpoint_.h5",
                                          "checkpoint_x.h5",  "checkpoint_-1.h5",    ".checkpoint_x.h5.tmp",
                                          "data_5.h5",        ".checkpoint_5.h5.tmp"};
    for (size_t n = 0; n < sizeof strange / sizeof strange[0]; n++)
        write_file(folder_file(&folder, strange[n]), "", 0);
    assert_int_equal(mkdir(folder_file(&folder, "checkpoint_3.h5"), 0777), 0);
    assert_ok(scene_write(&scene, folder.path, 100, 3));
    assert_ok(scene_write(&scene, folder.path, 12, 1)); /* taken back: 100 is gone */
    assert_holds(&folder, ".checkpoint_x.h5.tmp checkpoint_-1.h5 checkpoint_.h5 checkpoint_05.h5 "
                          "checkpoint_12.h5 checkpoint_3.h5 checkpoint_5.h5.bak checkpoint_x.h5 data_5.h5");
    scene_destroy(&scene);
    folder_remove(&folder);
}

static void broken_ones_do_not_count(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    scene_create(&alone, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder.path, 10, 2));
    assert_ok(scene_write(&scene, folder.path, 20, 2));
    assert_int_equal(truncate(folder_file(&folder, "checkpoint_20.h5"), 5000), 0);
    assert_ok(scene_write(&scene, folder.path, 30, 2));
    assert_holds(&folder, "checkpoint_10.h5 checkpoint_20.h5 checkpoint_30.h5");
    assert_ok(scene_write(&scene, folder.path, 40, 2));
    assert_holds(&folder, "checkpoint_30.h5 checkpoint_40.h5");
    scene_destroy(&scene);
    folder_remove(&folder);
}

static void newest_is_opened(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    struct scene_warnings warnings;
    struct checkpoint *checkpoint;
    scene_create(&alone, &plain, NULL, &scene);
    assert_fails(open_one(folder.path, &warnings, &checkpoint), folder.path, "no checkpoint");
    assert_fails(open_one("/tmp/radixpic/is/not/there.h5", &warnings, &checkpoint), "there.h5",
                 "No such file or directory");
    assert_fails(open_one("/dev/null", &warnings, &checkpoint), "/dev/null is no checkpoint");
    /* 9 and 100: not by the alphabet. */
    assert_ok(scene_write(&scene, folder.path, 9, 5));
    assert_ok(scene_write(&scene, folder.path, 100, 5));
    assert_ok(open_one(folder.path, &warnings, &checkpoint));
    assert_string_equal(checkpoint_path(checkpoint), folder_file(&folder, "checkpoint_100.h5"));
    checkpoint_close(&checkpoint);
    assert_int_equal(truncate(folder.file, 600), 0);
    assert_int_equal(truncate(folder_file(&folder, "checkpoint_9.h5"), 0), 0);
    assert_fails(open_one(folder.path, &warnings, &checkpoint), "no whole checkpoint", "checkpoint_9.h5");
    assert_int_equal(warnings.count, 2);
    scene_destroy(&scene);
    folder_remove(&folder);
}

/* ---- damage ---- */

/* The n-th damage of a copy of `whole`; returns its length. */
static size_t damage(const unsigned char *whole, size_t length, unsigned n, unsigned char *copy)
{
    memcpy(copy, whole, length);
    const size_t at = (size_t)(scene_bits(0, 0, 0, n, 0) % length);
    switch (n % 4) {
    case 0: /* anywhere */
        copy[at] ^= (unsigned char)(1U << n / 4 % 8);
        return length;
    case 1: /* in the block */
        copy[at % CHECKPOINT_BLOCK] ^= (unsigned char)(1U << n / 4 % 8);
        return length;
    case 2:
        return at;
    default: /* a block of the disk, of which some byte was not 0 */
        memset(copy + at / 512 * 512, 0, at / 512 * 512 + 512 < length ? 512 : length - at / 512 * 512);
        return memcmp(copy, whole, length) != 0 ? length : at;
    }
}

static void damage_is_noticed(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    scene_create(&alone, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder.path, 10, 2));
    assert_ok(scene_write(&scene, folder.path, 20, 2));
    size_t length;
    unsigned char *whole = read_file(folder_file(&folder, "checkpoint_20.h5"), &length);
    unsigned char *copy = malloc(length);
    assert_non_null(copy);
    for (unsigned n = 0; n < 1000; n++) {
        struct scene_warnings warnings;
        struct checkpoint *checkpoint;
        write_file(folder_file(&folder, "checkpoint_20.h5"), copy, damage(whole, length, n, copy));
        assert_fails(open_one(folder.file, &warnings, &checkpoint), folder.file);
        assert_null(checkpoint);
        assert_int_equal(warnings.count, 0);
        assert_ok(open_one(folder.path, &warnings, &checkpoint));
        assert_int_equal(warnings.count, 1);
        assert_non_null(strstr(warnings.last, "checkpoint_20.h5"));
        assert_non_null(strstr(checkpoint_path(checkpoint), "checkpoint_10.h5"));
        checkpoint_close(&checkpoint);
    }
    write_file(folder.file, whole, length);
    check_all(&scene, folder.path, 20);
    free(whole);
    free(copy);
    scene_destroy(&scene);
    folder_remove(&folder);
}

/* The state that a file tells of is changed, and its digest made right. */
static void change_array(const char *path, const char *name, hid_t type, const void *value)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    const hsize_t start[2] = {0, 0}, extent[2] = {1, 1};
    const hsize_t one = 1;
    const hid_t memory = H5Screate_simple(1, &one, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0);
    assert_true(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    assert_true(H5Fclose(file) >= 0);
    assert_int_equal(checkpoint_seal(path), 0);
}

static void remove_object(const char *path, const char *name)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    assert_true(H5Fclose(file) >= 0);
    assert_int_equal(checkpoint_seal(path), 0);
}

static void impossible_states_are_refused(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    struct scene_warnings warnings;
    struct checkpoint *checkpoint;
    scene_create(&alone, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder.path, 1, 1));
    size_t length;
    unsigned char *whole = read_file(folder_file(&folder, "checkpoint_1.h5"), &length);
    const struct {
        const char *name;
        hid_t type;
        const void *value;
        const char *words;
    } changes[] = {
        {"/first_rows", H5T_NATIVE_UINT32, &(uint32_t){1}, "do not share the rows"},
        {"/capacities", H5T_NATIVE_UINT64, &(uint64_t){3}, "no room for its particles"},
        {"/capacities", H5T_NATIVE_UINT64, &(uint64_t){UINT64_MAX}, "no room for its particles"},
        {"/config", H5T_NATIVE_UINT8, &(uint8_t){'?'}, "its config cannot be read"},
        {"/particles/ions/main/cell_counts", H5T_NATIVE_UINT32, &(uint32_t){UINT32_MAX},
         "more or fewer particles"},
    };
    for (size_t n = 0; n < sizeof changes / sizeof changes[0]; n++) {
        write_file(folder.file, whole, length);
        change_array(folder.file, changes[n].name, changes[n].type, changes[n].value);
        assert_fails(open_one(folder.file, &warnings, &checkpoint), folder.file, changes[n].words);
    }
    static const char *const objects[] = {"/first_rows", "/config", "/particles/electrons",
                                          "/particles/ions/guests/id", "/particles/ions/main/velocity"};
    for (size_t n = 0; n < sizeof objects / sizeof objects[0]; n++) {
        write_file(folder.file, whole, length);
        remove_object(folder.file, objects[n]);
        assert_fails(open_one(folder.file, &warnings, &checkpoint), folder.file, "is missing");
    }
    /* Where only reading the particles shows it. */
    const double nowhere[] = {1, -0.5, NAN};
    for (unsigned n = 0; n < 3; n++) {
        struct host_list list;
        write_file(folder.file, whole, length);
        change_array(folder.file, "/particles/ions/main/offset", H5T_NATIVE_DOUBLE, &nowhere[n]);
        assert_ok(open_one(folder.file, &warnings, &checkpoint));
        assert_fails(checkpoint_read_list(checkpoint, 1, CHECKPOINT_MAIN, 0, SCENE_NX, &list), "nowhere");
        assert_null(list.offset);
        checkpoint_close(&checkpoint);
    }
    free(whole);
    scene_destroy(&scene);
    folder_remove(&folder);
}

/* Any bytes under a right digest: refused or read, but nothing worse. */
static void sealed_damage_does_no_harm(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    scene_create(&alone, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder.path, 1, 1));
    size_t length;
    unsigned char *whole = read_file(folder_file(&folder, "checkpoint_1.h5"), &length);
    unsigned char *copy = malloc(length);
    assert_non_null(copy);
    for (unsigned n = 0; n < 1000; n++) {
        struct scene_warnings warnings;
        struct checkpoint *checkpoint;
        const size_t left = damage(whole, length, n, copy);
        if (left < CHECKPOINT_BLOCK)
            continue;
        write_file(folder.file, copy, left);
        assert_int_equal(checkpoint_seal(folder.file), 0);
        if (open_one(folder.file, &warnings, &checkpoint) != STATUS_OK)
            continue;
        for (uint32_t s = 0; s < SCENE_SPECIES; s++) {
            struct host_list list;
            if (checkpoint_read_list(checkpoint, s, CHECKPOINT_MAIN, 0, SCENE_NX, &list) == STATUS_OK)
                host_list_free(&list);
        }
        checkpoint_close(&checkpoint);
    }
    free(whole);
    free(copy);
    scene_destroy(&scene);
    folder_remove(&folder);
}

/* A later version of the format keeps the places of its number and of the block's own digest. */
static void other_versions_are_named(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    struct scene_warnings warnings;
    struct checkpoint *checkpoint;
    scene_create(&alone, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder.path, 1, 1));
    size_t length;
    unsigned char *bytes = read_file(folder_file(&folder, "checkpoint_1.h5"), &length);
    XXH128_canonical_t digest;
    bytes[24] = 7;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(bytes, CHECKPOINT_BLOCK - sizeof digest));
    memcpy(bytes + CHECKPOINT_BLOCK - sizeof digest, &digest, sizeof digest);
    write_file(folder.file, bytes, length);
    assert_fails(open_one(folder.file, &warnings, &checkpoint), "version 7", "reads version 1");
    free(bytes);
    scene_destroy(&scene);
    folder_remove(&folder);
}

/* ---- other configs ---- */

/* What the sentence says of `config` against the checkpoint at `path`, "" where it fits. */
static const char *differences(const char *path, const struct config *config)
{
    struct scene_warnings warnings;
    struct checkpoint *checkpoint;
    assert_ok(open_one(path, &warnings, &checkpoint));
    const enum status status = checkpoint_require_same(checkpoint, config);
    checkpoint_close(&checkpoint);
    assert_true(status == STATUS_OK || status == STATUS_USAGE);
    return status == STATUS_OK ? "" : status_message();
}

static void assert_lines(const char *path, const struct config *config, unsigned count, const char *first)
{
    const char *message = differences(path, config);
    unsigned lines = 0;
    for (const char *c = message; *c; c++)
        lines += *c == '\n';
    if (lines != count || !strstr(message, first))
        fail_msg("'%s' is not of %u lines with '%s'", message, count, first);
}

static void other_configs_are_refused(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    scene_create(&alone, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder.path, 1, 1));
    const char *path = folder_file(&folder, "checkpoint_1.h5");
    struct config config = scene.config;
    assert_string_equal(differences(path, &config), "");

    config.grid.cells[0] = 32;
    config.time.step = 0.2;
    config.precision = PRECISION_SINGLE;
    assert_lines(path, &config, 3, "grid.cells: the checkpoint has [13, 5], the config [32, 5]\n");
    assert_lines(path, &config, 3, "time.step: the checkpoint has 0.1, the config 0.2\n");
    assert_lines(path, &config, 3, "precision: the checkpoint has double, the config single\n");

    config = scene.config;
    config.species[1].mass = 1;
    assert_lines(path, &config, 1, "species.ions.mass: the checkpoint has 1836, the config 1\n");
    config.species[1].ids = false;
    config.species[1].perturb.density.count = 1;
    config.species[1].perturb.density.items[0] = (struct perturbation){AXIS_Y, 2, 0.5};
    assert_lines(path, &config, 3,
                 "species.ions.perturb.density: the checkpoint has [], the config "
                 "[{axis: y, mode: 2, amplitude: 0.5}]\n");
    strcpy(config.species[1].name, "protons");
    assert_lines(path, &config, 4, "species.1.name: the checkpoint has ions, the config protons\n");
    assert_lines(path, &config, 4, "species.1.mass: ");

    config = scene.config;
    config.species_count = 1;
    assert_lines(path, &config, 1, "species: the checkpoint has 2 of them, the config 1\n");
    config = scene.config;
    config.species[0].velocities.kind = VELOCITIES_MAXWELLIAN;
    assert_lines(path, &config, 1, "species.electrons.velocities.kind: the checkpoint has cold");
    config = scene.config;
    config.units.temperature_eV = 99;
    config.deposit.filter_passes = 1;
    config.fields.magnetic = 0.1;
    config.fields.gradient = GRADIENT_CENTRED;
    assert_lines(path, &config, 4, "units.temperature_eV: the checkpoint has 100, the config 99\n");
    scene_destroy(&scene);
    folder_remove(&folder);
}

static void what_may_differ_is_accepted(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    scene_create(&alone, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder.path, 1, 1));
    struct config config = scene.config;
    strcpy(config.title, "another");
    config.time.steps = 5000;
    config.time.check_every = 3;
    strcpy(config.device, "cpu");
    config.sort = (struct sort_config){.method = SORT_METHOD_PAPER, .passes = 1, .transpose = TRANSPOSE_ON};
    config.step.method = STEP_PLAIN;
    config.parallel = (struct parallel_config){5, 2, 7};
    config.fields.solver = SOLVER_FFTW;
    config.fields.decomposition = DECOMPOSITION_SLABS;
    config.output = (struct output_config){.directory = "elsewhere",
                                           .history = {2, 1, {{1, 0}}},
                                           .snapshots = {1, false, 9},
                                           .checkpoints = {3, 0.5, 7}};
    assert_string_equal(differences(folder_file(&folder, "checkpoint_1.h5"), &config), "");
    scene_destroy(&scene);
    folder_remove(&folder);
}

/* ---- failures ---- */

/* Puts a number into the middle particle of the ions' main list. */
static void spoil(const struct scene *scene, bool offset, double value, char cell[32])
{
    const struct particles *particles = &scene->lists[CHECKPOINT_MAIN][1];
    const uint32_t middle = particles->count / 2;
    if (scene->kind.quads)
        assert_ok(buffer_write_reals(particles->quad, scene->kind.precision, 4 * middle + (offset ? 1 : 3), 1,
                                     &value));
    else
        assert_ok(buffer_write_reals(offset ? particles->offset : particles->velocity, scene->kind.precision,
                                     2 * middle + 1, 1, &value));
    uint32_t before = 0, number = 0;
    while (before + scene_count(scene->kind.crowd, 1, CHECKPOINT_MAIN, number) <= middle)
        before += scene_count(scene->kind.crowd, 1, CHECKPOINT_MAIN, number++);
    snprintf(cell, 32, "cell (%u, %u)", number / SCENE_NY, number % SCENE_NY);
}

static void what_is_no_number_is_refused(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    for (unsigned n = 0; n < 16; n++) {
        static const double values[] = {NAN, INFINITY, -INFINITY, 1};
        const bool offset = n & 4;
        const struct scene_kind kind = {n & 8 ? PRECISION_DOUBLE : PRECISION_SINGLE, true, n & 1, 1};
        struct scene scene;
        char cell[32];
        scene_create(&alone, &kind, NULL, &scene);
        assert_ok(scene_write(&scene, folder.path, 10, 1));
        if (n % 4 == 3 && !offset)
            assert_ok(scene_write(&scene, folder.path, 10, 1)); /* a velocity of 1 is as good as any */
        spoil(&scene, offset, values[n % 4], cell);
        if (n % 4 < 3 || offset)
            assert_fails(scene_write(&scene, folder.path, 20, 1), "species ions", "step 20", cell,
                         offset ? "offset dy" : "velocity v");
        assert_holds(&folder, "checkpoint_10.h5");
        scene_destroy(&scene);
        scene_create(&alone, &kind, NULL, &scene);
        check_all(&scene, folder.path, 10);
        scene_destroy(&scene);
    }
    folder_remove(&folder);
}

static void unsorted_lists_are_refused(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    scene_create(&alone, &plain, NULL, &scene);
    const uint32_t too_many = scene.lists[CHECKPOINT_MAIN][0].count + 1;
    assert_ok(buffer_write(scene.lists[CHECKPOINT_MAIN][0].cell_offsets, 8 * sizeof too_many, sizeof too_many,
                           &too_many));
    assert_fails(scene_write(&scene, folder.path, 1, 1), "species electrons, step 1", "cells do not hold");
    assert_holds(&folder, "");
    scene_destroy(&scene);
    folder_remove(&folder);
}

static void folders_that_do_not_do(void **unused)
{
    (void)unused;
    struct folder folder = folder_make();
    struct scene scene;
    scene_create(&alone, &plain, NULL, &scene);
    assert_fails(scene_write(&scene, folder_file(&folder, "missing/missing"), 1, 1), "/missing/missing",
                 "No such file or directory");
    write_file(folder_file(&folder, "file"), "", 0);
    assert_fails(scene_write(&scene, folder.file, 1, 1), "/file/checkpoint_1.h5", "Not a directory");
    assert_int_equal(mkdir(folder_file(&folder, "checkpoint_1.h5"), 0777), 0);
    assert_fails(scene_write(&scene, folder.path, 1, 1), "/checkpoint_1.h5", "Is a directory");
    assert_holds(&folder, "checkpoint_1.h5 file");
    scene_destroy(&scene);
    folder_remove(&folder);
}

/* The child: fails to write at every limit of the size of a file, keeps the older checkpoint, and ends by
 * exit(): whatever HDF5 could not write must not come back then. A failed check ends it, too. */
static int full_disk(void)
{
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    signal(SIGXFSZ, SIG_IGN);
    if (open_device(NULL) != 0)
        return 1;
    struct folder folder = folder_make();
    struct scene scene;
    const struct scene_kind kind = {.precision = PRECISION_DOUBLE, .crowd = 1000};
    scene_create(&alone, &kind, NULL, &scene);
    const struct checkpoint_state state = scene_state(&scene, 10);
    uint64_t bytes, ignored;
    assert_ok(checkpoint_write(folder.path, &state, 1, &bytes));
    const uint64_t limits[] = {0, 100, 2048, 10000, bytes / 8, bytes / 2, bytes - 20000, bytes - 1};
    for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++) {
        const struct checkpoint_state later = scene_state(&scene, 20);
        struct rlimit limit = {limits[n], RLIM_INFINITY};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_fails(checkpoint_write(folder.path, &later, 1, &ignored), "checkpoint_20.h5",
                     "File too large");
        limit.rlim_cur = RLIM_INFINITY;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_holds(&folder, "checkpoint_10.h5");
        check_all(&scene, folder.path, 10);
    }
    scene_destroy(&scene);
    folder_remove(&folder);
    return close_device(NULL);
}

static void full_disk_costs_nothing(void **unused)
{
    (void)unused;
    assert_int_equal(system("/proc/$PPID/exe --full-disk"), 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return full_disk();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(many_particles),
        cmocka_unit_test(without_guests),
        cmocka_unit_test(newest_are_kept),
        cmocka_unit_test(broken_ones_do_not_count),
        cmocka_unit_test(newest_is_opened),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(impossible_states_are_refused),
        cmocka_unit_test(sealed_damage_does_no_harm),
        cmocka_unit_test(other_versions_are_named),
        cmocka_unit_test(other_configs_are_refused),
        cmocka_unit_test(what_may_differ_is_accepted),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(unsorted_lists_are_refused),
        cmocka_unit_test(folders_that_do_not_do),
        cmocka_unit_test(full_disk_costs_nothing),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, open_device, close_device);
}
