/* Config: good files become the struct, bad ones every error with its place, and what is echoed reads back.
 */
#include "support/config_support.h"
#include "support/test_folder.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char least[] = "grid: {cells: [16, 8], length: [2, 1]}\n"
                            "time: {step: 0.1, steps: 10}\n"
                            "species:\n"
                            "  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 64}\n"
                            "  - {name: ions, charge: 1, mass: 1836.15, density: 1, particles: 32}\n";

static struct config config; /* read by each test anew */

/* Frees the lists of the config before the one that was just read. */
static enum status keep(enum status status)
{
    static struct config kept;
    if (status == STATUS_OK) {
        config_free(&kept);
        kept = config;
    }
    return status;
}

static enum status read_with(const char *text, const char *const *settings, size_t count)
{
    memset(&config, 0xA5, sizeof config); /* whatever is not written shows */
    return keep(config_read_text("folder/test.yaml", text, strlen(text), settings, count, &config));
}

static enum status parse(const char *text)
{
    return read_with(text, NULL, 0);
}

/* Echoes `config` and reads it back; must have the same bits in every key. Returns the text, to be freed. */
static char *assert_round_trip(void)
{
    static struct config again;
    size_t length = 0;
    char *text = config_as_text(&config, &length);
    assert_non_null(text);
    assert_ok(config_read_text("other.yaml", text, length, NULL, 0, &again));
    assert_true(config_is_same(&config, &again));
    config_free(&again);
    return text;
}

/* Reads `text`, and checks that its echo has all of the fragments, in this order; "|" stands between them. */
static void assert_echoes(const char *text, const char *fragments)
{
    char copy[2048];
    assert_true((size_t)snprintf(copy, sizeof copy, "%s", fragments) < sizeof copy);
    assert_ok(parse(text));
    char *echo = assert_round_trip();
    const char *at = echo;
    for (char *rest = copy; rest;) {
        const char *fragment = strsep(&rest, "|");
        assert_says(at, fragment);
        at = strstr(at, fragment) + strlen(fragment);
    }
    free(echo);
}

TEST(every_key_but_the_required_has_a_default)
{
    static const char fragments[] =
        "title: untitled|check_every: 10 |seed: 1 |precision: single|name: electrons|ids: false|push: true|"
        "kind: van_der_corput|bases: [2, 3]|kind: cold|drift: [0, 0]|density: []|displacement: []|"
        "solver: electrostatic|transforms: auto|decomposition: auto|gradient: spectral|magnetic: 0 |drive: "
        "[]|collisions: []|shape: "
        "cic|"
        "filter_passes: 0 |filter_compensator: false|method: auto|passes: 2 |key_bits: auto|items_per_group: "
        "auto|groups: auto|"
        "histogram_splits: auto|transpose: auto|table: auto|method: radix|balance_every: 0 |"
        "threshold: 1.1 |ghost_rows: auto|device: auto|directory: output/test |every: 1 |modes: []|"
        "every: 0 |fields: [E, phi, rho]|species: [all]|kind: all|precision: run|compression: 4 |"
        "phase_space: []|every: 0 |minutes: 0 |keep: 2 |"
        "density_per_m3: 1e+18 |temperature_eV: 100 ";
    assert_echoes(least, fragments);
    assert_int_equal(config.species_count, 2);
    assert_int_equal(config.species[1].velocities.kind, VELOCITIES_COLD);
    assert_int_equal(config.sort.groups, SORT_AUTO);
}

TEST(a_maxwellian_has_defaults_of_its_own)
{
    const char *setting = "species.ions.velocities.kind=maxwellian";
    assert_ok(read_with(least, &setting, 1));
    const struct velocities_config *velocities = &config.species[1].velocities;
    assert_int_equal(velocities->generator, GENERATOR_VAN_DER_CORPUT);
    assert_int_equal(velocities->bases[0], 5);
    assert_int_equal(velocities->bases[1], 7);
    assert_near(velocities->thermal[0], 1, 0);
    assert_near(velocities->thermal[1], 1, 0);
    assert_near(velocities->drift[0], 0, 0);
}

