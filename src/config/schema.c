/* Schema: the table itself. */
#include "config/schema.h"

#include "config/config.h"

#include <math.h>
#include <signal.h>

/* clang-format off */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define ROW(of, member, type)                                                                                \
    #member, type, .offset = offsetof(struct of, member), .capacity = sizeof(((struct of *)0)->member)
#define CONFIG(member, type)       ROW(config, member, type)
#define SPECIES(member, type)      ROW(species_config, member, type)
#define PERTURBATION(member, type) ROW(perturbation, member, type)
#define DRIVE(member, type)        ROW(drive_config, member, type)
#define COLLISION(member, type)    ROW(collision_config, member, type)
#define PHASE_SPACE(member, type)  ROW(phase_space_config, member, type)
#define PROBE(member, type)        ROW(probe_config, member, type)
#define LINE(member, type)         ROW(line_config, member, type)
#define PHASE_AXIS(member, type)   ROW(phase_axis_config, member, type)
#define LIST(path, of, member, counter, table)                                                               \
    path, TYPE_LIST, .offset = offsetof(struct of, member), .count_offset = offsetof(struct of, counter),    \
                     .high = COUNT_OF(((struct of *)0)->member), .items = &(table)
#define ALLOCATED_LIST(path, of, member, counter, table)                                                     \
    path, TYPE_LIST, .offset = offsetof(struct of, member), .count_offset = offsetof(struct of, counter),    \
                     .items = &(table), .is_allocated = true
#define ANY_NUMBER            .high = INFINITY, .fallback = "[]"
#define FIELD_LIST(path, of, member, most, table)                                                                \
    path, TYPE_LIST, .offset = offsetof(struct of, member.items),                                            \
                     .count_offset = offsetof(struct of, member.count), .high = (most), .items = &(table)
#define USUAL_FIELDS .fallback = "[E, phi, rho]"
#define FIELD_WORDS .choices = (const struct choice[]){FIELD_TABLE(FIELD_WORD){NULL, 0}}
#define WITHIN(least, most)   .low = (least), .high = (most)
#define BETWEEN(below, above) .low = (below), .high = (above), .open = true
#define POSITIVE              BETWEEN(0, INFINITY)
#define NOT_NEGATIVE          WITHIN(0, INFINITY)
#define MODERATE              WITHIN(1e-50, 1e50) /* no product of units, as in unitSI, is 0 or infinite */
#define ANY_FINITE            WITHIN(-INFINITY, INFINITY)
#define BYTES(least, most)    WITHIN(least, (most)-1)
#define SPECIES_FORMULA(member, names, least)                                                                \
    #member, TYPE_FORMULA, .offset = offsetof(struct species_config, member), .variables = names,             \
             .capacity = CONFIG_FORMULA_LENGTH, BYTES(least, CONFIG_FORMULA_LENGTH)
#define PARTICLE_FORMULA(path, of, member, least)                                                            \
    path, TYPE_FORMULA, .offset = offsetof(struct of, member),                                               \
                        .variables = "x y u v w gamma energy charge mass c ",                               \
                        .capacity = CONFIG_FORMULA_LENGTH, BYTES(least, CONFIG_FORMULA_LENGTH)
#define WITH_WAVES            .kinds = KIND(SOLVER_ELECTROMAGNETIC), .of_previous = true
#define FIELD_OF(group, name, number, of)                                                                    \
    "fields." #group "." name, TYPE_FORMULA, .offset = offsetof(struct config, fields.group[number]),        \
                             .variables = (of), .capacity = CONFIG_FORMULA_LENGTH,                           \
                             BYTES(0, CONFIG_FORMULA_LENGTH), .length = {3}, .fallback = "[0, 0, 0]"
#define FIELD_FILE(group, key, number, member)                                                               \
    "fields." #group "." key, TYPE_TEXT, .offset = offsetof(struct config, fields.file[number].member),      \
                             .capacity = CONFIG_TEXT_LENGTH, BYTES(0, CONFIG_TEXT_LENGTH), .is_path = true,  \
                             .fallback = ""
#define PAIR                  .length = {2}
#define VELOCITY              .length = {3}, .length_at = offsetof(struct species_config, velocities.dimensions)
#define OR_AUTO               WORDS({"auto", 0})
#define PHASE_AXES            WORDS({"x", PHASE_AXIS_X}, {"y", PHASE_AXIS_Y}, {"u", PHASE_AXIS_U}, {"v", PHASE_AXIS_V}, {"w", PHASE_AXIS_W})
#define KIND(value)           (UINT32_C(1) << (value))
#define MOST_STEPS            1e12
#define MOST_PARTICLES        ((double)CONFIG_MAX_SPECIES_PARTICLES)
#define MOST_ON_AN_AXIS       4294967296.0 /* 2^32; the product is held against the particles */
#define MOST_CELLS            16384
#define TABLE(rows, described) {rows, COUNT_OF(rows), sizeof(described)}
/* Of a list of values without keys. */
#define BARE_TABLE(name, described, ...)                                                                     \
    static const struct schema_row name##_rows[] = {{"", __VA_ARGS__}};                                      \
    static const struct schema_table name##_table = TABLE(name##_rows, described)
