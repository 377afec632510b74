/* Electromagnetic: the whole step against a second program, and what it keeps. */
#include "support/electromagnetic_support.h"
#include "support/sorted_particles.h"
#include "support/vectors.h"

/* ---- a slow, obvious twin ---- */

/* A small odd grid, on which no mode is at Nyquist, with light, a uniform B at an angle, means of E and B,
 * and two sorts of particles up to 0.8 c, with a mean current. */
static const char twin_plasma[] =
    "grid: {cells: [9, 7], length: [4.5, 5]}\n"
    "time: {step: 0.03, steps: 100}\n"
    "precision: double\n"
    "species:\n"
    "  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 600, ids: true,\n"
    "     velocities: {kind: maxwellian, dimensions: 3, drift: [1, -0.5, 2]}}\n"
    "  - {name: ions, charge: 2, mass: 5, density: 0.5, particles: 400, ids: true,\n"
    "     velocities: {kind: maxwellian, dimensions: 3, thermal: [0.3, 0.5, 0.4]}}\n"
    "fields: {solver: electromagnetic, speed_of_light: 10, magnetic: [0.3, -0.5, 0.8], initial: {\n"
    "  E: [\"sin(2*pi*(2*x/lx - y/ly))/ly + 0.2\", \"2*sin(2*pi*(2*x/lx - y/ly))/lx - 0.1\",\n"
    "      \"0.4*cos(2*pi*3*y/ly) + 0.3\"],\n"
    "  B: [\"0.04*cos(2*pi*y/ly) + 0.02\", \"0.03*sin(2*pi*x/lx)\", \"0.1*cos(2*pi*(x/lx + y/ly)) - "
    "0.01\"]}}\n"
    "deposit: {shape: %s, filter_passes: %d}\n"
    "step: {method: %s}\n";

enum { NX = 9, NY = 7, CELLS = NX * NY, COUNT = 1000 };

struct twin {
    double step, light, length[2], uniform[3];
    int order, passes;
    double position[COUNT][2], u[COUNT][3]; /* in cells; gamma v */
    double charge[COUNT], charge_per_mass[COUNT];
    double complex e[CELLS][3], b[CELLS][3]; /* modes of E_T and B */
    double nodes[WAVE_FIELDS][CELLS];        /* E and B */
};

/* exp(2 pi i (m i/NX + n j/NY)) of mode (m, n) = a and node (i, j) = b */
static double complex wave(int a, int b)
{
    const int turn = (a / NY) * (b / NY) % NX * NY + (a % NY) * (b % NY) % NY * NX;
    return cexp(2 * M_PI * I * (turn % CELLS) / CELLS);
}

static void wave_number(const struct twin *twin, int mode, double k[3])
{
    const int m = mode / NY, n = mode % NY;
    k[0] = 2 * M_PI / twin->length[0] * (m > NX / 2 ? m - NX : m);
    k[1] = 2 * M_PI / twin->length[1] * (n > NY / 2 ? n - NY : n);
    k[2] = 0;
}

#define CROSS(a, b, axis)                                                                                    \
    ((a)[((axis) + 1) % 3] * (b)[((axis) + 2) % 3] - (a)[((axis) + 2) % 3] * (b)[((axis) + 1) % 3])

static double gamma_of(const struct twin *twin, const double u[3])
{
    return sqrt(1 + dot(u, u) / (twin->light * twin->light));
}

/* The weights of a place, in cells, on all nodes. */
static void weigh(const struct twin *twin, const double at[2], double weights[CELLS])
{
    for (int node = 0; node < CELLS; node++)
        weights[node] = shape_spline(twin->order, remainder(at[0] - node / NY, NX)) *
                        shape_spline(twin->order, remainder(at[1] - node % NY, NY));
}

/* rho at n (component 0), and J at n-1/2 (1 to 3) on the nodes. */
static void deposit(const struct twin *twin, double sources[4][CELLS])
{
    const double cell[2] = {twin->length[0] / NX, twin->length[1] / NY};
    double weights[CELLS];
    memset(sources, 0, sizeof(double[4][CELLS]));
    for (int p = 0; p < COUNT; p++) {
        const double gamma = gamma_of(twin, twin->u[p]), *at = twin->position[p];
        double middle[2];
        for (int axis = 0; axis < 2; axis++)
            middle[axis] = at[axis] - twin->u[p][axis] / gamma * twin->step / 2 / cell[axis];
        weigh(twin, at, weights);
        for (int node = 0; node < CELLS; node++)
            sources[0][node] += twin->charge[p] * weights[node] / cell[0] / cell[1];
        weigh(twin, middle, weights);
        for (int axis = 0; axis < 3; axis++)
            for (int node = 0; node < CELLS; node++)
                sources[1 + axis][node] +=
                    twin->charge[p] * weights[node] * twin->u[p][axis] / gamma / cell[0] / cell[1];
    }
}

