/* Config: one plain struct with everything a run needs, filled once and const from then on.
 *
 * Lists that a run may have any number of are allocated, as long as they are; the others lie in the struct.
 * The reader allocates them, and config_free() frees them all. A copy of the struct has the lists of its
 * original: it is used while they last, is not freed, and an item is changed only where that is meant for
 * both.
 *
 * Units are normalised (time 1/omega_p, length Debye lengths when the thermal velocity is 1, charge and mass
 * in electron charge magnitudes and masses, epsilon_0 = 1). Arrays of two are (x, y) or (u, v). */
#ifndef RADIXPIC_CONFIG_CONFIG_H
#define RADIXPIC_CONFIG_CONFIG_H

#include "base/status.h"
#include "config/field_table.h"
#include "config/formula.h"

#include <stdbool.h>

enum {
    CONFIG_MAX_SPECIES = 16,
    CONFIG_MAX_PERTURBATIONS = 8, /* in each list of a species */
    CONFIG_MOST_SUMMED = 1 << 14, /* nodes without transforms: the sum takes their square */
    CONFIG_MAX_MODES = 32,        /* in output.history.modes */
    CONFIG_MAX_DRIVES = 8,        /* in fields.drive */
    CONFIG_MAX_SUBSTEPS = 1 << 16,
    CONFIG_PHASE_AXES = 4,    /* of a phase space */
    CONFIG_PHASE_VALUES = 3,  /* of these, other than x and y */
    CONFIG_MAX_PROBES = 16,   /* in output.probes: the manifest has a line for each */
    CONFIG_MAX_TRACKS = 1024, /* in output.tracks.ids, and its count */
    CONFIG_NAME_LENGTH = 64,  /* bytes of a name, with its end */
    CONFIG_FORMULA_LENGTH = FORMULA_LENGTH,
    CONFIG_TEXT_LENGTH = 1024 /* bytes of a title, device or path, with its end */
};

/* Macro-particles of a species on one rank: an index, and a count in whole groups, must fit 32 bits. */
#define CONFIG_MAX_PARTICLES 4293918720u /* 2^32 - 2^20 */

/* And on all ranks together: as far as kernels/shared/van_der_corput.h goes. */
#define CONFIG_MAX_SPECIES_PARTICLES (UINT64_C(1) << 40)

/* Cells of a grid: the product of both axes. */
#define CONFIG_MAX_CELLS 67108864u /* 2^26 */

/* Bins of a phase space: the product of all axes. */
#define CONFIG_MAX_PHASE_BINS 134217728u /* 2^27 */

enum precision { PRECISION_SINGLE, PRECISION_DOUBLE };
enum axis { AXIS_X, AXIS_Y };
enum phase_axis { PHASE_AXIS_X, PHASE_AXIS_Y, PHASE_AXIS_U, PHASE_AXIS_V, PHASE_AXIS_W, PHASE_AXIS_FORMULA };
enum position_kind { POSITIONS_VAN_DER_CORPUT, POSITIONS_LATTICE, POSITIONS_RANDOM, POSITIONS_FILE };
enum generator_kind { GENERATOR_VAN_DER_CORPUT, GENERATOR_RANDOM };
enum velocity_kind {
    VELOCITIES_COLD,
    VELOCITIES_MAXWELLIAN,
    VELOCITIES_FORMULA,
    VELOCITIES_JUTTNER,
    VELOCITIES_FILE
};
enum transform_library { TRANSFORMS_AUTO, TRANSFORMS_VKFFT, TRANSFORMS_FFTW, TRANSFORMS_NONE };
enum decomposition_kind { DECOMPOSITION_AUTO, DECOMPOSITION_REPLICATED, DECOMPOSITION_SLABS };
enum mean_law { MEAN_AMPERE, MEAN_ZERO };
enum gradient_kind { GRADIENT_SPECTRAL, GRADIENT_CENTRED };
enum collision_model { COLLISIONS_TAKIZUKA_ABE, COLLISIONS_NANBU, COLLISION_MODELS };
enum { COULOMB_LOG_AUTO = 0 };
/* The values are the orders. */
enum shape_kind { SHAPE_NGP, SHAPE_CIC, SHAPE_TSC, SHAPE_CUBIC, SHAPE_QUARTIC, SHAPE_COUNT };
enum { GHOST_AUTO = 0 };
enum { SPEED_AUTO = 0 };
enum { SORT_AUTO = 0 }; /* a number of sort.* left to the program */
enum sort_method { SORT_METHOD_AUTO, SORT_METHOD_PAPER, SORT_METHOD_TILED, SORT_METHOD_CHUNKED };
#define SORT_METHOD_WORDS                                                                                    \
    {"auto", SORT_METHOD_AUTO}, {"paper", SORT_METHOD_PAPER}, {"tiled", SORT_METHOD_TILED},                  \
    {                                                                                                        \
        "chunked", SORT_METHOD_CHUNKED                                                                       \
    } /* in the order of their values */