#define AVERAGE WITHIN(1, MOST_STEPS), .fallback = "1", .unit = "steps", .help = "states averaged, up to the step"
#define FILES_EVERY(steps) WITHIN(0, MOST_STEPS), .fallback = steps, .unit = "steps", .help = "between files; 0: never"
/* clang-format on */

const char schema_directory_fallback[] = "output/CONFIG";

static const struct schema_row perturbation_rows[] = {
    {PERTURBATION(axis, TYPE_CHOICE), WORDS({"x", AXIS_X}, {"y", AXIS_Y}), .help = "direction of the wave"},
    {PERTURBATION(mode, TYPE_COUNT32), WITHIN(1, MOST_CELLS / 2), .help = "wave lengths in the box"},
    {PERTURBATION(amplitude, TYPE_REAL), ANY_FINITE,
     .help = "relative to the mean density; in perturb.density between -1 and 1"},
};
static const struct schema_table perturbation_table = TABLE(perturbation_rows, struct perturbation);

static const struct schema_row drive_rows[] = {
    {DRIVE(axis, TYPE_CHOICE), WORDS({"x", AXIS_X}, {"y", AXIS_Y}),
     .help = "direction of the field and of its wave"},
    {DRIVE(mode, TYPE_COUNT32), WITHIN(1, MOST_CELLS / 2), .help = "wave lengths in the box"},
    {DRIVE(amplitude, TYPE_REAL), ANY_FINITE, .unit = "T/(e lambda_D)",
     .help = "a of the field a cos(k x - frequency t)"},
    {DRIVE(frequency, TYPE_REAL), ANY_FINITE, .unit = "omega_p", .help = "above 0 the wave runs upwards"},
    {DRIVE(from, TYPE_REAL), NOT_NEGATIVE, .fallback = "0", .unit = "1/omega_p", .help = "when it begins"},
    {DRIVE(ramp, TYPE_REAL), NOT_NEGATIVE, .fallback = "0", .unit = "1/omega_p",
     .help = "how long it rises, and falls before `until`, as sin^2"},
    {DRIVE(until, TYPE_REAL), NOT_NEGATIVE, .fallback = "0", .unit = "1/omega_p",
     .help = "when it has ended; 0: never"},
};
static const struct schema_table drive_table = TABLE(drive_rows, struct drive_config);

