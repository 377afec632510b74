/* Loading: how one particle follows from its global index, in code that both the OpenCL and the host compiler
 * read.
 *
 * Two uniform numbers, of van der Corput sequences, random or of a lattice, pass through the inverse of the
 * density profile's distribution function and are displaced; two or three more become velocities. A profile
 * is a product of cosines of x and of y, or a formula of both, which is tabulated, as densities of velocities
 * are. Positions are fractions s of the box in [0, 1) until they are split into cell and offset. Always in
 * double precision, whatever `real` is.
 */
#ifndef SHARED_LOADING_H
#define SHARED_LOADING_H

#include "shared/cell.h"
#include "shared/random.h"
#include "shared/van_der_corput.h"

/* Where recipe and terms lie: buffers on a device, plain memory on the host. */
#ifdef __OPENCL_VERSION__
#define LOADING_MEMORY global const
#else
#define LOADING_MEMORY const
#endif

#define LOADING_TWO_PI 6.283185307179586476925286766559

/* coefficient * cos(2 pi mode s) */
struct cosine {
    double mode; /* a whole number >= 1 */
    double coefficient;
};

/* The terms [first, first + count) of the table of terms. */
struct series {
    uint first, count;
};

enum { LOADING_COLD, LOADING_MAXWELLIAN, LOADING_RANGE, LOADING_JUTTNER };

/* Formulas are tabulated at the nodes (i, j) of intervals[0] x intervals[1] equal rectangles, ends included,
 * and linear between nodes. These are places in the array of tables. */
struct profile_tables {
    uint intervals[2];
    uint drift[3]; /* values, as those below */
    uint thermal[3];
};

/* Densities of two or three s in [0, 1]: rows of pairs (integral from node 0, density) at equal distances. */
struct density_rows {
    uint count;        /* of the numbers */
    uint intervals[3]; /* of a row of each */
    uint first[3];     /* places of the first rows in the array of tables; PROFILE_NONE: s is uniform */
    uint stride;       /* from a row of the second number to that of the first one's next node; 0: there is
                          one row, as of the first and the third */
};

/* Instead of a place: no formula. */
#define PROFILE_NONE 0xffffffffu

/* What the particles of one species follow. Host and device lay it out alike: eight-byte members first.
 * Arrays of two are (x, y), of three (u, v, w). */
struct recipe {
    ulong random_key;       /* that of the species alone */
    ulong lattice[2];       /* sites along each axis; 0: none */
    double shift[3];        /* velocity = shift + scale * (normal number, or one of its density) */
    double scale[3];        /* unused for LOADING_COLD */
    double per_c_squared;   /* 1/c^2 where particles are to have u = gamma v; else 0 */
    uint position_bases[2]; /* of van der Corput sequences; 0: random numbers. Unused for a lattice */
    uint velocity_bases[3]; /* likewise; unused for LOADING_COLD */
    uint cells[2];
    uint velocities; /* LOADING_COLD, ... */
    uint weighs;     /* not 0: positions are uniform, and weights have the density */
    uint padding; /* ten words down to here and eight in each of the next, so that the size is a multiple of
                     eight */
    struct profile_tables profile;
    struct density_rows positions, velocity;
    struct series density[2];      /* the density over its mean is 1 + the sum of these */
    struct series displacement[2]; /* s += the sum of coefficient * cos(2 pi mode s) / (2 pi mode) */
};

struct loaded_particle {
    uint cell[2];       /* (i, j) */
    double offset[2];   /* in [0, 1) */
    double velocity[3]; /* or u = gamma v; without w: 0 in its place */
    double weight;      /* over the mean of the species */
};

/* The argument of a term at s. Whole turns are taken off before pi comes in, so a high mode loses nothing. */
static inline double cosine_angle(double mode, double s)
{
    const double turns = mode * s;
    return LOADING_TWO_PI * (turns - floor(turns));
}

/* The normalised density profile of one axis and its integral from 0. */
struct profile_value {
    double density;
    double cumulative;
};

static inline struct profile_value profile_at(LOADING_MEMORY struct cosine *terms, struct series series,
                                              double s)
{
    struct profile_value value = {1.0, s};
    for (uint n = 0; n < series.count; n++) {
        const double mode = terms[series.first + n].mode;
        const double coefficient = terms[series.first + n].coefficient;
        const double angle = cosine_angle(mode, s);
        value.density += coefficient * cos(angle);
        value.cumulative += coefficient * sin(angle) / (LOADING_TWO_PI * mode);
    }
    return value;
}

