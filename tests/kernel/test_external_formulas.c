/* External: formulas on the nodes as the device has them, against muParser. */
#include "support/device_fixture.h"

#include "config/formula_source.h"
#include "field/external.h"
#include "field/tabulate.h"
#include "support/config_of_test.h"
#include "support/field_support.h"

/* Every operator and function. x is in [0, 3), y in [0, 5), t 0.75. */
static const char *const formulas[] = {
    "x + y - t",
    "x - y - 1 + t",
    "x*y/(t + 1)/3",
    "x/2*y",
    "1/4 + 3/4",
    "-x^2",
    "2^x^0.5",
    "(x + 1)^-y^2",
    "2^-x*3",
    "(x - 1)^3",
    "-x*-y + -t",
    "+x - +y",
    "x < 1",
    "x > 1",
    "(x <= 1.5)/(y + 1)",
    "(x >= 1.5)/2",
    "x == 1.5",
    "x != 1.5",
    "1 == y < x",
    "3 > x > 0.5",
    "x != 0 == 1",
    "x < 1 && y > 1",
    "x < 1 || y > 1 && x > 2",
    "x - 1 && y || t",
    "x > 1 ? y : t",
    "x ? y > 2 ? 1 : 2 : 3",
    "x > 1 ? 1 : y > 2 ? 2 : 3 + t",
    "1 + (x < 1 ? 2 : 3)*2",
    "sin(2*pi*x/lx - 30*t)",
    "cos(4*pi*y/ly + 1000*t)",
    "tan(x/3)",
    "asin(x/4)",
    "acos(y/6)",
    "atan(x - 1)",
    "atan2(y - 2, x - 1)",
    "sinh(x - 1)",
    "cosh(y - 2)",
    "tanh(x - 1)",
    "asinh(x - 1)",
    "acosh(x + 1)",
    "atanh(x/4)",
    "exp(-((x - lx/2)^2 + (y - ly/2)^2)/t)",
    "ln(x + 1)",
    "log(x + e)",
    "log2(x + 1)",
    "log10(y + 1)",
    "sqrt(x*y)",
    "abs(x - 1)",
    "sign(x - 1.5)",
    "rint(2*x - 2.5)",
    "min(x, y, 1)",
    "max(x, y - 1, t, 0.5)",
    "sum(x)",
    "sum(x, y - t, 1e-3)",
    "avg(x, y, t)",
    "min(x) + max(y > 1, 2)",
    "1e2*x - .5e-1 + 3.E1",
    "_pi - _e",
    "123456789.123456789*x",
    "0.1 + 1e-7*t",
};
enum { FORMULAS = sizeof formulas / sizeof formulas[0], COMPONENTS = 6 };

static const char box[] = "grid: {cells: [6, 10], length: [3, 5]}\n"
                          "time: {step: 0.1, steps: 10}\n"
                          "fields: {solver: electromagnetic, speed_of_light: 2}\n"
                          "species: [{name: e, charge: -1, mass: 1, density: 1, particles: 100,\n"
                          "  velocities: {kind: cold, dimensions: 3}}]\n";

struct scene {
    struct config config;
    struct communicator alone;
    struct external *external;
    struct fields fields, felt;
    struct slab slab;
};

static void scene_create(struct scene *scene, enum precision precision, const struct slab *slab,
                         const char *const texts[COMPONENTS])
{
    scene->config = test_config(box, NULL, 0);
    scene->config.precision = precision;
    scene->config.time.step = 0.7; /* above what a config may have, for places that are the same in it */
    scene->alone = (struct communicator){.size = 1};
    scene->slab = *slab;
    for (int c = 0; c < COMPONENTS; c++)
        strcpy(scene->config.fields.external[c / 3][c % 3], texts[c]);
    const struct rank_place place = {
        .device = device, .communicator = &scene->alone, .slab = &scene->slab, .precision = precision};
    assert_ok(fields_create(device, &slab->local, precision, SOLVER_ELECTROMAGNETIC, &scene->fields));
    assert_ok(buffer_fill(scene->fields.all, 0));
    assert_ok(external_create(&place, &scene->config, &scene->external));
}

/* Component c of a buffer on the nodes of a slab, against muParser, which rounds in double precision too:
 * some of its roundings, of numbers up to 1,000, and the last one to the state's precision. */
static void check_values(const struct buffer *buffer, uint32_t c, enum precision precision,
                         const struct slab *slab, const char *text, double time)
{
    const uint32_t nodes = grid_cells(&slab->local);
    const size_t stride = buffer_view_stride(nodes * precision_bytes(precision)) / precision_bytes(precision);
    double *expected = field_numbers(nodes), *found = field_numbers(nodes);
    assert_ok(buffer_read_reals(buffer, precision, c * stride, nodes, found));
    assert_ok(tabulate(slab, "E", text, time, expected));
    for (uint32_t n = 0; n < nodes; n++) {
        const double tolerance = 1e-11 + test_epsilon(precision) * 0.51 * fabs(expected[n]);
        if (!(fabs(found[n] - expected[n]) <= tolerance) && !slab_is_lost(slab, n / slab->local.ny))
            fail_msg("%s is %.17g at node %u, found %.17g", text, expected[n], n, found[n]);
    }
}