static const struct schema_row species_rows[] = {
    {SPECIES(name, TYPE_NAME), BYTES(1, CONFIG_NAME_LENGTH), .help = "in --set and in the output"},
    {SPECIES(charge, TYPE_REAL), ANY_FINITE, .unit = "e", .help = "of one particle; electrons: -1"},
    {SPECIES(mass, TYPE_REAL), POSITIVE, .unit = "m_e", .help = "of one particle; electrons: 1"},
    {SPECIES(density, TYPE_REAL), POSITIVE, .unit = "n_0", .help = "mean number density"},
    {SPECIES(particles, TYPE_COUNT64), WITHIN(1, MOST_PARTICLES), .help = "macro-particles, over all ranks"},
    {SPECIES(ids, TYPE_BOOL), .fallback = "false",
     .help = "carry a 64-bit id of each particle into the output"},
    {SPECIES(push, TYPE_BOOL), .fallback = "true",
     .help = "false: the species stands still; it has to be cold and without drift"},
    {SPECIES(charge_density, TYPE_BOOL), .fallback = "true",
     .help = "false: test particles, which make no field"},
    {SPECIES(weights, TYPE_CHOICE),
     WORDS({"equal", WEIGHTS_EQUAL}, {"density", WEIGHTS_DENSITY}, {"file", WEIGHTS_FILE}),
     .fallback = "equal",
     .help = "real particles that each stands for; density: by the density there, positions are even; file: "
             "of positions.file"},
    {"positions", TYPE_GROUP, .help = "initial positions"},
    {SPECIES(positions.kind, TYPE_CHOICE),
     WORDS({"van_der_corput", POSITIONS_VAN_DER_CORPUT}, {"lattice", POSITIONS_LATTICE},
           {"random", POSITIONS_RANDOM}, {"file", POSITIONS_FILE}),
     .fallback = "van_der_corput", .help = "quiet sequences, a lattice, random places, or a file"},
    {SPECIES(positions.bases, TYPE_COUNT32), PAIR, WITHIN(2, 65535), .kinds = KIND(POSITIONS_VAN_DER_CORPUT),
     .fallback = "[2, 3]", .help = "of the sequences of x and y, coprime"},
    {SPECIES(positions.counts, TYPE_COUNT64), PAIR, WITHIN(1, MOST_ON_AN_AXIS),
     .kinds = KIND(POSITIONS_LATTICE), .help = "particles along x and y; their product is particles"},
    {SPECIES(positions.file, TYPE_TEXT), BYTES(1, CONFIG_TEXT_LENGTH), .is_path = true,
     .kinds = KIND(POSITIONS_FILE), .help = "openPMD (HDF5), .npy or .csv; velocities too"},
    {SPECIES(positions.place, TYPE_TEXT), BYTES(0, CONFIG_TEXT_LENGTH), .is_path = true,
     .kinds = KIND(POSITIONS_FILE), .fallback = "",
     .help = "in HDF5: path of a species, or its name in the last iteration; default: the name here"},
    {"velocities", TYPE_GROUP, .help = "initial velocities"},
    {SPECIES(velocities.kind, TYPE_CHOICE),
     WORDS({"cold", VELOCITIES_COLD}, {"maxwellian", VELOCITIES_MAXWELLIAN}, {"formula", VELOCITIES_FORMULA},
           {"uniform", VELOCITIES_FORMULA}, {"juttner", VELOCITIES_JUTTNER}, {"file", VELOCITIES_FILE}),
     .fallback = "cold",
     .help = "uniform: formula with its default density; file: of positions.file, the default with one"},
    {SPECIES(velocities.dimensions, TYPE_COUNT32), WITHIN(2, 3), .fallback = "2",
     .help = "2: u, v; 3: u, v, w; the lists below are as long"},
    {SPECIES(velocities.generator, TYPE_CHOICE),
     WORDS({"van_der_corput", GENERATOR_VAN_DER_CORPUT}, {"random", GENERATOR_RANDOM}),
     .kinds = KIND(VELOCITIES_MAXWELLIAN) | KIND(VELOCITIES_FORMULA) | KIND(VELOCITIES_JUTTNER),
     .fallback = "van_der_corput", .help = "quiet sequences, or random numbers"},
    {SPECIES(velocities.bases, TYPE_COUNT32), VELOCITY, WITHIN(2, 65535),
     .kinds = KIND(GENERATOR_VAN_DER_CORPUT), .of_previous = true, .fallback = "[5, 7, 11]",
     .help = "of u, v, w, coprime with all others in use"},
    {SPECIES(velocities.thermal, TYPE_REAL), VELOCITY, NOT_NEGATIVE,
     .kinds = KIND(VELOCITIES_MAXWELLIAN) | KIND(VELOCITIES_JUTTNER), .fallback = "[1, 1, 1]", .unit = "v_th",
     .help = "standard deviations of u, v, w; juttner: sqrt(T/m), at least two the same"},
    {SPECIES(velocities.drift, TYPE_REAL), VELOCITY, ANY_FINITE,
     .kinds = KIND(VELOCITIES_COLD) | KIND(VELOCITIES_MAXWELLIAN) | KIND(VELOCITIES_JUTTNER) |
              KIND(VELOCITIES_FILE),
     .fallback = "[0, 0, 0]", .unit = "v_th",
     .help = "mean of u, v, w; juttner: velocity of the rest frame; file: added to each"},
    {SPECIES(velocities.range, TYPE_REAL), VELOCITY, .length[1] = 2, ANY_FINITE,
     .kinds = KIND(VELOCITIES_FORMULA), .unit = "v_th", .help = "[[u low, u high], [v low, v high], ...]"},
    {SPECIES_FORMULA(velocities.density, "uvw", 1), VELOCITY, .kinds = KIND(VELOCITIES_FORMULA),
     .fallback = "[1, 1, 1]",
     .help = "first two of u and v, third of w; their product is the density in `range`"},
    {"profile", TYPE_GROUP, .help = "formulas of x, y, lx and ly, the place and the box"},
    {SPECIES_FORMULA(profile.density, "xy", 0), .fallback = "1",
     .help = "of positions; normalised to the mean density"},
    {SPECIES(profile.file, TYPE_TEXT), BYTES(0, CONFIG_TEXT_LENGTH), .is_path = true, .fallback = "",
     .help = "instead of profile.density: array [along x, along y] of a .npy or HDF5 file"},
    {SPECIES(profile.place, TYPE_TEXT), BYTES(0, CONFIG_TEXT_LENGTH), .is_path = true, .fallback = "",
     .help = "in HDF5: path of a dataset, or a mesh of the last iteration"},
    {SPECIES_FORMULA(profile.drift, "xy", 0), VELOCITY, .fallback = "[0, 0, 0]", .unit = "v_th",
     .help = "added to velocities.drift"},
    {SPECIES_FORMULA(profile.thermal, "xy", 0), VELOCITY, .fallback = "[1, 1, 1]",
     .help = "times velocities.thermal"},
    {"perturb", TYPE_GROUP, .help = "waves added to the initial positions"},
    {LIST("perturb.density", species_config, perturb.density.items, perturb.density.count,
          perturbation_table),
     .fallback = "[]", .help = "n0 prod(1 + a cos(2 pi m x/L)); at most 4 along an axis"},
    {LIST("perturb.displacement", species_config, perturb.displacement.items, perturb.displacement.count,
          perturbation_table),
     .fallback = "[]", .help = "x += a cos(k x)/k with k = 2 pi m/L"},
};
static const struct schema_table species_table = TABLE(species_rows, struct species_config);

BARE_TABLE(mode, int32_t[2], TYPE_INTEGER, PAIR, WITHIN(-MOST_CELLS / 2, MOST_CELLS / 2),
           .help = "[MX, MY], within +-cells/2");

BARE_TABLE(mode_field, enum field, TYPE_CHOICE, WORDS({"rho", FIELD_RHO}, {"E", FIELD_E}, {"B", FIELD_B}),
           .help = "B is electromagnetic");