/* The s in [0, 1] at which the integral of the profile is `uniform`: Newton's method inside a bracket that
 * every evaluation narrows, with bisection where a step would leave it. It ends when a step no longer moves s
 * by more than its round-off. Where the density touches zero the steps shrink by a third each only, and the
 * last digits of s are lost to round-off of the integral; 100 steps are beyond either. */
static inline double profile_inverse(LOADING_MEMORY struct cosine *terms, struct series series,
                                     double uniform)
{
    if (series.count == 0)
        return uniform;
    double low = 0.0, high = 1.0, s = uniform;
    for (int step = 0; step < 100; step++) {
        const struct profile_value value = profile_at(terms, series, s);
        const double excess = value.cumulative - uniform;
        if (excess > 0.0)
            high = s;
        else
            low = s;
        double next = s - excess / value.density;
        if (!(next >= low && next <= high)) /* also when the density is zero */
            next = 0.5 * (low + high);
        const double moved = fabs(next - s);
        s = next;
        if (moved <= 0x1p-53)
            break;
    }
    return s;
}

/* Two rows of nodes, begun at `low` and `high`, and how much of the second. */
struct profile_row {
    uint low, high;
    double share;
};

static inline double profile_blend(LOADING_MEMORY double *tables, struct profile_row row, uint at)
{
    return tables[row.low + at] + row.share * (tables[row.high + at] - tables[row.low + at]);
}

/* The s in [0, 1] at which the integral over a row of pairs is the fraction `uniform` of the whole. Within an
 * interval with the densities a and b at its ends it is a t + (b - a) t^2/2. */
static inline double profile_row_inverse(LOADING_MEMORY double *tables, struct profile_row row,
                                         uint intervals, double uniform)
{
    const double target = uniform * profile_blend(tables, row, 2 * intervals);
    uint begin = 0, end = intervals;
    while (end - begin > 1) {
        const uint middle = (begin + end) / 2;
        if (profile_blend(tables, row, 2 * middle) <= target)
            begin = middle;
        else
            end = middle;
    }
    const double rest = target - profile_blend(tables, row, 2 * begin);
    const double a = profile_blend(tables, row, 2 * begin + 1);
    const double b = profile_blend(tables, row, 2 * begin + 3);
    const double below = a + sqrt(fmax(a * a + 2.0 * (b - a) * rest, 0.0));
    const double t = below > 0.0 ? fmin(2.0 * rest / below, 1.0) : 0.0;
    return ((double)begin + t) / (double)intervals;
}

/* The interval in which s in [0, 1] lies, and where in it. */
struct profile_place {
    uint interval;
    double share;
};

static inline struct profile_place profile_place_of(double s, uint intervals)
{
    const double in_intervals = s * (double)intervals;
    const uint interval = (uint)fmin(in_intervals, (double)(intervals - 1));
    const struct profile_place place = {interval, in_intervals - (double)interval};
    return place;
}

/* The row of a table of so many intervals at s, between two rows of `stride` numbers. */
static inline struct profile_row profile_row_at(uint table, uint stride, uint intervals, double s)
{
    const struct profile_place place = profile_place_of(s, intervals);
    const uint first = table + place.interval * stride;
    const struct profile_row row = {first, first + stride, place.share};
    return row;
}

/* Numbers s of which the uniform ones are the distribution functions: of the first, then of the second at
 * this first one, and of the third. */
static inline void density_inverse(LOADING_MEMORY double *tables, struct density_rows rows,
                                   const double *uniform, double *s)
{
    for (uint n = 0; n < rows.count; n++) {
        struct profile_row row = {rows.first[n], rows.first[n], 0.0};
        s[n] = uniform[n];
        if (row.low == PROFILE_NONE)
            continue;
        if (n == 1 && rows.stride > 0) {
            row = profile_row_at(row.low, rows.stride, rows.intervals[0], s[0]);
            if (!(profile_blend(tables, row, 2 * rows.intervals[1]) > 0.0))
                row.share = 0x1p-40; /* s[0] is at a node with an empty row: the other one is not empty */
        }
        s[n] = profile_row_inverse(tables, row, rows.intervals[n], uniform[n]);
    }
}

/* The density at (x, y), fractions of the box, over its mean: from rows of pairs that lie at first[1], or of
 * x alone at first[0]. */