enum step_method { STEP_AUTO, STEP_RADIX, STEP_FUSED, STEP_TILED, STEP_CHUNKED };
enum rounding { ROUNDING_DITHERED, ROUNDING_NEAREST };
/* The values are PUSHER of the kernels. */
enum pusher_kind { PUSHER_BORIS, PUSHER_VAY, PUSHER_HIGUERA_CARY };
enum transpose_kind { TRANSPOSE_AUTO, TRANSPOSE_ON, TRANSPOSE_OFF };
enum snapshot_particles { PARTICLES_ALL, PARTICLES_NONE, PARTICLES_EVERY_NTH, PARTICLES_FRACTION };
enum snapshot_precision { SNAPSHOT_PRECISION_RUN, SNAPSHOT_PRECISION_SINGLE };
enum table_kind { TABLE_AUTO, TABLE_COLUMNS, TABLE_ROWS };

struct grid_config {
    uint32_t cells[2];
    double length[2]; /* of the box */
};

struct time_config {
    double step;
    uint64_t steps;
    uint64_t check_every; /* >= 1 */
};

/* Of particles: all alike, by the density where they are loaded, or as in their file. */
enum weights_kind { WEIGHTS_EQUAL, WEIGHTS_DENSITY, WEIGHTS_FILE };

struct positions_config {
    enum position_kind kind;
    uint32_t bases[2];  /* van_der_corput */
    uint64_t counts[2]; /* lattice: particles along x and y; their product is species.particles */
    char file[CONFIG_TEXT_LENGTH];
    char place[CONFIG_TEXT_LENGTH]; /* in an HDF5 file; "": by the name of the species */
};

struct velocities_config {
    enum velocity_kind kind;
    uint32_t dimensions;           /* 2: (u, v); 3: (u, v, w); the numbers in use of each array below */
    enum generator_kind generator; /* maxwellian, formula, juttner */
    uint32_t bases[3];             /* van der Corput sequences: of u, v and w */
    double thermal[3];             /* maxwellian: standard deviations; juttner: sqrt(T/m), two the same */
    double drift[3];               /* cold, maxwellian: mean velocity */
    double range[3][2];            /* formula: [u, v or w][low, high] */
    char density[3][CONFIG_FORMULA_LENGTH]; /* formula: of u, v and w; formulas.h sets thermal, drift and */
    double lost; /* the share that lies outside of the ranges in ranges three times as wide */
};

/* a cos(2 pi m x / L) along one axis */
struct perturbation {
    enum axis axis;
    uint32_t mode;    /* m >= 1 */
    double amplitude; /* a, relative to the mean density */
};

struct perturbation_list {
    uint32_t count;
    struct perturbation items[CONFIG_MAX_PERTURBATIONS];
};

/* Formulas of the place (formula.h): what they are without one is "1", "0", "1". */
struct profile_config {
    char density[CONFIG_FORMULA_LENGTH];    /* relative to the mean */
    char file[CONFIG_TEXT_LENGTH];          /* instead: an array; "": none */
    char place[CONFIG_TEXT_LENGTH];         /* in an HDF5 file */
    char drift[3][CONFIG_FORMULA_LENGTH];   /* added to velocities.drift */
    char thermal[3][CONFIG_FORMULA_LENGTH]; /* times velocities.thermal */
    double most_drift[3];                   /* the greatest modulus of each in the box */
    double most_thermal[3];
};