BARE_TABLE(species_name, char[CONFIG_NAME_LENGTH], TYPE_NAME, .capacity = CONFIG_NAME_LENGTH,
           BYTES(1, CONFIG_NAME_LENGTH), .help = "names of species");

static const struct schema_row phase_axis_rows[] = {
    {PARTICLE_FORMULA("axis", phase_axis_config, formula, 1),
     .help = "positions x, y, velocities u, v, w, each once, or a formula of them; docs/phase_space.md"},
    {PHASE_AXIS(bins, TYPE_COUNT32), WITHIN(1, MOST_CELLS),
     .help = "along x and y a divisor of the cells in the range"},
    {PHASE_AXIS(range, TYPE_REAL), PAIR, ANY_FINITE, .unit = "lambda_D, v_th",
     .help = "[low, high], high not included; along x and y edges of cells"},
    {PHASE_AXIS(scale, TYPE_CHOICE), WORDS({"linear", SCALE_LINEAR}, {"log", SCALE_LOG}),
     .fallback = "linear", .help = "log: bins of equal width in log10; range is that of the axis itself"},
};
static const struct schema_table phase_axis_table = TABLE(phase_axis_rows, struct phase_axis_config);

BARE_TABLE(phase_order, enum phase_axis, TYPE_CHOICE, PHASE_AXES, .help = "each axis once");

static const struct schema_row phase_space_rows[] = {
    {PHASE_SPACE(species, TYPE_NAME), BYTES(1, CONFIG_NAME_LENGTH), .help = "name of a species"},
    {LIST("with_species", phase_space_config, others.items, others.count, species_name_table),
     .fallback = "[]", .help = "further species; their f is added"},
    {PARTICLE_FORMULA("weight", phase_space_config, weight, 0), .fallback = "",
     .help = "what each particle counts by, as energy; default: 1"},
    {LIST("axes", phase_space_config, axes, axis_count, phase_axis_table), .low = 1,
     .help = "f is a function of these"},
    {LIST("order", phase_space_config, order, order_count, phase_order_table), .fallback = "[]",
     .help = "of axes in the written array, the last the fastest; []: that of `axes`"},
    {PHASE_SPACE(every, TYPE_COUNT64), FILES_EVERY("100")},
};
static const struct schema_table phase_space_table = TABLE(phase_space_rows, struct phase_space_config);

BARE_TABLE(snapshot_field, enum field, TYPE_CHOICE,
           WORDS(FIELD_TABLE(FIELD_WORD){"species_rho", FIELD_SPECIES_RHO}, {"moments", FIELD_MOMENTS}),
           .help = "as for probes; species_rho: charge of each species; moments: those of output.moments");

BARE_TABLE(probe_field, enum field, TYPE_CHOICE, FIELD_WORDS,
           .help = "phi: potential; rho, J: densities of charge and current; B, J: electromagnetic");

static const struct schema_row probe_rows[] = {
    {PROBE(name, TYPE_NAME), BYTES(1, CONFIG_NAME_LENGTH), .help = "of its file, probes/NAME.csv"},
    {PROBE(at, TYPE_REAL), PAIR, NOT_NEGATIVE, .unit = "lambda_D", .help = "its place in the box"},
    {FIELD_LIST("fields", probe_config, fields, FIELDS, probe_field_table), .low = 1, USUAL_FIELDS,
     .help = "columns, one for each component"},
    {PROBE(every, TYPE_COUNT64), WITHIN(1, MOST_STEPS), .fallback = "1", .unit = "steps",
     .help = "between rows"},
    {PROBE(average, TYPE_COUNT64), AVERAGE},
};
static const struct schema_row line_rows[] = {
    {LINE(name, TYPE_NAME), BYTES(1, CONFIG_NAME_LENGTH), .help = "its meshes are NAME_E and so on"},
    {LINE(from, TYPE_REAL), PAIR, NOT_NEGATIVE, .unit = "lambda_D", .help = "its first point in the box"},
    {LINE(to, TYPE_REAL), PAIR, NOT_NEGATIVE, .unit = "lambda_D", .help = "its last point"},
    {LINE(points, TYPE_COUNT32), WITHIN(2, MOST_CELLS), .help = "equidistant, with both ends"},
    {FIELD_LIST("fields", line_config, fields, FIELDS, probe_field_table), .low = 1, USUAL_FIELDS,
     .help = "meshes"},
    {LINE(every, TYPE_COUNT64), FILES_EVERY("100")},
    {LINE(average, TYPE_COUNT64), AVERAGE},
};
static const struct schema_table line_table = TABLE(line_rows, struct line_config);
static const struct schema_table probe_table = TABLE(probe_rows, struct probe_config);

BARE_TABLE(id, uint64_t, TYPE_COUNT64, WITHIN(0, MOST_PARTICLES *CONFIG_MAX_SPECIES),
           .help = "as snapshots have it");