/* One number is Bz, and what is along z alone is written as one. */
TEST(a_magnetic_field_is_a_number_or_three)
{
    static const struct {
        const char *setting, *echoed;
        double field[3];
    } cases[] = {{"fields.magnetic=2", "magnetic: 2 ", {0, 0, 2}},
                 {"fields.magnetic=[0, 0, -1]", "magnetic: -1 ", {0, 0, -1}},
                 {"fields.magnetic=[1, 0, 0]", "magnetic: [1, 0, 0]", {1, 0, 0}},
                 {"fields.magnetic=[0, 0.5, 3]", "magnetic: [0, 0.5, 3]", {0, 0.5, 3}}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const char *settings[] = {cases[n].setting, "species.electrons.velocities.dimensions=3",
                                  "species.ions.velocities.dimensions=3"};
        assert_ok(read_with(least, settings, 3));
        char *text = assert_round_trip();
        assert_says(text, cases[n].echoed);
        free(text);
        for (int axis = 0; axis < 3; axis++)
            assert_near(config.fields.magnetic[axis], cases[n].field[axis], 0);
    }
}

static const char every_key[] =
    "title: 'Quotes \" and \\ and: colons, # and \xce\xb1'\n"
    "grid: {cells: [64, 32], length: [12.566370614359172, 1e-50]}\n"
    "time: {step: 0.3333333333333333, steps: 1000000000000}\n"
    "seed: 4294967295\n"
    "precision: double\n"
    "species:\n"
    "  - {name: _a1, charge: -0.0, mass: 5e-324, density: 1.7976931348623157e308, particles: 1099511627776, "
    "ids: true,\n"
    "     positions: {kind: lattice, counts: [16777216, 65536]}, velocities: {kind: cold, drift: [-1.5, "
    "+2.5]},\n"
    "     perturb: {density: [{axis: x, mode: 32, amplitude: -0.999}, {axis: y, mode: 16, amplitude: 0.5}],\n"
    "               displacement: [{axis: y, mode: 1, amplitude: 1.0e-4}]}}\n"
    "  - {name: B, charge: 2, mass: .5, density: 1., particles: 1, ids: true, positions: {bases: [65535, "
    "2]},\n"
    "     velocities: {kind: uniform, bases: [11, 13], range: [[-1, 1], [2, 2]]}}\n"
    "  - {name: b, charge: 0, mass: 1, density: 1, particles: 1, ids: true, positions: {bases: [5, 7]},\n"
    "     velocities: {kind: maxwellian, dimensions: 3, generator: random, thermal: [0, "
    "0.1, 2], drift: [3, 0, -1]}}\n"
    "fields: {transforms: fftw, gradient: centred, magnetic: -0.25,\n"
    "  drive: [{axis: y, mode: 1, amplitude: -0.5, frequency: 1.5, from: 2, ramp: 2.5, until: 7}]}\n"
    "deposit: {shape: tsc, filter_passes: 100, filter_compensator: true}\n"
    "sort: {passes: 3, key_bits: 32, items_per_group: 4096, groups: 65536, histogram_splits: 16, transpose: "
    "off, table: rows}\n"
    "device: NVIDIA H100\n"
    "output:\n"
    "  directory: some where/else\n"
    "  history: {every: 7, modes: [[32, -16], [0, 0], [-32, 16]], mode_fields: [E, rho]}\n"
    "  snapshots: {every: 9, fields: [rho], species: [b, B], particles: {fraction: 0.125}, precision: "
    "single, compression: 0}\n"
    "  phase_space:\n"
    "    - {species: B, axes: [{axis: y, bins: 4, range: [0, 1e-50]}, {axis: v, bins: 3, range: [-1, "
    "0.5]},\n"
    "       {axis: u, bins: 2, range: [2, 3]}], order: [u, y, v], every: 5}\n"
    "    - {species: _a1, axes: [{axis: x, bins: 32, range: [0, 12.5664]}]}\n"
    "units: {density_per_m3: 1.0e+06, temperature_eV: 1E-3}\n";