/* v without its part along k */
static void make_transverse(const double k[3], double complex v[3])
{
    const double square = k[0] * k[0] + k[1] * k[1];
    const double complex along = square > 0 ? (k[0] * v[0] + k[1] * v[1]) / square : 0;
    for (int axis = 0; axis < 3; axis++)
        v[axis] -= k[axis] * along;
}

/* Mode by mode from n-1 to n, unless n is 0; then E and B on the nodes. */
static void solve(struct twin *twin, int n)
{
    double sources[4][CELLS];
    deposit(twin, sources);
    memset(twin->nodes, 0, sizeof twin->nodes);
    for (int mode = 0; mode < CELLS; mode++) {
        double k[3];
        wave_number(twin, mode, k);
        const double square = k[0] * k[0] + k[1] * k[1], ck = twin->light * sqrt(square);
        const double smoothing = pow(
            cos(k[0] * twin->length[0] / NX / 2) * cos(k[1] * twin->length[1] / NY / 2), 2 * twin->passes);
        double complex rho = 0, j[3] = {0, 0, 0}, *e = twin->e[mode], *b = twin->b[mode];
        for (int node = 0; node < CELLS; node++) {
            const double complex to_mode = conj(wave(mode, node)) * smoothing / CELLS;
            rho += sources[0][node] * to_mode;
            for (int axis = 0; axis < 3; axis++)
                j[axis] += sources[1 + axis][node] * to_mode;
        }
        make_transverse(k, j);
        for (int axis = 0; axis < 3 && mode == 0 && n > 0; axis++)
            e[axis] -= twin->step * j[axis];
        if (mode > 0 && n > 0) {
            const double c = cos(ck * twin->step), s = sin(ck * twin->step) / ck, m = (1 - c) / (ck * ck);
            double complex e_new[3], b_new[3];
            for (int axis = 0; axis < 3; axis++) {
                e_new[axis] = c * e[axis] + s * (I * twin->light * twin->light * CROSS(k, b, axis) - j[axis]);
                b_new[axis] = c * b[axis] - s * I * CROSS(k, e, axis) + m * I * CROSS(k, j, axis);
            }
            memcpy(e, e_new, sizeof e_new);
            memcpy(b, b_new, sizeof b_new);
        }
        for (int node = 0; node < CELLS; node++)
            for (int axis = 0; axis < 3; axis++) {
                const double complex total = e[axis] - (mode > 0 ? I * k[axis] * rho / square : 0);
                twin->nodes[axis][node] += creal(total * wave(mode, node));
                twin->nodes[3 + axis][node] += creal(b[axis] * wave(mode, node));
            }
    }
}

/* u at n-1/2 and x at n to n+1/2 and n+1; with `starts` u at 0 to -1/2. */
static void push(struct twin *twin, bool starts)
{
    for (int p = 0; p < COUNT; p++) {
        double weights[CELLS], field[WAVE_FIELDS] = {0}, *u = twin->u[p];
        weigh(twin, twin->position[p], weights);
        for (int c = 0; c < WAVE_FIELDS; c++)
            for (int node = 0; node < CELLS; node++)
                field[c] += weights[node] * twin->nodes[c][node];
        double along[3], old[3];
        for (int axis = 0; axis < 3; axis++)
            along[axis] = field[3 + axis] + twin->uniform[axis];
        const double size = sqrt(dot(along, along)), half = twin->charge_per_mass[p] * twin->step / 2;
        for (int axis = 0; axis < 3; axis++) {
            along[axis] /= size;
            old[axis] = u[axis] + (starts ? 0 : half * field[axis]);
        }
        const double angle = 2 * atan(half * size / gamma_of(twin, old));
        turn(old, along, starts ? -angle / 2 : angle, u);
        for (int axis = 0; axis < 3; axis++)
            u[axis] += (starts ? -half : half) * field[axis];
        for (int axis = 0; axis < 2 && !starts; axis++)
            twin->position[p][axis] +=
                twin->step * u[axis] / gamma_of(twin, u) * (axis ? NY : NX) / twin->length[axis];
    }
}

