/* Poisson: charge density -> potential and electric field on the periodic grid, by FFT.
 *
 * phi_k = rho_k / k^2 with the spectral Laplacian, phi_0 = 0 (the neutral background). E = -grad phi, either
 * spectral (E_k = -i k phi_k, with k = 0 at the Nyquist mode of its axis, where a real derivative has none)
 * or by centred differences of phi.
 */
#ifndef RADIXPIC_FIELD_POISSON_H
#define RADIXPIC_FIELD_POISSON_H

#include "field/fft.h"
#include "field/solver.h"

/* Where ranks share the box. The filter is then the solver's, since in Fourier space it needs no rows beside
 * a rank's own: deposit_filter() along x times that along y; and so is the centred gradient, i sin(k dx)/dx.
 */
struct sharing {
    const struct rank_place *place; /* not kept */
    enum gather_transport transport;
    size_t part_bytes;
    const struct deposit_config *deposit; /* its filter; NULL: none */
};

/* The parts of the solver, which the electromagnetic one takes too. */
struct poisson {
    struct device *device; /* not owned */
    struct grid grid;
    enum precision precision;
    enum gradient_kind gradient;
    struct fft *fft;
    uint32_t columns, first_column; /* modes along y: all, or of a box that ranks share fft_columns() */
    /* complex[nx * columns] each, buffer_view_stride() apart: of rho and what else a solver has deposited,
     * and of phi, or of the components of E and B, which transforms back destroy. */
    struct buffer *source_modes, *result_modes;
    struct buffer *rho_modes;       /* a view of the first of the sources */
    struct buffer *phi_modes;       /* a view of the first of the results */
    struct buffer *wave_x, *wave_y; /* real2[nx], real2[columns]: k^2, and k of the gradient */
    struct buffer *filter_x,
        *filter_y;           /* real[nx], real[columns]: of all passes; NULL: there are none here */
    struct buffer *response; /* real2[nx * ny]: E at every node of rho = 1 at node 0; NULL: E by transforms */
    size_t direct_items;     /* of a group of direct_field */
    bool is_followed;        /* each solve leaves modes of rho, whatever it needs itself */
    struct kernel *potential, *spectral_field, *centred_field, *direct_field, *filter;
};

enum {
    POISSON_ITEMS = 256,        /* of a group of energy_sums() and poisson_direct_field(); 1 on a CPU */
    POISSON_DIRECT_NODES = 1024 /* up to so many a GPU sums faster than it launches transforms */
};

/* The program of kernels/poisson.cl, which energy.h takes too. */
STATUS_CHECKED enum status poisson_program(struct device *device, enum precision precision,
                                           enum solver_name solver, struct program **program);

/* For the sources and the fields that `solver` has. TRANSFORMS_NONE is of the electrostatic solver without
 * `sharing`: E is a sum over all nodes, in one launch, and transforms, those of TRANSFORMS_AUTO, serve phi
 * and modes alone. With `sharing`, which may be NULL, fields are those of the rank's local grid, and what
 * transforms is collective (fft_create_shared()). */
STATUS_CHECKED enum status poisson_create(struct device *device, const struct grid *grid,
                                          enum precision precision, enum solver_name solver,
                                          enum transform_library library, enum gradient_kind gradient,
                                          const struct sharing *sharing, struct poisson **poisson);

/* The first part of a solve: source_modes <- rho, and what stands behind it where there are more sources.
 * The sources of ranks that share the box are summed and filtered on the way. */
STATUS_CHECKED enum status poisson_transform(struct poisson *poisson, struct fields *fields);

/* A launch of one group per row of modes or nodes, of `elements` elements, which its items share. The time is
 * in the region of the solve. */
struct launch poisson_rows(const struct poisson *poisson, uint32_t elements);

/* Sets ex and ey from rho; rho is kept. Transforms with the centred gradient set phi on the way, other ways
 * leave it alone. Only enqueues, as far as fft.h says so. */
STATUS_CHECKED enum status poisson_solve(struct poisson *poisson, struct fields *fields);

/* Functions of a struct solver_kind, whose `own` is a struct poisson. They enqueue like poisson_solve(). */
STATUS_CHECKED enum status poisson_potential(void *own, struct fields *fields);
STATUS_CHECKED enum status poisson_sum(void *own, struct buffer *density);
const char *poisson_transforms(const void *own);

/* From now on each solve leaves the modes of its rho. Where fields are followed and `waves` is not NULL, so
 * do its own ones. To be called once. */
STATUS_CHECKED enum status poisson_follow(struct poisson *poisson, const struct waves *waves,
                                          struct followed_modes *followed);

/* rho[] <- number n of the modes, of which `parts` were read, over the number of cells; and `fields`, where
 * they are followed, in which E along the wave is that of rho. */
void poisson_read_mode(const struct followed_modes *followed, uint32_t n, const double (*parts)[2],
                       double rho[2], mode_of_fields fields);

/* What mode m of an axis of that length with n nodes is multiplied by. A centred difference is sin(k dx)/dx
 * times as large as the wave, a filter pass makes it cos^2(k dx/2) = (1 + cos(k dx))/2 times as large; at the
 * Nyquist mode they and the spectral gradient vanish. */
struct wave {
    double k_squared;
    double slope;  /* k of the gradient: E_k = -i slope phi_k */
    double filter; /* of all passes */
};
struct wave poisson_wave(uint32_t m, uint32_t n, double length, enum gradient_kind gradient,
                         const struct deposit_config *deposit);

/* Mode m along x and n along y of those that a transform stores, which is (mx, my) or its conjugate: of a
 * real density only my >= 0 is stored, since mode (-mx, -my) is the conjugate of (mx, my). */
struct stored_mode {
    uint32_t m, n;
    bool is_conjugate;
};
struct stored_mode poisson_stored_mode(const struct grid *grid, const int32_t wanted[2]);

#endif
