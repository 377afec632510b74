/* Vectors of three numbers. Include test_support.h first. */
#ifndef RADIXPIC_TEST_VECTORS_H
#define RADIXPIC_TEST_VECTORS_H

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const double a[3], const double b[3], double product[3])
{
    for (int axis = 0; axis < 3; axis++)
        product[axis] = a[(axis + 1) % 3] * b[(axis + 2) % 3] - a[(axis + 2) % 3] * b[(axis + 1) % 3];
}

/* Unit vectors spread over the sphere, in no order but for the first, along z. */
static inline void direction_of(int n, double direction[3])
{
    const double z = 1 - 2 * fmod(0.754877666 * n, 1), angle = 2 * M_PI * fmod(0.569840291 * n, 1);
    direction[0] = sqrt(1 - z * z) * cos(angle);
    direction[1] = sqrt(1 - z * z) * sin(angle);
    direction[2] = z;
}

/* Rodrigues' formula: `old` turned about the unit vector `along` by `angle`, clockwise: dv/dt = Omega v x
 * along. */
static inline void turn(const double old[3], const double along[3], double angle, double turned[3])
{
    double across[3];
    cross(old, along, across);
    for (int axis = 0; axis < 3; axis++)
        turned[axis] = old[axis] * cos(angle) + across[axis] * sin(angle) +
                       along[axis] * dot(along, old) * (1 - cos(angle));
}

#endif