static const struct schema_row collision_rows[] = {
    {"species", TYPE_NAME, .offset = offsetof(struct collision_config, species),
     .capacity = CONFIG_NAME_LENGTH, PAIR, BYTES(1, CONFIG_NAME_LENGTH),
     .help = "two with dimensions: 3, or one twice"},
    {COLLISION(model, TYPE_CHOICE),
     WORDS({"takizuka_abe", COLLISIONS_TAKIZUKA_ABE}, {"nanbu", COLLISIONS_NANBU}),
     .fallback = "takizuka_abe", .help = "by Takizuka and Abe (1977) or Nanbu (1997)"},
    {COLLISION(coulomb_log, TYPE_REAL), POSITIVE, OR_AUTO, .fallback = "auto",
     .help = "auto: by the NRL formulary"},
    {COLLISION(every, TYPE_COUNT64), WITHIN(1, MOST_STEPS), .fallback = "1", .unit = "steps",
     .help = "between collisions, each for the time since the last"},
    {COLLISION(substeps, TYPE_COUNT32), WITHIN(1, CONFIG_MAX_SUBSTEPS), .fallback = "1",
     .help = "collisions in that time, with new partners"},
};
static const struct schema_table collision_table = TABLE(collision_rows, struct collision_config);

BARE_TABLE(signal, int, TYPE_CHOICE,
           WORDS({"SIGINT", SIGINT}, {"SIGTERM", SIGTERM}, {"SIGHUP", SIGHUP}, {"SIGUSR1", SIGUSR1},
                 {"SIGUSR2", SIGUSR2}, {"SIGXCPU", SIGXCPU}),
           .help = "Unix signals");