TEST(every_key_is_read)
{
    static const char fragments[] =
        "title: \"Quotes \\\" and \\\\ and: colons, # and \xce\xb1\"|cells: [64, 32]|"
        "length: [12.566370614359172, 1e-50]|step: 0.3333333333333333 |steps: 1000000000000 |"
        "seed: 4294967295 |precision: double|name: \"_a1\"|charge: -0 |mass: 4.94065645841247e-324 |"
        "density: 1.7976931348623157e+308 |particles: 1099511627776 |ids: true|kind: lattice|"
        "counts: [16777216, 65536]|kind: cold|drift: [-1.5, 2.5]|- axis: x|mode: 32 |"
        "amplitude: -0.999 |- axis: y|mode: 16|amplitude: 0.5|displacement:|- axis: y|mode: 1|"
        "amplitude: 0.0001|name: B|mass: 0.5|bases: [65535, 2]|kind: formula|bases: [11, 13]|"
        "range: [[-1, 1], [2, 2]]|name: b|kind: maxwellian|dimensions: 3|generator: random|"
        "thermal: [0, 0.1, 2]|drift: [3, 0, -1]|transforms: fftw|"
        "gradient: centred|magnetic: -0.25 |- axis: y|mode: 1 |amplitude: -0.5 |frequency: 1.5 |from: 2 "
        "|ramp: 2.5 |until: 7 |shape: tsc|filter_passes: 100 |filter_compensator: true |passes: 3 |"
        "key_bits: 32 |items_per_group: 4096 |groups: 65536 |histogram_splits: 16 |transpose: off|"
        "table: rows|device: \"NVIDIA H100\"|directory: \"some where/else\"|every: 7 |"
        "modes: [[32, -16], [0, 0], [-32, 16]]|mode_fields: [E, rho]|every: 9 |fields: [rho]|species: [b, "
        "B]|kind: "
        "fraction|fraction: 0.125|precision: single|compression: 0 |species: B|"
        "axis: y|bins: 4 |range: [0, 1e-50]|axis: v|bins: 3|range: [-1, 0.5]|axis: u|"
        "order: [u, y, v]|every: 5|species: \"_a1\"|axis: x|bins: 32|range: [0, 12.5664]|order: []|"
        "every: 100|density_per_m3: 1000000 |temperature_eV: 0.001 ";
    assert_echoes(every_key, fragments);
    assert_true(signbit(config.species[0].charge));
    assert_int_equal(config.species[0].particles, CONFIG_MAX_SPECIES_PARTICLES);
    assert_int_equal(config.species[0].perturb.density.items[1].axis, AXIS_Y);
    assert_near(config.species[1].velocities.range[1][0], 2, 0);
    assert_true(config.species[2].random_key == (UINT64_C(4294967295) | UINT64_C(2) << 32));
    assert_int_equal(config.deposit.shape, SHAPE_TSC);
    assert_int_equal(config.output.history.modes[2][0], -32);
    assert_int_equal(config.output.phase_space[0].order[0], PHASE_AXIS_U);
}

TEST(the_echo_has_only_keys_that_belong)
{
    assert_ok(parse(least));
    char *text = assert_round_trip();
    assert_true(!strstr(text, "thermal: [1, 1]") && !strstr(text, "counts:"));
    assert_says(text, "bases: [2, 3]");
    free(text);
}

TEST(an_echo_that_cannot_be_written_fails)
{
    assert_ok(parse(least));
    for (int mode = _IOFBF; mode <= _IONBF; mode++) { /* unbuffered, it fails at the first byte */
        FILE *full = fopen("/dev/full", "w");
        assert_non_null(full);
        setvbuf(full, NULL, mode, mode == _IONBF ? 0 : BUFSIZ);
        assert_fails(config_echo(&config, full), "No space left");
        fclose(full);
    }
}

TEST(the_shipped_configs_read_and_echo)
{
    static const char *const names[] = {"landau_damping", "two_stream",  "plasma_oscillation",
                                        "ion_acoustic",   "driven_wave", "magnetised_wave",
                                        "isotropisation", "light_wave",  "whistler",
                                        "filamentation",  "weibel"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char path[64], folder[64];
        snprintf(path, sizeof path, "configs/%s.yaml", names[i]);
        snprintf(folder, sizeof folder, "output/%s", names[i]);
        assert_ok(keep(config_read(path, NULL, 0, &config)));
        assert_string_equal(config.output.directory, folder);
        free(assert_round_trip());
    }
}