/* One program for all, as that of a config for six. */
static struct kernel *kernel_of_all(enum precision precision)
{
    static const struct formula_name names[] = {{"x", "x"}, {"y", "y"}, {"t", "t"}, {NULL, NULL}};
    char lines[16384] = "#define FORMULAS ", why[FORMULA_WHY_LENGTH], *source;
    struct program *program;
    struct kernel *kernel;
    for (int n = 0; n < FORMULAS; n++) {
        if (!formula_source(formulas[n], names, (double[]){3, 5}, &source, why))
            fail_msg("%s: %s", formulas[n], why);
        assert_true(strlen(lines) + strlen(source) + 3 < sizeof lines);
        strcat(strcat(lines, source), n < FORMULAS - 1 ? "," : "\n");
        free(source);
    }
    assert_ok(program_build_after(device, lines, "external.cl", precision, &program));
    assert_ok(kernel_create(program, "external_tabulate", &kernel));
    return kernel;
}

TEST(formulas_are_those_of_muparser)
{
    const struct grid grid = field_grid(6, 10, 3, 5);
    const struct slab slab = slab_whole_box(&grid);
    const double place[6] = {0.5, 0.5, 0.75};
    for (int n = 0; n < 2; n++) {
        const enum precision precision = field_precisions[n];
        if (!has_precision(precision))
            continue;
        const size_t bytes = buffer_view_stride(60 * precision_bytes(precision));
        struct buffer *values = test_buffer(FORMULAS * bytes, NULL);
        struct buffer *mark = test_buffer(sizeof(uint32_t), &(uint32_t){UINT32_MAX});
        assert_ok(KERNEL_LAUNCH(kernel_of_all(precision), launch_flat(60, STAGE_OTHER, 0), 6U, 10U, 6U, 0U,
                                6U, arg_reals(place, 6), (uint32_t)(bytes / precision_bytes(precision)),
                                values, mark));
        for (uint32_t c = 0; c < FORMULAS; c++)
            check_values(values, c, precision, &slab, formulas[c], 0.75);
    }
}

/* Rows above and below those of a rank, around the end of the box; and the values follow the time. In single
 * precision too waves of many turns have their phase. */
TEST(every_row_of_a_slab_has_its_place_and_every_step_its_time)
{
    static const char *const texts[COMPONENTS] = {
        "x + 10*y + 100*t", "sin(300*x)*cos(1000*t)", "cos(200*y)", "3", "0", "y*t"};
    const struct grid grid = field_grid(20, 4, 7, 3);
    for (uint32_t first = 0; first < 20; first += 6)
        for (int n = 0; n < 2; n++) {
            const struct slab slab = slab_make(&grid, first, 6, 3);
            struct scene scene;
            assert_false(slab_is_whole(&slab));
            if (!has_precision(field_precisions[n]))
                continue;
            scene_create(&scene, field_precisions[n], &slab, texts);
            for (uint64_t step = 3; step < 6; step++) {
                assert_ok(external_apply(scene.external, &scene.fields, step, &scene.felt));
                for (uint32_t c = 0; c < COMPONENTS; c++)
                    check_values(scene.felt.felt, c, field_precisions[n], &slab, texts[c],
                                 (double)step * scene.config.time.step);
            }
        }
}

/* At once in the first step; later where the host asks. In single precision a value may be too large. */
TEST(a_value_that_is_not_finite_is_refused)
{
    static const char *const at_once[COMPONENTS] = {"0", "x", "1/(y-2)", "0", "0", "t"};
    static const char *const later[COMPONENTS] = {"0", "0", "0", "0", "ln(2 - t + 0*x)", "0"};
    static const char *const too_large[COMPONENTS] = {"1e30*x^30*t", "0", "0", "0", "0", "0"};
    const struct grid grid = field_grid(6, 10, 3, 5);
    const struct slab slab = slab_whole_box(&grid);
    struct scene scene;
    scene_create(&scene, PRECISION_SINGLE, &slab, at_once);
    assert_fails(external_apply(scene.external, &scene.fields, 1, &scene.felt),
                 "fields.external.E: the formula 1/(y-2) is inf at x = 0, y = 2, t = 0.7");
    scene_create(&scene, PRECISION_SINGLE, &slab, later);
    for (uint64_t step = 0; step < 5; step++) {
        assert_ok(external_apply(scene.external, &scene.fields, step, &scene.felt));
        if (step > 0) /* the queue may not have come further: what follows is still looked at */
            assert_ok(external_require_finite(scene.external, 1));
    }
    assert_fails(external_require_finite(scene.external, 4),
                 "fields.external.B: the formula ln(2 - t + 0*x) is", "nan at x = 0, y = 0, t = 2.1");
    scene_create(&scene, PRECISION_SINGLE, &slab, too_large);
    assert_ok(external_apply(scene.external, &scene.fields, 0, &scene.felt));
    assert_ok(external_apply(scene.external, &scene.fields, 1, &scene.felt));
    assert_fails(external_require_finite(scene.external, 1),
                 "fields.external: a formula is not finite at x = 2, y = 0, up to t = 0.7");
}

TEST_MAIN(open_device, close_device)