/* What is known of the file of a species' particles or density, on all ranks and after a restart. */
struct species_facts {
    uint64_t digest;            /* 0: there is no file */
    double density;             /* by the weights in it; 0: it has none */
    double mean[3], thermal[3]; /* of the velocities, and their standard deviations */
};
enum { SPECIES_FACTS = sizeof(struct species_facts) / sizeof(uint64_t) }; /* numbers in a checkpoint */

/* What input/species_files.h reads; zero before. */
struct species_read {
    struct loaded_particle *particles; /* of this rank: kernels/shared/loading.h */
    double *density_nodes;             /* of profile.file, at the nodes of profile_nodes() */
    struct species_facts facts;
    char left;        /* the axis along which positions are not read; '\0': none */
    bool is_wrapped;  /* places in the file are outside of the box, and come in at its other side */
    double mass;      /* in a file with velocities; 0: it is not said */
    double behind;    /* time of the velocities before the positions */
    bool starts_back; /* which is half a step */
};

struct species_config {
    char name[CONFIG_NAME_LENGTH];
    double charge;
    double mass;
    double density;     /* mean number density */
    uint64_t particles; /* macro-particles */
    bool ids;
    bool push;           /* false: it stands still */
    bool charge_density; /* false: test particles, which are not deposited */
    enum weights_kind weights;
    bool carries_weights; /* of this species or another one */
    struct positions_config positions;
    struct velocities_config velocities;
    struct profile_config profile;
    struct {
        struct perturbation_list density;      /* n0 prod(1 + a cos), by inverse CDF */
        struct perturbation_list displacement; /* x += a cos(k x) / k */
    } perturb;
    struct species_read read;
    double per_c_squared; /* 1/c^2 in an electromagnetic run, where u = gamma v is loaded; else 0 */
    uint64_t random_key;  /* of its random numbers: config.seed, with its place in the list above bit 32 */
};

/* The external field amplitude cos(k x - frequency t) along an axis: src/field/external.h. */
struct drive_config {
    enum axis axis;
    uint32_t mode; /* below Nyquist's */
    double amplitude, frequency;
    double from, ramp, until; /* until 0: to the end */
};

/* The groups that may be of a file: fields.NAME, and the attribute of HDF5 files with its digest. */
enum { FIELDS_INITIAL, FIELDS_EXTERNAL, FIELD_GROUPS };
struct field_group {
    const char *name, *digest;
};
extern const struct field_group field_groups[FIELD_GROUPS];

/* E and B of a file, in place of the formulas of a group: input/field_files.h reads them. */
struct field_file {
    char path[CONFIG_TEXT_LENGTH];  /* "": none */
    char place[CONFIG_TEXT_LENGTH]; /* of an iteration, or of the group of its meshes; "": the last one */
    uint64_t digest;                /* of the file; 0: none is read */
    double *values[6]; /* Ex to Bz, node (i, j) of the box at ny*i + j; NULL: 0 everywhere, or not read */
};

struct fields_config {
    enum solver_name solver;
    enum transform_library transforms;
    enum decomposition_kind decomposition;
    enum gradient_kind gradient;
    double speed_of_light;                      /* electromagnetic, as: SPEED_AUTO until it is checked, */
    enum mean_law mean;                         /* of E, also: */
    char initial[2][3][CONFIG_FORMULA_LENGTH];  /* formulas of E and B at 0 */
    double magnetic[3];                         /* uniform (Bx, By, Bz) */
    char external[2][3][CONFIG_FORMULA_LENGTH]; /* formulas of E and B, of x, y and t, beside all others */
    struct field_file file[FIELD_GROUPS];
    uint32_t drive_count;
    struct drive_config drive[CONFIG_MAX_DRIVES];
};

/* Binary collisions of two species, or of one with itself: src/particles/collisions.h. */
struct collision_config {
    char species[2][CONFIG_NAME_LENGTH];
    enum collision_model model;
    double coulomb_log; /* COULOMB_LOG_AUTO: by species and `units` */
    uint64_t every;     /* steps, >= 1 */
    uint32_t substeps;  /* 1 to CONFIG_MAX_SUBSTEPS */
};

struct deposit_config {
    enum shape_kind shape;
    uint32_t filter_passes;
    bool filter_compensator; /* a further pass, so that long waves are left as they are */
};

