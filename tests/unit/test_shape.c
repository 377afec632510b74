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
    case SHAPE_QUARTIC: /* Abe, Sakairi, Itatani and Okuda, J. Comput. Phys. 63 (1986) 247 */
        if (r < 0.5)
            return 115.0 / 192 - r * r * (5.0 / 8 - r * r / 4);
        if (r < 1.5)
            return (55 + 20 * r - 120 * r * r + 80 * r * r * r - 16 * r * r * r * r) / 96;
        return pow(fmax(2.5 - r, 0), 4) / 24;
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
