/* Moments: the quantities of a cell; of vectors x, y and z, of the tensor xx, xy, yy, xz, yz and zz. */
#ifndef SHARED_MOMENTS_H
#define SHARED_MOMENTS_H

enum moment {
    DENSITY,
    TEMPERATURE,
    VELOCITY,
    CURRENT = VELOCITY + 3,
    PRESSURE = CURRENT + 3,
    HEAT_FLUX = PRESSURE + 6,
    ENERGY = HEAT_FLUX + 3, /* kinetic, over m, less that of the mean of u: not written, averages need it */
    MOMENTS
};

#endif