/* SORT_AUTO stands for "auto". Letters: the paper's Table 1. */
struct sort_config {
    enum sort_method method;
    uint32_t passes;           /* p */
    uint32_t key_bits;         /* b */
    uint32_t items_per_group;  /* I; this and the rest are of the method paper */
    uint32_t groups;           /* G */
    uint32_t histogram_splits; /* s */
    enum transpose_kind transpose;
    enum table_kind table; /* of the histogram */
};

struct step_config {
    enum step_method method;
    enum rounding rounding;
    enum pusher_kind pusher;
};

/* Over MPI ranks. */
struct parallel_config {
    uint64_t balance_every; /* steps; 0: never */
    double threshold;       /* imbalance from which rows change hands: most particles over the mean */
    uint32_t ghost_rows; /* GHOST_AUTO, or rows on each side of a rank's own that leaving particles reach */
};

/* Names of species; "all" names every one. */
struct species_names {
    uint32_t count;
    char items[CONFIG_MAX_SPECIES][CONFIG_NAME_LENGTH];
};

struct field_list {
    uint32_t count;
    enum field items[FIELD_CHOICES];
};

struct history_config {
    uint64_t every;               /* >= 1 */
    struct species_names species; /* with columns of their own */
    bool work;                    /* and one of the work of external fields */
    uint32_t mode_count;
    int32_t modes[CONFIG_MAX_MODES][2]; /* (MX, MY), each within +-cells/2 */
    struct field_list mode_fields;      /* of which they are: rho, E and B */
};

/* Which particles of a list are chosen: a sample, and of it those that fulfil a condition. */
struct selection_config {
    enum snapshot_particles kind;
    uint64_t every_nth;                /* of the list of all ranks */
    double fraction;                   /* of all, chosen by their ids */
    char where[CONFIG_FORMULA_LENGTH]; /* of what particle_formula_source() has; "": none */
};

/* Of which a snapshot holds those that are named. */
struct snapshots_config {
    uint64_t every;   /* 0: never */
    uint64_t average; /* meshes over so many states */
    struct field_list fields;
    struct species_names species;
    struct selection_config particles;
    double mesh_range[2][2]; /* [x or y][low, high], both included; 0 and 0: all of the axis */
    uint32_t mesh_stride[2]; /* N: every N-th node there is written */
    enum snapshot_precision precision;
    uint32_t compression; /* deflate level 0..9 */
};

/* Nodes of the grid that meshes have, along x and y. */
struct mesh_window {
    uint32_t first[2], stride[2], count[2];
};

enum axis_scale { SCALE_LINEAR, SCALE_LOG };

struct phase_axis_config {
    enum phase_axis axis;
    uint32_t bins;
    double range[2];       /* [low, high); of x and y edges of cells */
    enum axis_scale scale; /* linear, once it was checked: a formula and its range are then logarithms */
    char formula[CONFIG_FORMULA_LENGTH]; /* of what particle_formula_source() has; or a letter, as `axis` then
                                          * says
                                          */
};

/* f of one species, or the sum of several ones, over some of x, y, u, v and w. */
struct phase_space_config {
    char species[CONFIG_NAME_LENGTH];
    struct species_names others;        /* that are summed with it */
    char weight[CONFIG_FORMULA_LENGTH]; /* of each particle, of what particle_formula_source() has; "": 1 */
    uint32_t axis_count;
    struct phase_axis_config axes[CONFIG_PHASE_AXES];
    uint32_t order_count;                     /* 0: the order of `axes` */
    enum phase_axis order[CONFIG_PHASE_AXES]; /* of the written array, the last the fastest */
    uint64_t every;                           /* 0: never */
};

enum { CONFIG_SIGNALS = 6 };

struct checkpoints_config {
    uint64_t every; /* steps; 0: not by steps */
    double minutes; /* 0: not by the clock */
    uint32_t keep;  /* number of files, the newest */
    uint32_t signal_count;
    int on_signals[CONFIG_SIGNALS]; /* that stop the run with one: numbers of the system */
    double on_signal_within;        /* seconds that one of them leaves; 0: any number */
};

/* Fields at a place of the box, in a CSV file. */
struct probe_config {
    char name[CONFIG_NAME_LENGTH];
    double at[2]; /* within the box, ends included */
    struct field_list fields;
    uint64_t every; /* >= 1 */
    uint64_t average;
};

