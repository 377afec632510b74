/* Field solver: the decomposition of a run that leaves it to the program. */
#include "support/test_support.h"

#include "field/field_solver.h"

TEST(decomposition_by_device_ranks_and_nodes)
{
    static const struct {
        bool on_cpus;
        int ranks;
        uint64_t nodes;
        enum decomposition_kind expected;
    } cases[] = {
        {true, 2, 256 * 256, DECOMPOSITION_SLABS},          {true, 16, 2048 * 2048, DECOMPOSITION_SLABS},
        {true, 2, 256 * 256 - 1, DECOMPOSITION_REPLICATED}, {true, 16, 128 * 128, DECOMPOSITION_REPLICATED},
        {true, 1, 2048 * 2048, DECOMPOSITION_REPLICATED},   {false, 1, 256 * 256, DECOMPOSITION_REPLICATED},
        {false, 4, 2048 * 2048, DECOMPOSITION_REPLICATED},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        assert_int_equal(field_solver_decomposition(cases[n].on_cpus, cases[n].ranks, cases[n].nodes),
                         cases[n].expected);
}

TEST_MAIN(NULL, NULL)
