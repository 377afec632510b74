/* Checkpoint read, of damaged files: no changed bit, lost block or lost end of a file is believed, and
 * nothing in a file does harm. */
#include "support/output_scene.h"

#include "folder/checkpoint_seal.h"

#include <hdf5.h>
#include <sys/stat.h>
#include <xxhash.h>

/* Of the magic text at the begin of a checkpoint. */
enum { MAGIC_BYTES = 24 };

/* Checkpoints of steps 10 and 20; the later one is to be damaged, and folder.file is its path. */
static const char *const damaged = folder.file;
static unsigned char *whole, *copy; /* [length]: its bytes */
static size_t length;

static int begin_patient(void **state)
{
    begin_folder(state);
    assert_ok(scene_write(&plain_scene, folder.path, 10));
    assert_ok(scene_write(&plain_scene, folder.path, 20));
    whole = read_file(folder_file(&folder, "checkpoint_20.h5"), &length);
    copy = test_array(length, 1);
    return 0;
}

/* The n-th damage of a copy of `whole`; returns its length. */
static size_t damage(unsigned n)
{
    memcpy(copy, whole, length);
    const size_t at = (size_t)(scene_bits(0, 0, n, 0) % length);
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

#undef TEST
#define TEST(name) TEST_WITH(name, begin_patient, end_folder)

TEST(damage_is_noticed)
{
    for (unsigned n = 0; n < 1000; n++) {
        struct checkpoint *checkpoint;
        const size_t left = damage(n);
        write_file(damaged, copy, left);
        if (left >= MAGIC_BYTES && memcmp(copy, whole, MAGIC_BYTES) == 0)
            assert_fails(checkpoint_find(&alone, damaged, &checkpoint), damaged);
        else /* a file of another kind, and so a mistake of the user */
            assert_refuses(checkpoint_find(&alone, damaged, &checkpoint), damaged, "no checkpoint");
        assert_null(checkpoint);
        assert_ok(checkpoint_find(&alone, folder.path, &checkpoint));
        assert_non_null(strstr(checkpoint->warnings, "checkpoint_20.h5"));
        assert_non_null(strstr(checkpoint->path, "checkpoint_10.h5"));
        checkpoint_close(&checkpoint);
    }
    write_file(damaged, whole, length);
    check_all(&plain_scene, folder.path, 20);
}

/* A number of the header or, below /, the first of an array is changed, or what is of that name removed where
 * there is no value; and the digest made right. */
static void change(const char *path, const char *name, hid_t type, const void *value)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (name[0] != '/') {
        const hid_t number = H5Aopen(file, name, H5P_DEFAULT);
        assert_true(H5Awrite(number, type, value) >= 0);
        H5Aclose(number);
    } else if (value) {
        const hsize_t start[2] = {0, 0}, one[2] = {1, 1};
        const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
        const hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(1, one, NULL);
        assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL) >= 0);
        assert_true(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, value) >= 0);
        H5Sclose(memory);
        H5Sclose(space);
        H5Dclose(dataset);
    } else {
        assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    }
    assert_true(H5Fclose(file) >= 0);
    assert_ok(checkpoint_seal(path));
}

/* In the place of an array, or of the group above it: what makes HDF5 open another file, which is a pipe that
 * a reader would wait at for ever, or follow another name. */