/* Fields at equidistant points from one place of the box to another, in openPMD files. */
struct line_config {
    char name[CONFIG_NAME_LENGTH];
    double from[2], to[2]; /* within the box, ends included */
    uint32_t points;
    struct field_list fields;
    uint64_t every; /* 0: never */
    uint64_t average;
};

/* Paths of particles of a species: those with these ids; `count` with ids at equal distances; or at each time
 * at most `count` that fulfil a condition. */
struct tracks_config {
    char species[CONFIG_NAME_LENGTH];
    uint32_t id_count;
    uint64_t *ids; /* as in snapshots */
    uint32_t count;
    uint64_t every;               /* 0: never */
    struct selection_config rule; /* a condition alone */
    bool keep;                    /* with it: those that fulfilled it once are followed on */
};

struct moments_config {
    uint64_t every; /* 0: never */
    uint64_t average;
};

struct output_config {
    char directory[CONFIG_TEXT_LENGTH];
    struct history_config history;
    struct snapshots_config snapshots;
    uint32_t phase_space_count;
    struct phase_space_config *phase_space;
    struct moments_config moments;
    uint32_t probe_count;
    struct probe_config *probes;
    uint32_t line_count;
    struct line_config *lines;
    struct tracks_config tracks;
    struct checkpoints_config checkpoints;
};

/* ---- units ---- */

/* What the normalised units mean, for openPMD's unitSI and collisions. */
struct units_config {
    double density_per_m3;
    double temperature_eV;
};

/* SI values of one normalised unit of each quantity, once a density n and a temperature T are chosen: a
 * length is the Debye length, a time 1/omega_p, charge and mass an electron's (charge taken positive), so
 * velocities count in v_th = lambda_D omega_p and epsilon_0 is 1. */
struct units {
    double length;          /* m: lambda_D = sqrt(eps0 kT / (n e^2)) */
    double time;            /* s: 1/omega_p, omega_p = sqrt(n e^2 / (eps0 m_e)) */
    double velocity;        /* m/s: v_th = sqrt(kT / m_e) */
    double charge;          /* C: e */
    double mass;            /* kg: m_e */
    double momentum;        /* kg m/s: m_e v_th */
    double electric_field;  /* V/m: m_e omega_p v_th / e */
    double potential;       /* V: kT / e */
    double charge_density;  /* C/m^3: n e */
    double magnetic_field;  /* T: m_e omega_p / e */
    double current_density; /* A/m^2: n e v_th */
    double speed_of_light;  /* c in units of v_th */
    /* Real particles that one unit of normalised weight stands for in a box one Debye length deep: n
     * lambda_D^3. A pure number. */
    double particles;
};

struct units units_make(const struct units_config *config);

/* ---- all of it ---- */

struct config {
    char title[CONFIG_TEXT_LENGTH];
    uint32_t constant_count;
    struct constant *constants; /* other values have theirs put in already */
    struct grid_config grid;
    struct time_config time;
    uint32_t seed;
    enum precision precision;
    uint32_t species_count;
    struct species_config *species; /* at most CONFIG_MAX_SPECIES */
    struct fields_config fields;
    uint32_t collision_count;
    struct collision_config *collisions;
    struct deposit_config deposit;
    struct sort_config sort;
    struct step_config step;
    struct parallel_config parallel;
    char device[CONFIG_TEXT_LENGTH];
    struct output_config output;
    struct units_config units;
    struct config_block *blocks; /* all memory of its lists; NULL: they are not its own */
};

/* `count` items of `size` bytes, all zero, which config_free() frees. NULL without memory. */
void *config_new_items(struct config *config, size_t count, size_t size);

/* Frees the lists, and leaves all of it zero. One that holds nothing is fine. */
void config_free(struct config *config);

/* ---- the axes of a phase space ---- */

static inline char phase_axis_name(enum phase_axis axis)
{
    return "xyuvwf"[axis];
}

/* Whether the axis is x or y, along which bins are made of whole cells. */
static inline bool phase_axis_is_space(enum phase_axis axis)
{
    return axis == PHASE_AXIS_X || axis == PHASE_AXIS_Y;
}