TEST(a_folder_of_any_name_survives_the_echo)
{
    assert_ok(parse(least));
    snprintf(config.output.directory, sizeof config.output.directory, "%s",
             "a\nb\r\t\x7f \"q\" '\\' $(x); \xc2\x85 \xe2\x80\xa8 \xef\xbb\xbf \xf0\x9f\x99\x82 #:");
    free(assert_round_trip());
}

TEST(whole_numbers_with_an_exponent_and_by_formulas)
{
    assert_ok(parse(
        "{grid: {cells: [2^4, 64/8], length: [2, 1]}, time: {step: 1, steps: 1e12}, species: [{name: e, "
        "charge: -1, mass: 1, density: 1, particles: 2.5E2, velocities: {kind: cold}}]}"));
    assert_int_equal(config.grid.cells[0], 16);
    assert_int_equal(config.grid.cells[1], 8);
    assert_int_equal(config.time.steps, UINT64_C(1000000000000));
    assert_int_equal(config.species[0].particles, 250);
}

/* In numbers, whole ones, lists and formulas; also where grid.length has them, and of --set. */
TEST(constants_are_their_values)
{
    static const char form[] = "%s\ngrid: {cells: [%s, 8], length: [%s, 1]}\n"
                               "time: {step: %s, steps: %s}\n"
                               "species:\n"
                               "  - {name: ions, charge: %s, mass: 2, density: 1, particles: %s,\n"
                               "     velocities: {kind: maxwellian, thermal: [%s, 1]},\n"
                               "     profile: {density: '%s'}}\n"
                               "sort: {groups: %s}\noutput: {history: {modes: [[%s, 0]]}}\n";
    static struct config by_value;
    char text[1024];
    snprintf(text, sizeof text, form, "", "16", "4", "0.125", "128", "-0.25", "512", "3",
             "1 + (-0.25)*cos(0.5*x/lx)", "auto", "2");
    assert_ok(config_read_text("folder/test.yaml", text, strlen(text), NULL, 0, &by_value));
    snprintf(text, sizeof text, form, "constants: {E0: 8, k: 2/lx, T_e: 9, q: -1/lx, n: E0^2, auto: 3}",
             "2*E0", "4", "lx/32", "2*n", "q", "64*E0", "sqrt(T_e)", "1 + q*cos(k*x/lx)", "auto", "lx*k");
    assert_ok(parse(text));
    assert_true(config_is_same(&config, &by_value));
    snprintf(text, sizeof text, form, "constants: {L: 5, h: L/2, q: 0, m: L+11}", "m", "L-1", "0.25*h/5",
             "128", "q", "128*lx", "3", "1 + q*cos(2*h*x/lx)", "auto", "2");
    assert_ok(read_with(text, (const char *[]){"constants.h=L/10", "constants.q=-0.25"}, 2));
    assert_near(config.time.step, 0.025, 0);
    config.time.step = 0.125;
    memcpy(config.species[0].profile.density, by_value.species[0].profile.density, CONFIG_FORMULA_LENGTH);
    assert_true(config_is_same(&config, &by_value));
    config_free(&by_value);
}

TEST(constants_are_echoed_by_value)
{
    char text[1024];
    snprintf(text, sizeof text,
             "%sconstants: {k: 2*pi/lx, a: -k/3, unused: 1e-5}\n"
             "fields: {external: {E: ['exp(-k*x)*1e1 + a^2', '2*e*y + k', 0]}}\n",
             least);
    assert_echoes(text, "constants: |  k: 3.14159265358979|\n  a: -1.0471975511965976\n  unused: 1e-05\n|"
                        "E: [\"exp(-3.141592653589793*x)*1e1 + (-1.0471975511965976)^2\", \"2*e*y + "
                        "3.141592653589793\", \"0\"]");
    const double *constant = &config.constants[0].value;
    assert_near(*constant, acos(-1), 0);
    assert_int_equal(config.constant_count, 3);
}

TEST(a_refused_config_is_not_written)
{
    static struct config before;
    assert_int_equal(parse("grid: 3"), STATUS_USAGE);
    memset(&before, 0xA5, sizeof before);
    assert_memory_equal(&config, &before, sizeof config);
}