static const struct schema_row config_rows[] = {
    {CONFIG(title, TYPE_TEXT), BYTES(0, CONFIG_TEXT_LENGTH), .fallback = "untitled",
     .help = "shown in logs and plots"},
    {"constants", TYPE_CONSTANTS, .fallback = "{}", .help = "for all numbers and formulas; docs/physics.md"},
    {"grid", TYPE_GROUP, .help = "the periodic box"},
    {CONFIG(grid.cells, TYPE_COUNT32), PAIR, WITHIN(2, MOST_CELLS),
     .help = "along x and y; [N, 2] is one dimension: charges make no E along y"},
    {CONFIG(grid.length, TYPE_REAL), PAIR, MODERATE, .unit = "lambda_D", .help = "of the box along x and y"},
    {"time", TYPE_GROUP, .help = "time step and length of the run"},
    {CONFIG(time.step, TYPE_REAL), POSITIVE, .unit = "1/omega_p", .help = "of the leapfrog"},
    {CONFIG(time.steps, TYPE_COUNT64), WITHIN(0, MOST_STEPS), .help = "number of steps"},
    {CONFIG(time.check_every, TYPE_COUNT64), WITHIN(1, MOST_STEPS), .fallback = "10", .unit = "steps",
     .help = "between checks for non-finite values"},
    {CONFIG(seed, TYPE_COUNT32), WITHIN(0, UINT32_MAX), .fallback = "1", .help = "of all random numbers"},
    {CONFIG(precision, TYPE_CHOICE), WORDS({"single", PRECISION_SINGLE}, {"double", PRECISION_DOUBLE}),
     .fallback = "single", .help = "of the arithmetic and state on the device"},
    {ALLOCATED_LIST("species", config, species, species_count, species_table), WITHIN(1, CONFIG_MAX_SPECIES),
     .help = "kinds of particles"},
    {"fields", TYPE_GROUP, .help = "the solver of the fields, and external fields"},
    {CONFIG(fields.solver, TYPE_CHOICE),
     WORDS({"electrostatic", SOLVER_ELECTROSTATIC}, {"electromagnetic", SOLVER_ELECTROMAGNETIC}),
     .fallback = "electrostatic",
     .help = "E by Poisson's equation; or E and B by Maxwell's, with relativistic particles"},
    {CONFIG(fields.speed_of_light, TYPE_REAL), WITH_WAVES, POSITIVE, OR_AUTO, .fallback = "auto",
     .unit = "v_th", .help = "auto: by units.temperature_eV"},
    {CONFIG(fields.mean, TYPE_CHOICE), WITH_WAVES, WORDS({"ampere", MEAN_AMPERE}, {"zero", MEAN_ZERO}),
     .fallback = "ampere", .help = "mean of E over the box; ampere: dE/dt = -J; zero: 0"},
    {"fields.initial", TYPE_GROUP, WITH_WAVES, .help = "E and B at 0, formulas of x, y, lx and ly"},
    {FIELD_OF(initial, "E", 0, "xy"), WITH_WAVES, .unit = "T/(e lambda_D)",
     .help = "[Ex, Ey, Ez] of divergence 0; charges make the rest"},
    {FIELD_OF(initial, "B", 1, "xy"), WITH_WAVES, .unit = "m_e omega_p/e",
     .help = "[Bx, By, Bz] of divergence 0, beside fields.magnetic"},
    {FIELD_FILE(initial, "file", FIELDS_INITIAL, path), WITH_WAVES,
     .help = "instead of formulas: openPMD (HDF5) file of E and B"},
    {FIELD_FILE(initial, "place", FIELDS_INITIAL, place), WITH_WAVES,
     .help = "path of an iteration; default: the last"},
    {CONFIG(fields.transforms, TYPE_CHOICE),
     WORDS({"auto", TRANSFORMS_AUTO}, {"vkfft", TRANSFORMS_VKFFT}, {"fftw", TRANSFORMS_FFTW},
           {"none", TRANSFORMS_NONE}),
     .fallback = "auto",
     .help = "vkfft: on the device; fftw: on the host; none: a sum over nodes, electrostatic, not in slabs; "
             "auto: fftw on CPUs, else none up to 1024 nodes and vkfft above"},
    {CONFIG(fields.decomposition, TYPE_CHOICE),
     WORDS({"auto", DECOMPOSITION_AUTO}, {"replicated", DECOMPOSITION_REPLICATED},
           {"slabs", DECOMPOSITION_SLABS}),
     .fallback = "auto",
     .help = "over ranks; replicated: each solves the whole grid; slabs: each transforms a part; auto: slabs "
             "on CPUs from 65,536 nodes on"},
    {CONFIG(fields.gradient, TYPE_CHOICE),
     WORDS({"spectral", GRADIENT_SPECTRAL}, {"centred", GRADIENT_CENTRED}), .fallback = "spectral",
     .help = "how E follows from phi"},
    {CONFIG(fields.magnetic, TYPE_REAL), .length = {3}, .last_alone = true, ANY_FINITE, .fallback = "0",
     .unit = "m_e omega_p/e", .help = "uniform Bz, or [Bx, By, Bz]; in the plane it needs dimensions: 3"},
    {"fields.external", TYPE_GROUP,
     .help = "on particles, beside all other fields; formulas of x, y, t, lx and ly"},
    {FIELD_OF(external, "E", 0, "xyt"), .unit = "T/(e lambda_D)",
     .help = "[Ex, Ey, Ez]; Ez needs dimensions: 3"},
    {FIELD_OF(external, "B", 1, "xyt"), .unit = "m_e omega_p/e",
     .help = "[Bx, By, Bz], beside fields.magnetic; in the plane it needs dimensions: 3"},
    {FIELD_FILE(external, "file", FIELDS_EXTERNAL, path),
     .help = "instead of formulas: openPMD (HDF5) file of E and B, constant in time"},
    {FIELD_FILE(external, "place", FIELDS_EXTERNAL, place),
     .help = "path of an iteration; default: the last"},
    {LIST("fields.drive", config, fields.drive, fields.drive_count, drive_table), .fallback = "[]",
     .help = "external electric fields; history.csv has their work"},
    {ALLOCATED_LIST("collisions", config, collisions, collision_count, collision_table), ANY_NUMBER,
     .help = "binary collisions in each cell; `units` sets their strength"},
    {"deposit", TYPE_GROUP, .help = "particles to grid"},
    {CONFIG(deposit.shape, TYPE_CHOICE),
     WORDS({"ngp", SHAPE_NGP}, {"cic", SHAPE_CIC}, {"tsc", SHAPE_TSC}, {"cubic", SHAPE_CUBIC},
           {"quartic", SHAPE_QUARTIC}),
     .fallback = "cic", .help = "of a particle: order 0, 1, 2, 3, 4"},
    {CONFIG(deposit.filter_passes, TYPE_COUNT32), WITHIN(0, 100), .fallback = "0",
     .help = "binomial (1/4, 1/2, 1/4) passes in x and y"},
    {CONFIG(deposit.filter_compensator, TYPE_BOOL), .fallback = "false",
     .help = "true: a pass behind them restores long waves"},
    {"sort", TYPE_GROUP, .help = "the radix sort by short key"},
    {CONFIG(sort.method, TYPE_CHOICE), WORDS(SORT_METHOD_WORDS), .fallback = "auto",
     .help = "auto: tiled on GPUs, chunked on CPUs; I, G, s, transpose and table are of paper"},
    {CONFIG(sort.passes, TYPE_COUNT32), WITHIN(1, 32), OR_AUTO, .fallback = "2",
     .help = "p, at most key_bits; auto: the fastest"},
    {CONFIG(sort.key_bits, TYPE_COUNT32), WITHIN(1, 32), OR_AUTO, .fallback = "auto",
     .help = "b; auto: the least that numbers every cell"},
    {CONFIG(sort.items_per_group, TYPE_COUNT32), WITHIN(1, 4096), OR_AUTO, .fallback = "auto",
     .help = "I of the paper"},
    {CONFIG(sort.groups, TYPE_COUNT32), WITHIN(1, 65536), OR_AUTO, .fallback = "auto",
     .help = "G of the paper"},
    {CONFIG(sort.histogram_splits, TYPE_COUNT32), WITHIN(1, 65536), OR_AUTO, .fallback = "auto",
     .help = "s, splits of the histogram"},
    {CONFIG(sort.transpose, TYPE_CHOICE),
     WORDS({"auto", TRANSPOSE_AUTO}, {"on", TRANSPOSE_ON}, {"off", TRANSPOSE_OFF}), .fallback = "auto",
     .help = "reorder the list so that neighbours read neighbours"},
    {CONFIG(sort.table, TYPE_CHOICE),
     WORDS({"auto", TABLE_AUTO}, {"columns", TABLE_COLUMNS}, {"rows", TABLE_ROWS}), .fallback = "auto",
     .help = "histogram in memory; columns: counts of a digit together; rows: of an item"},
    {"step", TYPE_GROUP, .help = "how a step is taken"},
    {CONFIG(step.method, TYPE_CHOICE),
     WORDS({"auto", STEP_AUTO}, {"radix", STEP_RADIX}, {"fused", STEP_FUSED}, {"tiled", STEP_TILED},
           {"chunked", STEP_CHUNKED}),
     .fallback = "radix",
     .help = "radix: push, radix sort, permute; fused, auto: all at once, tiled on GPUs, chunked on CPUs, "
             "radix where tiled does not fit"},
    {CONFIG(step.rounding, TYPE_CHOICE),
     WORDS({"dithered", ROUNDING_DITHERED}, {"nearest", ROUNDING_NEAREST}), .fallback = "dithered",
     .help = "in single precision; dithered: keeps the mean of sums; nearest: faster, may lose it"},
    {CONFIG(step.pusher, TYPE_CHOICE),
     WORDS({"boris", PUSHER_BORIS}, {"vay", PUSHER_VAY}, {"higuera_cary", PUSHER_HIGUERA_CARY}),
     .fallback = "boris", .help = "vay, higuera_cary: electromagnetic; exact drift across E and B"},
    {"parallel", TYPE_GROUP, .help = "how the box is shared by MPI ranks, each a range of rows"},
    {CONFIG(parallel.balance_every, TYPE_COUNT64), WITHIN(0, MOST_STEPS), .fallback = "0", .unit = "steps",
     .help = "between checks of the load balance; 0: never"},
    {CONFIG(parallel.threshold, TYPE_REAL), WITHIN(1, INFINITY), .fallback = "1.1",
     .help = "rows move where the most loaded rank exceeds the mean by this factor"},
    {CONFIG(parallel.ghost_rows, TYPE_COUNT32), WITHIN(2, MOST_CELLS), OR_AUTO, .fallback = "auto",
     .help = "beside a rank's own, for leaving particles; auto: by their speed"},
    {CONFIG(device, TYPE_TEXT), BYTES(1, CONFIG_TEXT_LENGTH), .fallback = "auto",
     .help = "auto, cpu, gpu, numbers PLATFORM:DEVICE, or part of a name"},
    {"output", TYPE_GROUP, .help = "what is written"},
    {CONFIG(output.directory, TYPE_TEXT), BYTES(1, CONFIG_TEXT_LENGTH), .is_path = true,
     .fallback = schema_directory_fallback, .help = "folder of this run"},
    {"output.history", TYPE_GROUP, .help = "history.csv: energies, momentum, modes"},
    {CONFIG(output.history.every, TYPE_COUNT64), WITHIN(1, MOST_STEPS), .fallback = "1", .unit = "steps",
     .help = "between rows"},
    {LIST("output.history.modes", config, output.history.modes, output.history.mode_count, mode_table),
     .fallback = "[]", .help = "modes to follow"},
    {FIELD_LIST("output.history.mode_fields", config, output.history.mode_fields, 3, mode_field_table),
     .low = 1, .fallback = "[rho]", .help = "of these fields; columns density_MX_MY_re, Ex_MX_MY_re, ..."},
    {LIST("output.history.species", config, output.history.species.items, output.history.species.count,
          species_name_table),
     .fallback = "[]", .help = "with columns of kinetic energy and momentum; [all]: every one"},
    {CONFIG(output.history.work, TYPE_BOOL), .fallback = "false",
     .help = "columns of the work of external fields on these species"},
    {"output.snapshots", TYPE_GROUP, .help = "openPMD files"},
    {CONFIG(output.snapshots.every, TYPE_COUNT64), FILES_EVERY("0")},
    {CONFIG(output.snapshots.average, TYPE_COUNT64), AVERAGE},
    {FIELD_LIST("output.snapshots.fields", config, output.snapshots.fields, FIELD_CHOICES,
                snapshot_field_table),
     USUAL_FIELDS, .help = "meshes; []: none"},
    {CONFIG(output.snapshots.mesh_range, TYPE_REAL), .length = {2, 2}, NOT_NEGATIVE,
     .fallback = "[[0, 0], [0, 0]]", .unit = "lambda_D",
     .help = "[[x low, x high], [y low, y high]] of the nodes in the meshes, ends included; [0, 0]: all"},
    {CONFIG(output.snapshots.mesh_stride, TYPE_COUNT32), PAIR, WITHIN(1, MOST_CELLS), .fallback = "[1, 1]",
     .help = "N: every N-th of these nodes along x and along y"},
    {LIST("output.snapshots.species", config, output.snapshots.species.items, output.snapshots.species.count,
          species_name_table),
     .fallback = "[all]", .help = "that have particles in files; [all]: every one, []: none"},
    {"output.snapshots.particles", TYPE_GROUP, .help = "of these species"},
    {CONFIG(output.snapshots.particles.kind, TYPE_CHOICE),
     WORDS({"all", PARTICLES_ALL}, {"none", PARTICLES_NONE}, {"every_nth", PARTICLES_EVERY_NTH},
           {"fraction", PARTICLES_FRACTION}),
     .fallback = "all", .help = "which of these species"},
    {CONFIG(output.snapshots.particles.every_nth, TYPE_COUNT64), WITHIN(1, MOST_PARTICLES),
     .kinds = KIND(PARTICLES_EVERY_NTH), .help = "K: each K-th in the order of the cells; weights grow"},
    {CONFIG(output.snapshots.particles.fraction, TYPE_REAL), WITHIN(0, 1), .kinds = KIND(PARTICLES_FRACTION),
     .help = "the same particles at all times; needs ids; weights grow"},
    {PARTICLE_FORMULA("output.snapshots.particles.where", config, output.snapshots.particles.where, 0),
     .fallback = "", .help = "a condition on particles, as energy > 4 && x < lx/2"},
    {CONFIG(output.snapshots.precision, TYPE_CHOICE),
     WORDS({"run", SNAPSHOT_PRECISION_RUN}, {"single", SNAPSHOT_PRECISION_SINGLE}), .fallback = "run",
     .help = "of numbers in files; run: that of the run"},
    {CONFIG(output.snapshots.compression, TYPE_COUNT32), WITHIN(0, 9), .fallback = "4",
     .help = "deflate level, of phase space and moments too"},
    {ALLOCATED_LIST("output.phase_space", config, output.phase_space, output.phase_space_count,
                    phase_space_table),
     ANY_NUMBER, .help = "openPMD files of densities in phase space"},
    {"output.moments", TYPE_GROUP,
     .help = "density, mean velocity, temperature, current, pressure and heat flux of each species"},
    {CONFIG(output.moments.every, TYPE_COUNT64), FILES_EVERY("0")},
    {CONFIG(output.moments.average, TYPE_COUNT64), AVERAGE},
    {ALLOCATED_LIST("output.probes", config, output.probes, output.probe_count, probe_table),
     WITHIN(0, CONFIG_MAX_PROBES), .fallback = "[]", .help = "CSV files of the fields at places of the box"},
    {ALLOCATED_LIST("output.lines", config, output.lines, output.line_count, line_table), ANY_NUMBER,
     .help = "openPMD files of the fields along straight lines"},
    {"output.tracks", TYPE_GROUP, .help = "openPMD files of the paths of chosen particles"},
    {CONFIG(output.tracks.species, TYPE_NAME), BYTES(1, CONFIG_NAME_LENGTH), .fallback = "none",
     .help = "name of a species with ids"},
    {ALLOCATED_LIST("output.tracks.ids", config, output.tracks.ids, output.tracks.id_count, id_table),
     WITHIN(0, CONFIG_MAX_TRACKS), .fallback = "[]", .help = "of the particles"},
    {CONFIG(output.tracks.count, TYPE_COUNT32), WITHIN(0, CONFIG_MAX_TRACKS), .fallback = "0",
     .help = "instead of ids: so many at equal distances of ids; with where the most at a time"},
    {PARTICLE_FORMULA("output.tracks.where", config, output.tracks.rule.where, 0), .fallback = "",
     .help = "a condition, as energy > 4; a particle has a path while it fulfils it"},
    {CONFIG(output.tracks.keep, TYPE_BOOL), .fallback = "false",
     .help = "with where: a particle that fulfilled it once keeps its path"},
    {CONFIG(output.tracks.every, TYPE_COUNT64), WITHIN(0, MOST_STEPS), .fallback = "0", .unit = "steps",
     .help = "between the places of a path; 0: never"},
    {"output.checkpoints", TYPE_GROUP, .help = "the state, for run --restart"},
    {CONFIG(output.checkpoints.every, TYPE_COUNT64), FILES_EVERY("0")},
    {CONFIG(output.checkpoints.minutes, TYPE_REAL), NOT_NEGATIVE, .fallback = "0", .unit = "min",
     .help = "of wall clock between files; 0: never"},
    {CONFIG(output.checkpoints.keep, TYPE_COUNT32), WITHIN(1, 1000), .fallback = "2",
     .help = "number of checkpoints to keep"},
    {LIST("output.checkpoints.on_signals", config, output.checkpoints.on_signals,
          output.checkpoints.signal_count, signal_table),
     .fallback = "[SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU]",
     .help = "stop the run with a checkpoint, unless ignored at its start; []: none"},
    {CONFIG(output.checkpoints.on_signal_within, TYPE_REAL), NOT_NEGATIVE, .fallback = "0", .unit = "s",
     .help = "time a signal leaves for the checkpoint; check warns where that is short; 0: any"},
    {"units", TYPE_GROUP, .help = "what the normalised units mean, for openPMD's unitSI and collisions"},
    {CONFIG(units.density_per_m3, TYPE_REAL), MODERATE, .fallback = "1e18", .unit = "1/m^3",
     .help = "electrons at density 1"},
    {CONFIG(units.temperature_eV, TYPE_REAL), MODERATE, .fallback = "100", .unit = "eV",
     .help = "electrons at thermal velocity 1"},
};
const struct schema_table config_schema = TABLE(config_rows, struct config);

_Static_assert(COUNT_OF(config_rows) <= SCHEMA_MAX_ROWS && COUNT_OF(species_rows) <= SCHEMA_MAX_ROWS,
               "SCHEMA_MAX_ROWS holds every table");
