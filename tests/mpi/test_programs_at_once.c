/* Programs: the ranks of one machine build the same program at the same time. PoCL keeps what it compiles in
 * a folder that the ranks share. */
#include "support/mpi_support.h"

#include "device/device.h"
#include "support/test_folder.h"

enum { PROGRAMS = 4 };

TEST(ranks_may_build_the_same_program_at_once)
{
    struct folder folder = folder_make_for_all();
    if (ranks.rank == 0)
        write_text(folder_file(&folder, "answer.cl"),
                   "kernel void answer(global uint *a) { a[0] = ANSWER; }\n");
    setenv("RADIXPIC_KERNELS", folder.path, 1);
    setenv("POCL_CACHE_DIR", folder_file(&folder, "pocl"), 1); /* with none of them in it */
    setenv("RADIXPIC_CACHE", "/dev/null", 1);                  /* where the others would wait for the first */
    struct device *device = NULL;
    assert_ok(device_open("cpu", 0, &device));
    for (int n = 0; n < PROGRAMS; n++) {
        struct program *program = NULL;
        MPI_Barrier(MPI_COMM_WORLD);
        assert_ok(program_build(device, "answer.cl", PRECISION_SINGLE, &program, "-D ANSWER=%d", n));
    }
    device_close(&device);
    unsetenv("RADIXPIC_KERNELS");
    folder_remove_for_all(&folder);
}

MPI_TEST_MAIN(NULL, NULL)