TEST(all_errors_come_at_once_in_order)
{
    assert_int_equal(
        parse("time: {steps: ten, step: 0}\n"
              "species:\n"
              "  - {name: a, charge: x, mass: 1, density: 1, particles: 64, positions: {bases: [2, 4]}}\n"
              "  - {name: a, charge: 1, mass: 1, density: 1, particles: 64}\n"
              "grid: {cells: [16, 8], length: [2, 1], lenght: 3}\n"
              "output: {history: {modes: [[9, 0], [1, 0], [0, 9]]}}\n"),
        STATUS_USAGE);
    assert_string_equal(
        status_message(),
        "folder/test.yaml:1:15: time.steps: expected a whole number from 0 to 1000000000000, found \"ten\"; "
        "position 1 of the formula: \"ten\" is not known\n"
        "folder/test.yaml:1:26: time.step: expected a number above 0, found \"0\"\n"
        "folder/test.yaml:3:23: species.a.charge: expected a finite number, found \"x\"; position 1 of the "
        "formula: \"x\" is not known\n"
        "folder/test.yaml:3:81: species.a.positions.bases: expected bases without a common factor, found 4, "
        "and 2 in positions.bases\n"
        "folder/test.yaml:4:12: species.a.name: expected one species of a name, found a twice\n"
        "folder/test.yaml:5:40: grid.lenght: unknown key; did you mean \"length\"? Known here: cells, "
        "length\n"
        "folder/test.yaml:6:28: output.history.modes.0: expected -8 to 8 along x, the Nyquist modes of the "
        "grid, found 9\n"
        "folder/test.yaml:6:44: output.history.modes.2: expected -4 to 4 along y, the Nyquist modes of the "
        "grid, found 9\n"
        "8 errors");
}

TEST(an_error_hides_only_the_rules_about_its_key)
{
    /* Without cells no mode can be judged, but the amplitude beside it can; without a kind, no counts. */
    assert_refuses(parse("grid: {cells: [16, x], length: [2, 1]}\n"
                         "time: {step: 0.1, steps: 10}\n"
                         "species:\n"
                         "  - {name: a, charge: 1, mass: 1, density: 1, particles: 64, positions: "
                         "{kind: lettice, counts: [8, 7]},\n"
                         "     perturb: {density: [{axis: x, mode: 99, amplitude: 2}]}}\n"
                         "output: {history: {modes: [[9, 0]]}}\n"),
                   ":1:20: grid.cells: expected", ":4:80: species.a.positions.kind: expected",
                   ":5:57: species.a.perturb.density.0.amplitude", "\n3 errors");
}

TEST(too_many_errors_are_counted)
{
    enum { LINES = 3000 };
    static char text[sizeof least + LINES * sizeof("k1234: 1\n")];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", least);
    for (int i = 0; i < LINES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "k%d: 1\n", i);
    assert_refuses(parse(text), "\nand 2980 more errors");
}

TEST(other_line_ends_and_a_byte_order_mark_are_fine)
{
    char text[2 * sizeof least];
    size_t used = (size_t)snprintf(text, sizeof text, "\xef\xbb\xbf");
    for (const char *at = least; *at; at++) {
        if (*at == '\n')
            text[used++] = '\r';
        text[used++] = *at;
    }
    text[used] = '\0';
    assert_ok(parse(text));
    assert_int_equal(config.species[1].particles, 32);
}

TEST(files_are_read_or_refused_by_name)
{
    struct folder folder = folder_make();
    const char *path = folder_file(&folder, "some.yaml");
    write_text(path, least);
    assert_ok(keep(config_read(path, NULL, 0, &config)));
    assert_string_equal(config.output.directory, "output/some");
    folder_remove(&folder);
    assert_refuses(config_read(path, NULL, 0, &config), path, "cannot read the config: No such file");
    assert_int_equal(config_read("/tmp", NULL, 0, &config), STATUS_USAGE);
    assert_string_equal(status_message(), "/tmp: cannot read the config: Is a directory");
}