/* The edge of cells nearest to `value` in the box, along x or y, from 0 to grid->cells[axis]. */
static inline uint32_t phase_axis_edge(const struct grid_config *grid, enum phase_axis axis, double value)
{
    return (uint32_t)(value / grid->length[axis] * grid->cells[axis] + 0.5);
}

/* Where `axis` is among the axes; axis_count where it is not. */
static inline uint32_t phase_axis_find(const struct phase_space_config *phase_space, enum phase_axis axis)
{
    uint32_t k = 0;
    while (k < phase_space->axis_count && phase_space->axes[k].axis != axis)
        k++;
    return k;
}

/* Axis k of the written array. */
static inline enum phase_axis phase_axis_written(const struct phase_space_config *phase_space, uint32_t k)
{
    return phase_space->order_count > 0 ? phase_space->order[k] : phase_space->axes[k].axis;
}

/* The name of species n that f is of; NULL behind the last. */
static inline const char *phase_space_species(const struct phase_space_config *phase_space, uint32_t n)
{
    return n == 0                           ? phase_space->species
           : n <= phase_space->others.count ? phase_space->others.items[n - 1]
                                            : NULL;
}

/* The precision of the reals in snapshots. */
static inline enum precision snapshots_precision(const struct config *config)
{
    return config->output.snapshots.precision == SNAPSHOT_PRECISION_RUN ? config->precision
                                                                        : PRECISION_SINGLE;
}

/* Whether a species of that name is among them. */
bool species_are_named(const struct species_names *names, const char *species);

/* The nodes in the meshes of snapshots. Digits of a range may be missing, as of 4 pi. */
struct mesh_window snapshots_window(const struct config *config);

/* Whether snapshots hold particles of a species of that name. */
bool snapshots_hold(const struct snapshots_config *snapshots, const char *species);

/* The species of that name; config->species_count where there is none. */
uint32_t species_find(const struct config *config, const char *name);

/* Whether a field is among them. */
bool fields_hold(const struct field_list *fields, enum field field);

/* Whether snapshots are ever written, and hold the charge density of this species. */
bool snapshots_separate(const struct snapshots_config *snapshots, const struct species_config *species);

/* Of its particles or its density; "" where it has none. */
static inline const char *species_file(const struct species_config *species)
{
    return species->positions.kind == POSITIONS_FILE ? species->positions.file : species->profile.file;
}

/* Components of the fields on the nodes that particles feel: Ex and Ey; with others all six of E and B. */
uint32_t fields_felt(const struct fields_config *fields);

/* The formula of one of these in fields.external; NULL where it has none, as one of a file. */
const char *fields_external(const struct fields_config *fields, uint32_t component);

/* Whether the velocities of a species have the third component. */
static inline bool species_has_w(const struct species_config *species)
{
    return species->velocities.dimensions == 3;
}

static inline uint32_t species_dimensions(const struct species_config *species)
{
    return species_has_w(species) ? 3 : 2;
}

/* What the filter leaves of a wave, of its part along an axis, which turns by `angle` from node to node: N
 * passes cos^2N(angle/2), and with a compensator times 1 + N sin^2(angle/2) (Birdsall & Langdon 1985,
 * appendix C), so that of a long wave it takes no more than the fourth order in the angle. */
double deposit_filter(const struct deposit_config *deposit, double angle);

/* ---- the speeds that a species is loaded with, along an axis (0: u, 1: v, 2: w) ---- */

/* sqrt(T/m) of the two axes of a Juttner distribution that have the same temperature. */
double juttner_thermal(const struct velocities_config *velocities);
/* The |u| beyond which a Juttner distribution, of the temperature m thermal^2, has some 1e-18 of its
 * particles. */
double juttner_end(double thermal, double per_c_squared);
/* Their standard deviation. */
double species_thermal_speed(const struct species_config *species, int axis);

/* What few exceed: drift and three thermal speeds, or the end of a range where that is less. */
double species_fastest_speed(const struct species_config *species, int axis);

/* Reals of a run hold speeds up to this one, and their squares. */
double precision_fastest(enum precision precision);

/* The longest time step of an electromagnetic run: no wave of the grid then turns by pi or more in a step. */
double config_longest_step(const struct config *config);

#endif