/* The particles of a run, by id, species after species. */
static void read_particles(const struct simulation *simulation, double (*position)[2], double (*u)[3])
{
    for (uint64_t s = 0, first = 0; s < 2; first += simulation->particles[s++].count) {
        const struct sorted_particles list = sorted_particles_read(&simulation->particles[s], CELLS);
        for (uint32_t p = 0; p < list.particles.count; p++) {
            const uint64_t n = first + list.id[p];
            position[n][0] = list.cell[p] / NY + list.offset[p][0];
            position[n][1] = list.cell[p] % NY + list.offset[p][1];
            memcpy(u[n], list.velocity[p], sizeof list.velocity[p]);
            u[n][2] = list.w[p];
        }
    }
}

/* The initial formulas of twin_plasma: amplitudes of exp(i k x) at modes (m, n), their conjugates added. */
static void start_waves(struct twin *twin)
{
    static const struct {
        int field, axis, m, n;
        double complex amplitude;
    } terms[] = {{0, 0, 2, -1, 0.1 / I}, {0, 1, 2, -1, 1 / 4.5 / I}, {0, 2, 0, 3, 0.2},
                 {1, 0, 0, 1, 0.02},     {1, 1, 1, 0, 0.015 / I},    {1, 2, 1, 1, 0.05},
                 {0, 0, 0, 0, 0.1},      {0, 1, 0, 0, -0.05},        {0, 2, 0, 0, 0.15},
                 {1, 0, 0, 0, 0.01},     {1, 2, 0, 0, -0.005}};
    for (size_t t = 0; t < sizeof terms / sizeof terms[0]; t++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const int mode = (sign * terms[t].m + NX) % NX * NY + (sign * terms[t].n + NY) % NY;
            double complex(*of)[3] = terms[t].field ? twin->b : twin->e;
            of[mode][terms[t].axis] += sign > 0 ? terms[t].amplitude : conj(terms[t].amplitude);
        }
}

/* The twin of a run that starts. */
static struct twin *make_twin(const struct config *config, const struct simulation *simulation)
{
    struct twin *twin = test_array(1, sizeof *twin);
    const struct grid *grid = &simulation->slab.box;
    twin->step = config->time.step;
    twin->light = config->fields.speed_of_light;
    twin->order = (int)config->deposit.shape;
    twin->passes = (int)config->deposit.filter_passes;
    memcpy(twin->length, config->grid.length, sizeof twin->length);
    memcpy(twin->uniform, config->fields.magnetic, sizeof twin->uniform);
    read_particles(simulation, twin->position, twin->u);
    for (int p = 0; p < COUNT; p++) {
        const struct species_config *species = &config->species[p >= 600];
        twin->charge[p] =
            species->charge * species->density * grid->lx * grid->ly / (double)species->particles;
        twin->charge_per_mass[p] = species->charge / species->mass;
    }
    start_waves(twin);
    return twin;
}

/* The nodes' E and B are the twin's; and i k E = rho, where k is not 0, and k B = 0: no mode is at Nyquist.
 */
static void compare_fields(const struct twin *twin, const struct simulation *simulation, double most[3])
{
    double nodes[WAVE_FIELDS][CELLS], rho[CELLS];
    electromagnetic_read(simulation, FIELD_RHO, 0, rho);
    for (uint32_t c = 0; c < WAVE_FIELDS; c++) {
        electromagnetic_read(simulation, c < 3 ? FIELD_E : FIELD_B, c % 3, nodes[c]);
        for (int node = 0; node < CELLS; node++)
            most[0] = fmax(most[0], fabs(nodes[c][node] - twin->nodes[c][node]));
    }
    for (int mode = 0; mode < CELLS; mode++) {
        double k[3];
        double complex charge = 0, of_e = 0, of_b = 0;
        wave_number(twin, mode, k);
        for (int node = 0; node < CELLS; node++) {
            const double complex to_mode = conj(wave(mode, node)) / CELLS;
            charge += mode == 0 ? 0 : rho[node] * to_mode;
            of_e += I * (k[0] * nodes[0][node] + k[1] * nodes[1][node]) * to_mode;
            of_b += I * (k[0] * nodes[3][node] + k[1] * nodes[4][node]) * to_mode;
        }
        most[1] = fmax(most[1], cabs(of_e - charge));
        most[2] = fmax(most[2], cabs(of_b));
    }
}

