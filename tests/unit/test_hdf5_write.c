/* HDF5 write: places beyond 32 bits, and checksums. That files are whole or not there on a full disk
 * tests/mpi/test_snapshot.c and tests/faults/test_disk_full.py show. */
#include "support/test_folder.h"

#include "hdf5/hdf5_write.h"

static const struct communicator alone = {.size = 1, .local_size = 1};
static struct folder folder;
static const char *const path = folder.file;

static int make_folder(void **state)
{
    (void)state;
    H5Pclose(hdf5_access()); /* before the types of elements are named */
    folder = folder_make();
    folder_file(&folder, "array.h5");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return folder_remove_with_file(&folder);
}

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

/* Writes only a part of an array. */
static enum status write_part(uint32_t compression, int dimensions, const uint64_t shape[2],
                              uint64_t first_row, uint64_t rows)
{
    const uint64_t columns = dimensions == 2 ? shape[1] : 1, begin = first_row * columns;
    struct hdf5_array array = {.type = HDF5_UINT8,
                               .dimensions = dimensions,
                               .shape = {shape[0], shape[1]},
                               .first = begin,
                               .count = rows * columns,
                               .fill = fill_elements,
                               .source = &begin};
    struct hdf5_file *file;
    struct stat information;
    hdf5_choose_chunks(&array);
    TRY(hdf5_file_create(&alone, folder.path, "array.h5", &file));
    file->compression = compression;
    assert_non_null(hdf5_dataset(&file->root, "elements", &array));
    const enum status status = hdf5_file_write(file, &alone);
    const uint64_t bytes = file->bytes;
    hdf5_file_free(&file);
    TRY(status);
    assert_int_equal(stat(path, &information), 0);
    assert_int_equal(information.st_size, bytes);
    return STATUS_OK;
}

/* Whether the part can be read back, through HDF5's own counting; then it is what was written. */
static bool read_part(int dimensions, const uint64_t shape[2], uint64_t first_row, uint64_t rows)
{
    const uint64_t columns = dimensions == 2 ? shape[1] : 1, count = rows * columns;
    const hsize_t start[2] = {first_row, 0}, extent[2] = {rows, columns};
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "elements", H5P_DEFAULT), space = H5Dget_space(dataset);
    const hid_t memory = H5Screate_simple(dimensions, extent, NULL);
    hsize_t found[2] = {0, 0};
    assert_int_equal(H5Sget_simple_extent_dims(space, found, NULL), dimensions);
    assert_memory_equal(found, shape, (size_t)dimensions * sizeof *found);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0);
    uint8_t *values = test_array(count, 1);
    const bool is_read = H5Dread(dataset, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, values) >= 0;
    for (size_t n = 0; n < count && is_read; n++)
        assert_int_equal(values[n], element_of(first_row * columns + n));
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return is_read;
}

static void check_part(int dimensions, const uint64_t shape[2], uint64_t first_row, uint64_t rows)
{
    assert_ok(write_part(1, dimensions, shape, first_row, rows));
    assert_true(read_part(dimensions, shape, first_row, rows));
}

TEST(arrays_beyond_32_bits)
{
    const uint64_t list[2] = {(UINT64_C(1) << 33) + 12345, 0}, nodes[2] = {(1 << 17) + 3, (1 << 16) + 5};
    check_part(1, (const uint64_t[2]){(UINT64_C(1) << 31) + 7, 0}, (UINT64_C(1) << 31) - 1000, 1007);
    check_part(1, list, (UINT64_C(1) << 32) - 70000, 140000);
    check_part(1, list, list[0] - 100, 100);
    check_part(2, nodes, nodes[0] - 2, 2);
    const uint64_t most = UINT64_C(1) << 34;
    struct hdf5_object large = {.array = {.type = HDF5_UINT8, .dimensions = 1, .shape = {most}}};
    hdf5_choose_chunks(&large.array);
    assert_in_range(hdf5_bytes(&large), most, most + most / 100);
}

/* Flips one bit in the first chunk. */
static void flip(void)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "elements", H5P_DEFAULT), space = H5Dget_space(dataset);
    haddr_t address;
    hsize_t size;
    assert_true(H5Dget_chunk_info(dataset, space, 0, NULL, NULL, &address, &size) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    flip_bit(path, address + size / 2);
}

TEST(flipped_bit_is_noticed)
{
    const uint64_t shape[2] = {6, 5};
    for (uint32_t compression = 0; compression <= 9; compression += 9) {
        assert_ok(write_part(compression, 2, shape, 0, 6));
        assert_true(read_part(2, shape, 0, 6));
        flip();
        assert_false(read_part(2, shape, 0, 6));
    }
}

TEST_MAIN(make_folder, remove_folder)