TEST(a_huge_file_is_refused_and_the_largest_is_not)
{
    const size_t most = (size_t)1 << 20;
    struct folder folder = folder_make();
    const char *path = folder_file(&folder, "some.yaml");
    char *bytes = test_array(most + 1, 1);
    memset(bytes, '#', most + 1);
    memcpy(bytes, least, strlen(least));
    write_file(path, bytes, most);
    assert_ok(keep(config_read(path, NULL, 0, &config)));
    write_file(path, bytes, most + 1);
    assert_refuses(config_read(path, NULL, 0, &config),
                   "expected a config of at most 1048576 bytes, found more");
    folder_remove(&folder);
}

/* A normal distribution cut at 2 standard deviations, and one that goes as v, have the moments of the
 * formulas; of what they have up to 6 and up to 4 the rest is lost. The half of a disc that is in the range
 * is a sum over squares of 2/256. */
TEST(densities_have_moments_and_losses)
{
    static const char *const settings[] = {
        "species.ions.velocities={kind: formula, range: [[-1, 3], [0, 2]], density: [exp(-(u-1)^2/2), v]}",
        "species.electrons.velocities={kind: formula, range: [[-1, 1], [0, 2]], density: [u^2+v^2<1, 1]}"};
    assert_ok(read_with(least, settings, 2));
    const struct velocities_config *cut = &config.species[1].velocities,
                                   *disc = &config.species[0].velocities;
    const double within = erf(sqrt(2)), density = exp(-2) / sqrt(2 * M_PI);
    assert_near(cut->drift[0], 1, 1e-6);
    assert_near(cut->thermal[0], sqrt(1 - 4 * density / within), 1e-6);
    assert_near(cut->drift[1], 4 / 3.0, 1e-6);
    assert_near(cut->thermal[1], sqrt(2) / 3, 1e-6);
    assert_near(cut->lost, 1 - within / erf(6 / sqrt(2)) * 0.25, 1e-6);
    assert_near(species_fastest_speed(&config.species[1], 0), 3, 0);
    assert_near(disc->drift[1], 4 / (3 * M_PI), 1e-3);
    assert_near(disc->thermal[0], 0.5, 1e-3);
    assert_near(disc->lost, 0.5, 1e-3);
}

TEST(settings_change_and_add_values)
{
    static const char *const settings[] = {
        "species.electrons.particles=4096",
        "species.1.particles=128",
        "grid.cells=[64,64]",
        "grid.cells=[32, 64]", /* the later wins */
        "output.history.modes=[[1,0],[2,0]]",
        "output.history.modes.1=[3, 4]",
        "title=words with = and spaces",
        "units.temperature_eV=7",
        "species.ions.velocities={kind: uniform, range: [[-1, 1], [0, 2]]}",
        "species.electrons.perturb.density=[{axis: x, mode: 1, amplitude: 0.5}]",
        "species.electrons.perturb.density.0.amplitude=0.25",
        "output.phase_space=[{species: ions, axes: [{axis: u, bins: 8, range: [0, 1]}]}]",
        "output.phase_space.0.axes.0.bins=64",
    };
    assert_ok(read_with(least, settings, COUNT_OF(settings)));
    assert_int_equal(config.species[0].particles, 4096);
    assert_int_equal(config.species[1].particles, 128);
    assert_int_equal(config.grid.cells[0], 32);
    assert_int_equal(config.grid.cells[1], 64);
    assert_int_equal(config.output.history.mode_count, 2);
    assert_int_equal(config.output.history.modes[0][0], 1);
    assert_int_equal(config.output.history.modes[1][1], 4);
    assert_string_equal(config.title, "words with = and spaces");
    assert_near(config.units.temperature_eV, 7, 0);
    assert_near(config.units.density_per_m3, 1e18, 0);
    assert_int_equal(config.species[1].velocities.kind, VELOCITIES_FORMULA);
    assert_near(config.species[1].velocities.drift[1], 1, 1e-15);
    assert_near(species_thermal_speed(&config.species[1], 1), 2 / sqrt(12), 1e-7);
    assert_true(config.species[1].velocities.lost == 0 && species_fastest_speed(&config.species[1], 1) == 2);
    assert_near(config.species[1].velocities.range[1][1], 2, 0);
    assert_near(config.species[0].perturb.density.items[0].amplitude, 0.25, 0);
    assert_int_equal(config.output.phase_space[0].axes[0].bins, 64);
}