static void compare_with_twin(const char *shape, int passes, const char *method)
{
    const struct config config = electromagnetic_config(twin_plasma, shape, passes, method);
    struct simulation simulation;
    double(*position)[2] = test_array(COUNT, sizeof *position), (*u)[3] = test_array(COUNT, sizeof *u);
    double most[3] = {0, 0, 0};
    assert_ok(simulation_create(&config, device, &simulation));
    struct twin *twin = make_twin(&config, &simulation);
    for (int n = 0; !simulation_done(&simulation); n++) {
        solve(twin, n);
        if (n == 0)
            push(twin, true);
        assert_ok(simulation_solve(&simulation));
        compare_fields(twin, &simulation, most);
        assert_ok(simulation_step(&simulation));
        if (n < (int)config.time.steps)
            push(twin, false);
    }
    print_message("%s, %s: E and B differ by %.1e, div E from rho by %.1e, div B from 0 by %.1e\n", shape,
                  method, most[0], most[1], most[2]);
    assert_near(most[0], 0, 1e-11);
    assert_near(most[1], 0, 1e-13);
    assert_near(most[2], 0, 1e-14);
    read_particles(&simulation, position, u);
    for (int p = 0; p < COUNT; p++)
        for (int axis = 0; axis < 3; axis++) {
            assert_near(u[p][axis], twin->u[p][axis], 1e-11);
            if (axis < 2) /* the shorter way around the box */
                assert_near(remainder(position[p][axis] - twin->position[p][axis], axis ? NY : NX), 0, 1e-11);
        }
    simulation_destroy(&simulation);
}

/* 100 steps of numbers up to 8 add up roundings to some 1e-14. */
TEST(run_agrees_with_its_twin_to_round_off_and_keeps_gauss_law)
{
    compare_with_twin("cic", 0, "radix");
    compare_with_twin("tsc", 1, "tiled");
    compare_with_twin("quartic", 0, "chunked");
}

/* ---- what a run keeps ---- */

/* A warm plasma of cells of a Debye length, with these words on its fields. */
static struct config warm_plasma(uint32_t nx, uint32_t ny, uint32_t particles, double step, int steps,
                                 const char *solver)
{
    return electromagnetic_config(
        "grid: {cells: [%u, %u], length: [%u, %u]}\n"
        "time: {step: %g, steps: %d}\n"
        "precision: double\n"
        "species: [{name: e, charge: -1, mass: 1, density: 1, particles: %u,\n"
        "  velocities: {kind: maxwellian, dimensions: 3}, perturb: {density: [\n"
        "  {axis: x, mode: 1, amplitude: 0.2}, {axis: y, mode: 1, amplitude: -0.1}]}}]\n"
        "fields: {%s}\n",
        nx, ny, nx, ny, step, steps, particles, solver);
}

/* A thermal plasma that starts with E_T = B = 0 radiates its noise into light for a while, at the cost of
 * some 1e-4 of the total energy. */
static void check_energy(uint32_t side, uint32_t particles, int steps, enum shape_kind shape, double bound)
{
    struct config config =
        warm_plasma(side, side, particles, 0.04, steps,
                    "solver: electromagnetic, speed_of_light: 10, magnetic: [0.3, -0.2, 0.4]");
    config.species[0].perturb.density.count = 0;
    config.deposit.shape = shape;
    config.deposit.filter_passes = shape == SHAPE_TSC;
    const struct history_row *rows = physics_run(&config);
    double most = 0;
    for (uint64_t n = 0; n <= config.time.steps; n++)
        most = fmax(most, fabs(history_total_energy(&rows[n]) / history_total_energy(&rows[0]) - 1));
    print_message("%u particles, %d steps: energy within %.2e\n", particles, steps, most);
    assert_near(most, 0, bound);
}

TEST(energy_of_a_thermal_plasma_keeps)
{
    needs_speed();
    check_energy(32, 65536, 500, SHAPE_CIC, 4e-4);
    check_energy(16, 4096, 10000, SHAPE_TSC, 2e-3); /* 16 a cell, filtered; cic without it heats by 9e-3 */
}

/* Electrons that drift over a background at rest: E' = E - dt J and u' = u - dt E are E at 0, 1 and so on,
 * and E(n-1) + E(n+1) = (2 - dt^2) E(n), of all components, whatever the box and the shape do to waves. The
 * finite c adds (v/c)^2 = 2e-13 of them, and their rounding, of numbers up to 1e-6, is less. */
