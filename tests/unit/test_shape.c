/* Shape: properties of the particle shapes of kernels/shared/shape.h, compiled for the host.
 * test_shape_single.c runs the same in single precision. */
#include "support/test_support.h"

#include "support/host_shapes.h"

#include <float.h>

static const double epsilon = REAL_IS_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;

enum { SAMPLES = 1001 };

/* All weights of a shape at d, as doubles, the unused ones 0. */
static void weights_at(const struct shape *shape, real d, double weights[4])
{
    real narrow[4] = {0, 0, 0, 0};
    shape->weights(d, narrow);
    for (int n = 0; n < 4; n++)
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

/* Three or fewer roundings of terms below 1 in each of at most four weights. */
TEST(weights_sum_to_one)
{
    for (int order = 0; order < 3; order++)
        for (int n = 0; n < SAMPLES; n++) {
            double weights[4];
            weights_at(&shapes[order], sample(n), weights);
            assert_near(weights[0] + weights[1] + weights[2] + weights[3], 1, 4 * epsilon);
            for (int node = 0; node < 4; node++)
                assert_true(weights[node] >= 0);
        }
}

/* cic and tsc reproduce a linear function: sum of weight times node position is the particle's position. The
 * second moment about the particle is 1/4 for tsc wherever the particle is. */
TEST(moments)
{
    for (int order = 1; order < 3; order++)
        for (int n = 0; n < SAMPLES; n++) {
            const double d = (double)sample(n);
            double weights[4], mean = 0, spread = 0;
            weights_at(&shapes[order], sample(n), weights);
            for (int node = 0; node < shapes[order].nodes; node++) {
                const double position = shapes[order].first + node;
                mean += weights[node] * position;
                spread += weights[node] * (position - d) * (position - d);
            }
            assert_near(mean, d, 8 * epsilon); /* nodes up to 2 away, errors as above */
            assert_near(spread, order == 2 ? 0.25 : d * (1 - d), 16 * epsilon);
        }
}

/* Against the textbook shapes as functions of the distance (Birdsall & Langdon; Hockney & Eastwood). */
TEST(values)
{
    for (int n = 0; n < SAMPLES; n++) {
        const double d = (double)sample(n);
        double weights[4];
        weights_at(&shapes[0], sample(n), weights);
        assert_true(weights[0] == (d < 0.5 ? 1 : 0) && weights[1] == (d < 0.5 ? 0 : 1));
        weights_at(&shapes[1], sample(n), weights);
        assert_near(weights[0], 1 - d, epsilon);
        assert_near(weights[1], d, 0);
        weights_at(&shapes[2], sample(n), weights);
        for (int node = 0; node < 4; node++) {
            const double distance = fabs(node - 1 - d);
            const double expected = distance < 0.5   ? 0.75 - distance * distance
                                    : distance < 1.5 ? 0.5 * (1.5 - distance) * (1.5 - distance)
                                                     : 0;
            assert_near(weights[node], expected, 4 * epsilon);
        }
    }
}

/* tsc changes its nearest node at 1/2, and the cell at 1: its weights must not jump. Moving by one rounding
 * changes them by as much. */
TEST(tsc_is_continuous)
{
    double below[4], above[4];
    weights_at(&shapes[2], (real)(0.5 - epsilon / 4), below);
    weights_at(&shapes[2], (real)0.5, above);
    for (int node = 0; node < 4; node++)
        assert_near(below[node], above[node], 2 * epsilon);
    weights_at(&shapes[2], (real)(1 - epsilon / 2), below);
    weights_at(&shapes[2], (real)0, above); /* of the next cell: its nodes are one further */
    assert_near(below[0], 0, 2 * epsilon);
    for (int node = 1; node < 4; node++)
        assert_near(below[node], above[node - 1], 2 * epsilon);
}

/* A broken particle must show in the density. */
TEST(not_a_number_shows)
{
    for (int order = 0; order < 3; order++) {
        double weights[4];
        weights_at(&shapes[order], (real)NAN, weights);
        assert_true(isnan(weights[0] + weights[1] + weights[2] + weights[3]));
    }
}

TEST_MAIN(NULL, NULL)