TEST(settings_may_give_what_the_file_lacks_or_got_wrong)
{
    static const char file[] = "grid: {cells: [16, many]}\ntime: {step: 0.1}\n";
    static const char *const settings[] = {
        "grid.cells=[16, 8]",         "grid.length=[1, 2]",
        "time={step: 0.5, steps: 3}", "species=[{name: e, charge: 1, mass: 1, density: 1}]",
        "species.e.particles=5",
    };
    assert_ok(read_with(file, settings, COUNT_OF(settings)));
    assert_int_equal(config.time.steps, 3);
    assert_near(config.time.step, 0.5, 0);
    assert_near(config.grid.length[1], 2, 0);
    assert_int_equal(config.species[0].particles, 5);
}

TEST(errors_of_settings_follow_those_of_the_file)
{
    static const char *const settings[] = {"time.stpes=3", "units.density_per_m3=0"};
    static const char file[] = "grid: {cells: [16, 8], length: [2, 1]}\n"
                               "time: {step: 0.1, steps: x}\n"
                               "species: [{name: e, charge: -1, mass: 1, density: 1, particles: 64}]\n";
    assert_int_equal(read_with(file, settings, 2), STATUS_USAGE);
    const char *message = status_message();
    assert_int_equal(strncmp(message, "folder/test.yaml:2:26: time.steps: expected", 43), 0);
    const char *first = strstr(message, "\n--set time.stpes=3: ");
    const char *second = strstr(message, "\n--set units.density_per_m3=0: ");
    assert_non_null(first);
    assert_non_null(second);
    assert_true(first < second);
    assert_says(message, "\n3 errors");
}

TEST(bases_that_are_not_in_use_do_not_count)
{
    static const char *const positions = "species.electrons.positions.bases=[5, 7]"; /* velocities are cold */
    static const char *const lattice[] = {"species.electrons.positions={kind: lattice, counts: [8, 8]}",
                                          "species.electrons.velocities={kind: maxwellian, bases: [2, 3]}"};
    static const char *const random[] = {
        "species.electrons.positions.bases=[5, 7]",
        "species.electrons.velocities={kind: maxwellian, generator: random}"};
    assert_ok(read_with(least, &positions, 1));
    assert_ok(read_with(least, lattice, 2));
    assert_int_equal(config.species[0].positions.bases[0], 0);
    assert_ok(read_with(least, random, 2));
}

/* Standard deviations of v = u/gamma over 400,000 random u of these densities, at c = 10. */
TEST(juttner_speeds_are_those_of_their_temperatures)
{
    static const double thermal[][3] = {{1, 1, 50}, {20, 1, 1}, {5, 5, 5}};
    static const double across[] = {0.4611, 0.6590, 3.931}, along[] = {8.860, 7.496, 3.931};
    struct species_config species = {.per_c_squared = 0.01, .velocities = {.kind = VELOCITIES_JUTTNER}};
    for (int n = 0; n < 3; n++) {
        memcpy(species.velocities.thermal, thermal[n], sizeof thermal[n]);
        for (int axis = 0; axis < 3; axis++)
            assert_near(species_thermal_speed(&species, axis) /
                            (axis == (n == 0 ? 2 : 0) ? along[n] : across[n]),
                        1, 3e-3);
    }
}

TEST(the_number_of_species_is_limited)
{
    char list[4096] = "species=[";
    const char *setting = list;
    for (int i = 0; i < CONFIG_MAX_SPECIES; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used,
                 "%s{name: s%d, charge: 1, mass: 1, density: 1, particles: 1}", i > 0 ? ", " : "", i);
    }
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "]");
    assert_ok(read_with(least, &setting, 1));
    assert_int_equal(config.species_count, CONFIG_MAX_SPECIES);
    assert_string_equal(config.species[15].name, "s15");
    free(assert_round_trip());
    snprintf(list + used, sizeof list - used, ", {name: last}]");
    assert_refuses(read_with(least, &setting, 1),
                   "species: expected a list of 1 to 16 items, found a list of 17");
}

TEST_MAIN(NULL, NULL)