static inline double density_over_mean(LOADING_MEMORY double *tables, struct density_rows rows,
                                       const double s[2])
{
    const bool is_of_both = rows.stride > 0;
    const struct profile_row row =
        profile_row_at(rows.first[is_of_both], is_of_both ? rows.stride : 2, rows.intervals[0], s[0]);
    const double whole = tables[rows.first[0] + 2 * rows.intervals[0]] / (double)rows.intervals[0];
    if (!is_of_both)
        return profile_blend(tables, row, 1) / whole;
    const struct profile_place place = profile_place_of(s[1], rows.intervals[1]);
    const double low = profile_blend(tables, row, 2 * place.interval + 1);
    const double high = profile_blend(tables, row, 2 * place.interval + 3);
    return (low + place.share * (high - low)) * (double)rows.intervals[1] / whole;
}

/* A table at (x, y), fractions of the box; `otherwise` where there is none. */
static inline double profile_value(LOADING_MEMORY double *tables, struct profile_tables profile, uint table,
                                   const double s[2], double otherwise)
{
    if (table == PROFILE_NONE)
        return otherwise;
    const struct profile_row row =
        profile_row_at(table, profile.intervals[1] + 1, profile.intervals[0], s[0]);
    const struct profile_place place = profile_place_of(s[1], profile.intervals[1]);
    const double low = profile_blend(tables, row, place.interval);
    return low + place.share * (profile_blend(tables, row, place.interval + 1) - low);
}

/* The displacement of a particle at s, as a fraction of the box. */
static inline double displacement_at(LOADING_MEMORY struct cosine *terms, struct series series, double s)
{
    double sum = 0.0;
    for (uint n = 0; n < series.count; n++) {
        const double mode = terms[series.first + n].mode;
        sum += terms[series.first + n].coefficient * cos(cosine_angle(mode, s)) / (LOADING_TWO_PI * mode);
    }
    return sum;
}

/* numerator[0] + numerator[1] r + ... over denominator[0] + denominator[1] r + ..., of degree 7 each. */
static inline double ratio_of_polynomials(const double numerator[8], const double denominator[8], double r)
{
    double above = numerator[7], below = denominator[7];
    for (int n = 6; n >= 0; n--) {
        above = above * r + numerator[n];
        below = below * r + denominator[n];
    }
    return above / below;
}

/* The x at which the normal distribution function of mean 0 and deviation 1 is p in (0, 1): Wichura 1988,
 * "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37, 477-484,
 * routine PPND16, accurate to about one part in 10^16. The numbers are that paper's rational approximations,
 * numerator and denominator, for |p - 1/2| <= 0.425, for the tails up to sqrt(-ln p) = 5, and beyond. */
static inline double normal_inverse(double p)
{
    const double numbers[6][8] = {
        {3.3871328727963666080e+0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
         1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
         3.3430575583588128105e+4, 2.5090809287301226727e+3},
        {1.0000000000000000000e+0, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
         5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
         2.8729085735721942674e+4, 5.2264952788528545610e+3},
        {1.42343711074968357734e+0, 4.63033784615654529590e+0, 5.76949722146069140550e+0,
         3.64784832476320460504e+0, 1.27045825245236838258e+0, 2.41780725177450611770e-1,
         2.27238449892691845833e-2, 7.74545014278341407640e-4},
        {1.0000000000000000000e+0, 2.05319162663775882187e+0, 1.67638483018380384940e+0,
         6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
         5.47593808499534494600e-4, 1.05075007164441684324e-9},
        {6.65790464350110377720e+0, 5.46378491116411436990e+0, 1.78482653991729133580e+0,
         2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
         2.71155556874348757815e-5, 2.01033439929228813265e-7},
        {1.0000000000000000000e+0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
         1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
         1.42151175831644588870e-7, 2.04426310338993978564e-15}};
    const double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return q * ratio_of_polynomials(numbers[0], numbers[1], 0.180625 - q * q);
    const double r = sqrt(-log(q < 0.0 ? p : 1.0 - p));
    const double x = r <= 5.0 ? ratio_of_polynomials(numbers[2], numbers[3], r - 1.6)
                              : ratio_of_polynomials(numbers[4], numbers[5], r - 5.0);
    return q < 0.0 ? -x : x;
}

/* The cell along one axis and the offset in it. */
struct site {
    uint cell;
    double offset;
};

/* An offset that storing it has rounded to 1 is offset 0 of the next cell. */
static inline struct site site_rounded(uint cell, double stored_offset, uint cells)
{
    struct site site = {cell, stored_offset};
    if (stored_offset >= 1.0) {
        site.cell = cell + 1 < cells ? cell + 1 : 0;
        site.offset = 0.0;
    }
    return site;
}

