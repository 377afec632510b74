/* Shape: properties of the particle shapes of kernels/shared/shape.h, compiled for the host.
 * test_shape_single.c runs the same in single precision. */
#include "support/test_support.h"

#include "config/config.h"
#include "shared/shape.h"

#include <float.h>

static const double epsilon = REAL_IS_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;

enum { SAMPLES = 1001, MOST_NODES = SHAPE_NODES_OF(SHAPE_COUNT - 1) };

/* All weights of a shape at d, as doubles, the unused ones 0. */
static void weights_at(int order, real d, double weights[MOST_NODES])
{
    real narrow[MOST_NODES] = {0};
    shape_weights_of(order, d, narrow);
    for (int n = 0; n < MOST_NODES; n++)
        weights[n] = (double)narrow[n];
}

/* Offsets that a particle can have: evenly spaced ones, the ends, around 1/2. */
static real sample(int n)
{
    const real special[] = {(real)0.0,
                            (real)-0.0,
                            (real)(1 - epsilon / 2),
                            (real)0.5,
                            (real)(0.5 - epsilon / 4),
                            (real)(0.5 + epsilon / 2),
                            (real)DBL_MIN};
    const int count = (int)(sizeof special / sizeof special[0]);
    return n < count ? special[n] : (real)(n - count) / (real)(SAMPLES - count);
}

/* Four or fewer roundings of terms below 1 in each of at most four weights. */
TEST(weights_sum_to_one)
{
    for (int order = 0; order < SHAPE_COUNT; order++)
        for (int n = 0; n < SAMPLES; n++) {
            double weights[MOST_NODES], sum = 0;
            weights_at(order, sample(n), weights);
            for (int node = 0; node < MOST_NODES; node++) {
                assert_true(weights[node] >= 0);
                sum += weights[node];
            }
            assert_near(sum, 1, 4 * epsilon);
        }
}

/* From cic on shapes reproduce a linear function: sum of weight times node position is the particle's
 * position. From tsc on the second moment about the particle is (order + 1)/12 wherever the particle is. */
TEST(moments)
{
    for (int order = 1; order < SHAPE_COUNT; order++)
        for (int n = 0; n < SAMPLES; n++) {
            const double d = (double)sample(n);
            double weights[MOST_NODES], mean = 0, spread = 0;
            weights_at(order, sample(n), weights);
            for (int node = 0; node < SHAPE_NODES_OF(order); node++) {
                const double position = SHAPE_FIRST_OF(order) + node;
                mean += weights[node] * position;
                spread += weights[node] * (position - d) * (position - d);
            }
            assert_near(mean, d, 8 * epsilon); /* nodes up to 2 away, errors as above */
            assert_near(spread, order == 1 ? d * (1 - d) : (order + 1) / 12.0, 16 * epsilon);
        }
}

/* The weight of a particle at offset d for the node `steps` above the lower one: the textbook shapes as
 * functions of the distance (Birdsall & Langdon; Hockney & Eastwood). */
static double formula(int order, double d, int steps)
{
    const double r = fabs(d - steps);
    switch (order) {
    case SHAPE_NGP:
        return steps == (d < 0.5 ? 0 : 1) ? 1 : 0;
    case SHAPE_CIC:
        return fmax(1 - r, 0);
    case SHAPE_TSC:
        return r < 0.5 ? 0.75 - r * r : 0.5 * pow(fmax(1.5 - r, 0), 2);
    case SHAPE_CUBIC:
        return r < 1 ? 2.0 / 3 - r * r + r * r * r / 2 : pow(fmax(2 - r, 0), 3) / 6;
    default:
        return NAN;
    }
}

/* The B-splines that tests and benches hold densities against are these, and so are the weights. A difference
 * may round to the edge of order 0. */
TEST(values)
{
    for (int order = 0; order < SHAPE_COUNT; order++)
        for (int n = 0; n < SAMPLES; n++) {
            const double d = (double)sample(n);
            double weights[MOST_NODES];
            weights_at(order, sample(n), weights);
            for (int node = 0; node < SHAPE_NODES_OF(order); node++) {
                const int steps = SHAPE_FIRST_OF(order) + node;
                const double expected = formula(order, d, steps);
                assert_near(weights[node], expected, order == 0 ? 0 : 4 * epsilon);
                assert_near(shape_spline(order, d - steps), expected,
                            order == 0 && d < 0.5 && d - 1 == -0.5 ? 1 : 4 * DBL_EPSILON);
            }
        }
}

/* tsc changes its nearest node at 1/2, and the cell at 1: its weights must not jump. Moving by one rounding
 * changes them by as much. */
TEST(tsc_is_continuous)
{
    double below[MOST_NODES], above[MOST_NODES];
    weights_at(2, (real)(0.5 - epsilon / 4), below);
    weights_at(2, (real)0.5, above);
    for (int node = 0; node < 4; node++)
        assert_near(below[node], above[node], 2 * epsilon);
    weights_at(2, (real)(1 - epsilon / 2), below);
    weights_at(2, (real)0, above); /* of the next cell: its nodes are one further */
    assert_near(below[0], 0, 2 * epsilon);
    for (int node = 1; node < 4; node++)
        assert_near(below[node], above[node - 1], 2 * epsilon);
}

/* A broken particle must show in the density. */
TEST(not_a_number_shows)
{
    for (int order = 0; order < SHAPE_COUNT; order++) {
        double weights[MOST_NODES], sum = 0;
        weights_at(order, (real)NAN, weights);
        for (int node = 0; node < MOST_NODES; node++)
            sum += weights[node];
        assert_true(isnan(sum));
    }
}

TEST_MAIN(NULL, NULL)