TEST(a_mean_drift_oscillates_at_the_plasma_frequency_of_the_scheme)
{
    enum { STEPS = 100 };
    const double dt = 0.1, turn = acos(1 - dt * dt / 2), v[3] = {1e-6, 2e-6, -3e-6},
                 start[3] = {2e-6, 0, 1e-6};
    const struct config config = electromagnetic_config(
        "grid: {cells: [6, 4], length: [6, 4]}\n"
        "time: {step: %g, steps: %d}\n"
        "precision: double\n"
        "species: [{name: e, charge: -1, mass: 1, density: 1, particles: 48, positions: {kind: lattice, "
        "counts: "
        "[12, 4]}, velocities: {kind: cold, dimensions: 3, drift: [%g, %g, %g]}}]\n"
        "fields: {solver: electromagnetic, speed_of_light: 6, initial: {E: [%g, %g, %g]}}\n"
        "deposit: {filter_passes: 1}\n",
        dt, STEPS, v[0], v[1], v[2], start[0], start[1], start[2]);
    double complex(*means)[WAVE_FIELDS] = electromagnetic_follow(&config, (const int[]){0, 0});
    const struct history_row *rows = physics_run(&config);
    for (int n = 0; n <= STEPS; n++) {
        double square = 0;
        for (int axis = 0; axis < 3; axis++) {
            const double expected = start[axis] * cos(n * turn) + dt * v[axis] * sin(n * turn) / sin(turn);
            assert_near(creal(means[n][axis]), expected, 1e-17);
            assert_near(cabs(means[n][3 + axis]), 0, 1e-20);
            square += expected * expected;
        }
        assert_near(rows[n].field_energy, 24 * square / 2, 1e-21); /* which counts it */
    }
}

/* Of electrons and positrons: a background at rest would take some of it from the mean of E. */
TEST(momentum_of_particles_and_fields_keeps)
{
    struct config config =
        warm_plasma(16, 16, 8192, 0.05, 200,
                    "solver: electromagnetic, speed_of_light: 10, initial: {E: [\"0\", \"4*cos(2*pi*x/lx)\", "
                    "\"0\"], B: [\"0\", \"0\", \"0.4*cos(2*pi*x/lx)\"]}");
    struct species_config both[] = {config.species[0], config.species[0]};
    both[1].charge = 1;
    config.species = both;
    config.species_count = 2;
    const struct history_row *rows = physics_run(&config);
    const double mass = physics_total_mass(&config);
    double gained = 0, lost = 0;
    for (uint64_t n = 0; n <= config.time.steps; n++)
        for (int axis = 0; axis < 3; axis++) {
            const double change = rows[n].momentum[axis] - rows[0].momentum[axis];
            const double field = rows[n].field_momentum[axis] - rows[0].field_momentum[axis];
            gained = fmax(gained, fabs(change) / mass);
            lost = fmax(lost, fabs(change + field) / mass);
        }
    print_message("momentum a mass: particles gain %.4f, and %.1e is not kept\n", gained, lost);
    assert_true(gained > 0.05);
    assert_near(lost, 0, 6e-4);
}

/* ---- limits ---- */

/* Without B and the mean of E, which an electrostatic run has not, only light of the noise is left, of v/c
 * and less of E, and relativity, of (v/c)^2.
 */
TEST(electrostatic_fields_are_the_limit_of_fast_light)
{
    enum { NODES = 256, STEPS = 160 };
    static const char *const solvers[] = {"solver: electrostatic",
                                          "solver: electromagnetic, mean: zero, speed_of_light: 20",
                                          "solver: electromagnetic, mean: zero, speed_of_light: 40"};
    double(*expected)[2][NODES] = test_array(STEPS + 1, sizeof *expected), found[NODES], square[3] = {0};
    for (int s = 0; s < 3; s++) {
        const struct config config = warm_plasma(16, 16, 8192, 0.0125, STEPS, solvers[s]);
        struct simulation simulation;
        assert_ok(simulation_create(&config, device, &simulation));
        while (!simulation_done(&simulation)) {
            assert_ok(simulation_solve(&simulation));
            for (uint32_t axis = 0; axis < 2; axis++) {
                double *at = expected[simulation.step][axis];
                electromagnetic_read(&simulation, FIELD_E, axis, s == 0 ? at : found);
                for (int node = 0; node < NODES; node++)
                    square[s] += pow(s == 0 ? at[node] : found[node] - at[node], 2);
            }
            assert_ok(simulation_step(&simulation));
        }
        simulation_destroy(&simulation);
    }
    const double first = sqrt(square[1] / square[0]), second = sqrt(square[2] / square[0]);
    print_message("E differs by %.4f with c = 20, %.4f with c = 40\n", first, second);
    assert_true(first < 0.5 / 20 && second < 0.5 / 40 && second < first / 2);
}

TEST_MAIN(open_device, close_device)