/* The site of a position s of any size, periodic in 1. */
static inline struct site site_at(double s, uint cells)
{
    const double in_cells = (s - floor(s)) * (double)cells; /* the difference can round up to 1 */
    struct site site = {0, 0.0};
    if (in_cells < (double)cells) {
        site.cell = (uint)in_cells;
        site.offset = in_cells - (double)site.cell;
    }
    return site;
}

/* The number of particle `index` that is uniform in (0, 1), by the sequence of that base or, where it is 0,
 * random: `draw`, 0 and up, says which of its numbers. The last word of the counter is one that no shuffle of
 * kernels/cell_shuffle.cl has. Half of a 52-bit step is added, so that neither 0 nor 1 comes out. */
static inline double recipe_uniform(LOADING_MEMORY struct recipe *recipe, uint base, uint draw, ulong index)
{
    if (base != 0)
        return van_der_corput(index + 1, base);
    const random_words counter = {{(uint)index, (uint)(index >> 32), draw / 2, 0x80000000u}};
    const random_words words = random_words_at(counter, recipe->random_key);
    const ulong bits = (ulong)words.word[draw % 2 * 2] << 32 | words.word[draw % 2 * 2 + 1];
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

/* The position of particle `index` along an axis before density and displacement, uniform in (0, 1). */
static inline double recipe_uniform_position(LOADING_MEMORY struct recipe *recipe, uint axis, ulong index)
{
    if (recipe->lattice[axis] == 0)
        return recipe_uniform(recipe, recipe->position_bases[axis], axis, index);
    const ulong along_y = recipe->lattice[1];
    const ulong site = axis == 0 ? index / along_y : index % along_y;
    return ((double)site + 0.5) / (double)recipe->lattice[axis];
}

/* The numbers behind the velocities of a particle: normal, or of their density. */
static inline void recipe_numbers(LOADING_MEMORY struct recipe *recipe, LOADING_MEMORY double *tables,
                                  ulong index, double numbers[3])
{
    double uniform[3];
    for (uint axis = 0; axis < recipe->velocity.count; axis++) {
        uniform[axis] = recipe_uniform(recipe, recipe->velocity_bases[axis], 2 + axis, index);
        if (recipe->velocities == LOADING_MAXWELLIAN)
            numbers[axis] = normal_inverse(uniform[axis]);
    }
    if (recipe->velocities != LOADING_MAXWELLIAN)
        density_inverse(tables, recipe->velocity, uniform, numbers);
}

/* Of a particle at s, fractions of the box. */
static inline double recipe_velocity(LOADING_MEMORY struct recipe *recipe, LOADING_MEMORY double *tables,
                                     uint axis, const double s[2], double number)
{
    const struct profile_tables profile = recipe->profile;
    const double drift = recipe->shift[axis] + profile_value(tables, profile, profile.drift[axis], s, 0.0);
    if (recipe->velocities == LOADING_COLD)
        return drift;
    const double scale = recipe->scale[axis] * profile_value(tables, profile, profile.thermal[axis], s, 1.0);
    return drift + scale * number;
}

/* The cosine m with the distribution function `share` of the density (1 + 2 b m/gamma)/2, where gamma^2 is
 * p + q m^2. Where q is 0 it is the root of a quadratic equation. That is where Newton's steps begin: the
 * function is convex, so they come to the root from above. */
static inline double flux_cosine(double share, double b, double p, double q)
{
    const double most = sqrt(p + q), r = 4.0 * share - 2.0 + 2.0 * b / most;
    double cosine = r / (1.0 + sqrt(fmax(1.0 + 2.0 * b / most * r, 0.0))); /* 2 b/most m^2 + 2 m = r */
    for (uint n = 0; n < 12 && q != 0.0; n++) {
        const double gamma = sqrt(p + q * cosine * cosine);
        const double error = 0.5 * (1.0 + cosine) + b * (cosine * cosine - 1.0) / (gamma + most) - share;
        cosine = fmin(fmax(cosine - error / (0.5 + b * cosine / gamma), -1.0), 1.0);
    }
    return cosine;
}

/* u = gamma v of a Juttner distribution that drifts with V, of which the numbers are |s| in its rest frame,
 * and the direction of s there; u' is s times `scale` along each axis. The boost counts particles by the
 * volume that they sweep: the lab has gamma/(Gamma gamma') = 1 + V . v'/c^2 as many as the rest frame
 * (Zenitani, Phys. Plasmas 22, 042116, 2015). Where that paper flips directions at random by this factor,
 * here the cosine between s and V follows from its distribution function: it is quiet, needs no further
 * number, and |s| keeps its own. The axes across V are those of Duff et al., J. Comput. Graph. Tech. 6, 1,
 * 2017. Where the scales differ V is along an axis, and so are these. */
static inline void recipe_juttner(LOADING_MEMORY struct recipe *recipe, const double numbers[3], double u[3])
{
    const double x = recipe->shift[0], y = recipe->shift[1], z = recipe->shift[2];
    const double drift = sqrt(x * x + y * y + z * z), size = numbers[0],
                 per_c_squared = recipe->per_c_squared;
    const double along[3] = {drift > 0.0 ? x / drift : 0.0, drift > 0.0 ? y / drift : 0.0,
                             drift > 0.0 ? z / drift : 1.0};
    const double first = cos(LOADING_TWO_PI * numbers[2]), second = sin(LOADING_TWO_PI * numbers[2]);
    const double sign = along[2] < 0.0 ? -1.0 : 1.0, p = -1.0 / (sign + along[2]);
    const double across[3] = {
        first * (1.0 + sign * along[0] * along[0] * p) + second * along[0] * along[1] * p,
        first * sign * along[0] * along[1] * p + second * (sign + along[1] * along[1] * p),
        -first * sign * along[0] - second * along[1]};
    double longest = 0.0, widest = 0.0; /* |u'| of s along V, and across it; the square of the latter */
    for (uint axis = 0; axis < 3; axis++) {
        longest += size * along[axis] * along[axis] * recipe->scale[axis];
        widest += pow(size * across[axis] * recipe->scale[axis], 2.0);
    }
    const double wide = 1.0 + widest * per_c_squared, more = (longest * longest - widest) * per_c_squared;
    const double cosine = flux_cosine(numbers[1], 0.5 * drift * longest * per_c_squared, wide, more);
    const double sine = sqrt(fmax(1.0 - cosine * cosine, 0.0)), gamma = sqrt(wide + more * cosine * cosine);
    const double boosted = (longest * cosine + drift * gamma) / sqrt(1.0 - drift * drift * per_c_squared);
    for (uint axis = 0; axis < 3; axis++)
        u[axis] = size * sine * recipe->scale[axis] * across[axis] + boosted * along[axis];
}

/* Particle `index` of the species, before its numbers are rounded to `real`. */
static inline struct loaded_particle recipe_particle(LOADING_MEMORY struct recipe *recipe,
                                                     LOADING_MEMORY struct cosine *terms,
                                                     LOADING_MEMORY double *tables, ulong index)
{
    struct loaded_particle particle;
    double uniform[2], s[2], place[2], numbers[3];
    particle.weight = 1.0;
    for (uint axis = 0; axis < 2; axis++) {
        s[axis] = uniform[axis] = recipe_uniform_position(recipe, axis, index);
        if (recipe->weighs)
            particle.weight *= fmax(profile_at(terms, recipe->density[axis], s[axis]).density, 0.0);
        else
            s[axis] = profile_inverse(terms, recipe->density[axis], uniform[axis]);
    }
    if (recipe->positions.first[0] != PROFILE_NONE && recipe->weighs)
        particle.weight = density_over_mean(tables, recipe->positions, s);
    else if (recipe->positions.first[0] != PROFILE_NONE)
        density_inverse(tables, recipe->positions, uniform, s);
    for (uint axis = 0; axis < 2; axis++) {
        const double displaced = s[axis] + displacement_at(terms, recipe->displacement[axis], s[axis]);
        const struct site site = site_at(displaced, recipe->cells[axis]);
        particle.cell[axis] = site.cell;
        particle.offset[axis] = site.offset;
        place[axis] = ((double)site.cell + site.offset) / (double)recipe->cells[axis];
    }
    if (recipe->velocities != LOADING_COLD)
        recipe_numbers(recipe, tables, index, numbers);
    if (recipe->velocities == LOADING_JUTTNER) {
        recipe_juttner(recipe, numbers, particle.velocity);
        return particle;
    }
    for (uint axis = 0; axis < 3; axis++)
        particle.velocity[axis] =
            axis < recipe->velocity.count ? recipe_velocity(recipe, tables, axis, place, numbers[axis]) : 0.0;
    double square = 0;
    for (uint axis = 0; axis < 3; axis++)
        square += particle.velocity[axis] * particle.velocity[axis];
    const double gamma = 1 / sqrt(1 - recipe->per_c_squared * square);
    for (uint axis = 0; axis < 3; axis++)
        particle.velocity[axis] *= gamma;
    return particle;
}

#endif