static void replace(const char *path, const char *name, const char *pipe, int kind)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), creation = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t shape = SCENE_NX, endless = H5S_UNLIMITED;
    const hid_t space = H5Screate_simple(1, &shape, &endless), source = H5Scopy(space);
    assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    if (kind == 0)
        assert_true(H5Lcreate_external(pipe, name, file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    else if (kind == 1)
        assert_true(H5Lcreate_soft("/config", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    else if (kind == 2)
        assert_true(H5Pset_external(creation, pipe, 0, H5F_UNLIMITED) >= 0);
    else
        assert_true(H5Pset_virtual(creation, space, pipe, "/array", source) >= 0);
    if (kind >= 2)
        H5Dclose(H5Dcreate2(file, name, H5T_NATIVE_UINT64, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(source);
    H5Sclose(space);
    H5Pclose(creation);
    assert_true(H5Fclose(file) >= 0);
    assert_ok(checkpoint_seal(path));
}

TEST(nothing_outside_the_file_is_followed)
{
    char pipe[PATH_MAX];
    bool is_damaged = true;
    snprintf(pipe, sizeof pipe, "%s/pipe", folder.path);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    static const char *const names[] = {"/particles/ions/row_counts", "/particles/ions", "/particles",
                                        "/config"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (int kind = 0; kind < (n % 3 == 0 ? 4 : 2); kind++) {
            struct checkpoint *checkpoint;
            write_file(damaged, whole, length);
            replace(damaged, names[n], pipe, kind);
            assert_fails(checkpoint_find(&alone, damaged, &checkpoint), damaged,
                         kind < 2 ? "a link to another place" : "is not stored in this file");
        }
    assert_refuses(checkpoint_seal_check(pipe, true, &is_damaged), "it is no regular file");
    assert_int_equal(unlink(pipe), 0);
}

TEST(impossible_headers_and_states_are_refused)
{
    const struct {
        const char *name;
        hid_t type;
        const void *value;
        const char *words;
    } changes[] = {
        {"version", H5T_NATIVE_UINT32, &(uint32_t){99}, "its version is not that"},
        {"step", H5T_NATIVE_UINT64, &(uint64_t){UINT64_MAX}, "its step is beyond"},
        {"first_energy", H5T_NATIVE_DOUBLE, &(double){NAN}, "its first energy"},
        {"first_energy", H5T_NATIVE_DOUBLE, &(double){INFINITY}, "its first energy"},
        {"first_energy", H5T_NATIVE_DOUBLE, &(double){-1}, "its first energy"},
        {"drive_work", H5T_NATIVE_DOUBLE, &(double){NAN}, "the work of its drives"},
        {"/external_work", H5T_NATIVE_DOUBLE, &(double){INFINITY}, "the work of its external fields"},
        {"/external_work", 0, NULL, "is missing"},
        {"ranks", H5T_NATIVE_UINT32, &(uint32_t){0}, "no rows for so many ranks"},
        {"ranks", H5T_NATIVE_UINT32, &(uint32_t){2}, "of another shape"},
        {"ranks", H5T_NATIVE_UINT32, &(uint32_t){UINT32_MAX}, "no rows for so many ranks"},
        {"ghost", H5T_NATIVE_UINT32, &(uint32_t){1}, "ghost rows"},
        {"ghost", H5T_NATIVE_UINT32, &(uint32_t){UINT32_MAX}, "ghost rows"},
        {"/first_rows", H5T_NATIVE_UINT32, &(uint32_t){1}, "do not have the rows"},
        {"/capacities", H5T_NATIVE_UINT32, &(uint32_t){3}, "more particles than its list"},
        {"/config", H5T_NATIVE_UINT8, &(uint8_t){'?'}, "its config cannot be read"},
        {"/particles/ions/row_counts", H5T_NATIVE_UINT64, &(uint64_t){3}, "more or fewer particles"},
        {"/particles/ions/row_counts", H5T_NATIVE_UINT64, &(uint64_t){UINT64_MAX}, "more or fewer"},
        {"/first_rows", 0, NULL, "is missing"},
        {"/config", 0, NULL, "is missing"},
        {"/particles/electrons", 0, NULL, "is missing"},
        {"/particles/ions/id", 0, NULL, "is missing"},
        {"/particles/ions/velocity", 0, NULL, "is missing"},
        {"/particles/ions/offset", H5T_NATIVE_DOUBLE, &(double){1}, "nowhere"},
        {"/particles/ions/offset", H5T_NATIVE_DOUBLE, &(double){-0.5}, "nowhere"},
        {"/particles/ions/offset", H5T_NATIVE_DOUBLE, &(double){NAN}, "nowhere"},
        {"/particles/ions/cell_counts", H5T_NATIVE_UINT32, &(uint32_t){77}, "nowhere"},
    };
    for (size_t n = 0; n < sizeof changes / sizeof changes[0]; n++) {
        struct checkpoint *checkpoint;
        struct host_list list;
        write_file(damaged, whole, length);
        change(damaged, changes[n].name, changes[n].type, changes[n].value);
        if (strcmp(changes[n].words, "nowhere") != 0) { /* which reading the particles shows */
            assert_fails(checkpoint_find(&alone, damaged, &checkpoint), damaged, changes[n].words);
            continue;
        }
        assert_ok(checkpoint_find(&alone, damaged, &checkpoint));
        assert_fails(scene_read_list(checkpoint, 1, 0, SCENE_NX, &list), changes[n].words);
        checkpoint_close(&checkpoint);
    }
}

/* A key of an earlier version, in the place of the spaces behind another. */
TEST(the_deposit_methods_of_an_earlier_version_are_read)
{
    static const char shape[] = "\n  shape: tsc ";
    static const char *const methods[] = {"\n  method: sorted", "\n  method: atomic"};
    for (size_t n = 0; n < 2; n++) {
        unsigned char *place = copy;
        struct checkpoint *checkpoint;
        memcpy(copy, whole, length);
        while (memcmp(place, shape, strlen(shape)) != 0)
            place++;
        memcpy(place + strlen(shape), methods[n], strlen(methods[n]));
        write_file(damaged, copy, length);
        assert_ok(checkpoint_seal(damaged));
        assert_ok(checkpoint_find(&alone, damaged, &checkpoint));
        assert_ok(checkpoint_require_same(damaged, &checkpoint->config, &plain_scene.config));
        checkpoint_close(&checkpoint);
    }
}

/* Any bytes under a right digest: refused or read, but nothing worse. */
TEST(sealed_damage_does_no_harm)
{
    for (unsigned n = 0; n < 1000; n++) {
        struct checkpoint *checkpoint;
        const size_t left = damage(n);
        if (left < CHECKPOINT_BLOCK)
            continue;
        write_file(damaged, copy, left);
        assert_ok(checkpoint_seal(damaged));
        if (checkpoint_find(&alone, damaged, &checkpoint) != STATUS_OK)
            continue;
        for (uint32_t s = 0; s < SCENE_SPECIES; s++) {
            struct host_list list;
            (void)scene_read_list(checkpoint, s, 0, SCENE_NX, &list);
        }
        checkpoint_close(&checkpoint);
    }
}

/* Every version of the format keeps the places of its number and of the block's own digest. */
TEST(other_versions_are_named)
{
    static const unsigned char versions[] = {2, 7};
    for (size_t n = 0; n < 2; n++) {
        char sentence[64];
        struct checkpoint *checkpoint;
        XXH128_canonical_t digest;
        unsigned char *end = whole + CHECKPOINT_BLOCK - sizeof digest;
        whole[24] = versions[n];
        XXH128_canonicalFromHash(&digest, XXH3_128bits(whole, CHECKPOINT_BLOCK - sizeof digest));
        memcpy(end, &digest, sizeof digest);
        write_file(damaged, whole, length);
        snprintf(sentence, sizeof sentence, "is a checkpoint of version %d; this program reads version %d",
                 versions[n], CHECKPOINT_VERSION);
        assert_fails(checkpoint_find(&alone, damaged, &checkpoint), sentence);
    }
}

TEST_MAIN(open_device, close_device)
