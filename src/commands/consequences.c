/* Consequences: plasma numbers of a config. */
#include "commands/consequences.h"

#include "config/schema.h"
#include "output/outputs.h"
#include "particles/collisions.h"

#include <math.h>
#include <string.h>

/* Of the thermal velocity along an axis, over the box; NaN without memory. */
static double mean_square(const struct config *config, const struct species_config *species, int axis)
{
    const struct nodes nodes = nodes_once(profile_nodes(config->grid.cells, config->grid.length));
    const char *formula = species->profile.thermal[axis];
    return pow(species_thermal_speed(species, axis), 2) *
           (profile_is_given(formula, "1") ? nodes_mean(&nodes, formula, 2) : 1);
}

struct consequences consequences_derive(const struct config *config)
{
    struct consequences derived = {.grid = grid_make(&config->grid),
                                   .external = field_survey(config, config->fields.external,
                                                            config->fields.file[FIELDS_EXTERNAL].values, 2),
                                   .particles_per_cell = INFINITY};
    const double magnetic = derived.external.most_magnetic;
    double frequency_squared = 0, inverse_length_squared = 0;
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        const bool responds = species->push && species->charge_density;
        const double response =
            responds ? species->density * species->charge * species->charge / species->mass : 0;
        const double thermal_squared =
            (mean_square(config, species, 0) + mean_square(config, species, 1)) / 2;
        frequency_squared += response;
        if (species->push)
            derived.rotation =
                fmax(derived.rotation, fabs(species->charge * magnetic / species->mass) * config->time.step);
        if (thermal_squared > 0)
            inverse_length_squared +=
                response / thermal_squared; /* lambda_D = v_th / omega_p of each species */
        const double per_cell = (double)species->particles / grid_cells(&derived.grid);
        if (species->charge_density && per_cell < derived.particles_per_cell) {
            derived.particles_per_cell = per_cell;
            derived.fewest_species = species->name;
        }
        const double crossed = config->time.step * fmax(species_fastest_speed(species, 0) / derived.grid.dx,
                                                        species_fastest_speed(species, 1) / derived.grid.dy);
        if (crossed >= derived.fastest) {
            derived.fastest = crossed;
            derived.fastest_species = species->name;
        }
    }
    derived.plasma_frequency = sqrt(frequency_squared);
    derived.debye_length = inverse_length_squared > 0 ? 1 / sqrt(inverse_length_squared) : 0;
    return derived;
}

/* c/omega_p, in units of length. */
static double skin_depth(const struct config *config, const struct consequences *derived)
{
    return config->fields.speed_of_light / derived->plasma_frequency;
}

static void print_light(const struct config *config, const struct consequences *derived)
{
    const double c = config->fields.speed_of_light, dx = derived->grid.dx, dy = derived->grid.dy;
    const struct units_config one_volt = {.density_per_m3 = 1, .temperature_eV = 1};
    const double rest_energy = pow(units_make(&one_volt).speed_of_light, 2); /* of an electron, eV */
    printf("speed of light            %g v_th, as at a temperature of %.4g eV\n", c, rest_energy / (c * c));
    printf("c dt/dx, c dt/dy          %g, %g; time.step may be up to %.6g\n", c * config->time.step / dx,
           c * config->time.step / dy, config_longest_step(config));
    if (derived->plasma_frequency > 0)
        printf("skin depth                %g, %g cells\n", skin_depth(config, derived),
               skin_depth(config, derived) / fmax(dx, dy));
}

void consequences_print(const struct config *config, const struct consequences *derived)
{
    const double widest = fmax(derived->grid.dx, derived->grid.dy);
    printf("# what follows from it\n");
    printf("cell size dx, dy          %g, %g\n", derived->grid.dx, derived->grid.dy);
    if (derived->debye_length > 0)
        printf("Debye length              %g, %g to a cell\n", derived->debye_length,
               derived->debye_length / widest);
    else
        printf("Debye length              0: no charged species has a thermal velocity\n");
    printf("omega_p dt                %g\n", derived->plasma_frequency * config->time.step);
    if (derived->external.most_magnetic > 0)
        printf(
            "Omega dt                  %g, of which the push turns velocities by 2 atan(Omega dt/2) = %g\n",
            derived->rotation, 2 * atan(derived->rotation / 2));
    if (!derived->external.infinite &&
        (fields_external(&config->fields, 3) || fields_external(&config->fields, 4) ||
         config->fields.file[FIELDS_EXTERNAL].values[3] || config->fields.file[FIELDS_EXTERNAL].values[4]))
        printf("div B, fields.external    %.2g of its largest slope\n", derived->external.divergence);
    if (config->fields.solver == SOLVER_ELECTROMAGNETIC)
        print_light(config, derived);
    printf("end of the run            t = %g\n", (double)config->time.steps * config->time.step);
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        const double per_cell = (double)species->particles / grid_cells(&derived->grid);
        printf("particles per cell        %g of %s", per_cell, species->name);
        if (species->positions.kind == POSITIONS_RANDOM)
            printf(", at random: densities of cells scatter by %.2g %%", 100 / sqrt(per_cell));
        for (uint32_t t = 0; t < s && species->positions.kind == POSITIONS_VAN_DER_CORPUT; t++)
            if (memcmp(species->positions.bases, config->species[t].positions.bases,
                       sizeof species->positions.bases) == 0)
                printf(", from the sequences of %s", config->species[t].name);
        printf("\n");
    }
    for (uint32_t n = 0; n < config->collision_count; n++) {
        const struct collision_config *collision = &config->collisions[n];
        const char *const names[] = {collision->species[0], collision->species[1]};
        printf("collision time 1/nu       %.4g of %s with %s", 1 / collisions_rate(config, collision, false),
               names[0], names[1]);
        if (strcmp(names[0], names[1]) != 0)
            printf(", %.4g of %s with %s", 1 / collisions_rate(config, collision, true), names[1], names[0]);
        const double logarithm = collisions_logarithm(config, collision);
        printf("; Coulomb logarithm %.4g%s\n", logarithm,
               collision->coulomb_log == COULOMB_LOG_AUTO && logarithm == 1 ? ", the least of auto" : "");
    }
    printf("cells crossed in a step   %g at most, by a particle of %s at drift + 3 thermal velocities\n",
           derived->fastest, derived->fastest_species);
}

/* The spectral gradient has no derivative of a wave of which only the nodes +1, -1, +1, ... are seen. */
static void warn_of_nyquist(const struct config *config, struct log *log)
{
    for (uint32_t s = 0; s < config->species_count && config->fields.gradient == GRADIENT_SPECTRAL; s++) {
        const struct species_config *species = &config->species[s];
        const struct perturbation_list *lists[] = {&species->perturb.density, &species->perturb.displacement};
        for (int kind = 0; kind < 2; kind++)
            for (uint32_t n = 0; n < lists[kind]->count; n++) {
                const struct perturbation *wave = &lists[kind]->items[n];
                if (2 * wave->mode == config->grid.cells[wave->axis])
                    log_warning(log,
                                "mode %u along %c, of species %s, is the Nyquist mode of the grid: it "
                                "has no electric field with the spectral gradient",
                                wave->mode, "xy"[wave->axis], species -> name);
            }
    }
}

/* Of the modes that the history follows. */
static void warn_of_light(const struct config *config, const struct consequences *derived, struct log *log)
{
    const double depth = skin_depth(config, derived);
    double most = 0; /* c k dt */
    for (uint32_t n = 0; n < config->output.history.mode_count; n++) {
        const int32_t *mode = config->output.history.modes[n];
        const double k = 2 * M_PI * hypot(mode[0] / derived->grid.lx, mode[1] / derived->grid.ly);
        most = fmax(most, config->fields.speed_of_light * k * config->time.step);
    }
    if (depth < 2 * fmax(derived->grid.dx, derived->grid.dy))
        log_warning(log,
                    "the skin depth of %g is shorter than two cells of %g: currents are badly resolved; "
                    "take more cells",
                    depth, fmax(derived->grid.dx, derived->grid.dy));
    if (most > 2 * M_PI / 8)
        log_warning(log,
                    "light of the shortest wave in output.history.modes takes %.3g steps for a period: "
                    "fewer than 8; take a smaller time.step",
                    2 * M_PI / most);
}

static void warn_of_speeds(const struct config *config, struct log *log)
{
    const double light = units_make(&config->units).speed_of_light;
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        double speed = 0;
        for (uint32_t axis = 0; axis < species_dimensions(species); axis++)
            speed = hypot(speed, species_fastest_speed(species, (int)axis));
        if (config->fields.solver == SOLVER_ELECTROSTATIC && species->push && speed > light)
            log_warning(log,
                        "particles of %s reach %.3g v_th, which is %.3g c by units.temperature_eV=%g, and an "
                        "electrostatic run is not relativistic; take a lower temperature, or "
                        "fields.solver=electromagnetic",
                        species->name, speed, speed / light, config->units.temperature_eV);
    }
}

/* Rounding to nearest changes an increment by up to half a last bit. Of each species, along the first of x
 * and y with one that is small. */
static void warn_of_rounding(const struct config *config, const struct consequences *derived, struct log *log)
{
    const double step = config->time.step, cell[] = {derived->grid.dx, derived->grid.dy};
    for (uint32_t n = 0; n < 2 * config->species_count; n++) {
        const struct species_config *species = &config->species[n / 2];
        const int axis = n % 2;
        const double given = derived->external.most_electric[axis], field = given > 0 ? given : 0.01;
        const double speed = fabs(species->velocities.drift[axis]) + species->profile.most_drift[axis] +
                             fabs(species->read.facts.mean[axis]) + species_thermal_speed(species, axis);
        const double way = ldexp(speed * step / cell[axis], 24), bit = exp2(floor(log2(speed)) - 23);
        const double kick = fabs(species->charge / species->mass) * field * step / bit;
        if (!species->push || speed == 0 || (way >= 50 && (kick >= 50 || kick == 0)))
            continue;
        log_warning(
            log,
            "species %s: with step.rounding=nearest increments below 50 last bits may be wrong by more "
            "than 1 %%, and below half a bit lost: along %c at %g (drift + thermal velocity) a step "
            "changes a place by up to %.3g of its last bits, and E = %g (%s) a velocity by up to %.3g; "
            "take step.rounding=dithered",
            species->name, "xy"[axis], speed, way, field,
            given > 0 ? "the most of fields.external" : "assumed", kick);
        n |= 1;
    }
}

static const double MOST_BIAS = 0.05; /* of rates of collisions */

static void warn_of_bias(const struct config *config, uint32_t n, double end, struct log *log)
{
    static const char *const slow[] = {"anisotropies decay", "currents decay",
                                       "temperatures approach each other"};
    const struct collision_config *collision = &config->collisions[n];
    const double strength = collisions_strength(config, collision);
    const double ratio = config->species[species_find(config, collision->species[0])].mass /
                         config->species[species_find(config, collision->species[1])].mass;
    const bool is_one_temperature = 2 * fmin(ratio, 1 / ratio) * end < 0.01; /* what they exchange */
    bool is_known = false;
    for (enum collision_effect effect = 0; effect < COLLISION_EFFECTS; effect++) {
        const double bias = collisions_bias(config, collision, effect, strength);
        uint32_t enough = collision->substeps;
        is_known |= !isnan(bias);
        if (!(bias > MOST_BIAS) || (effect == COLLISIONS_ENERGY && is_one_temperature))
            continue;
        while (enough < CONFIG_MAX_SUBSTEPS &&
               collisions_bias(config, collision, effect, strength * collision->substeps / enough) >
                   MOST_BIAS)
            enough++;
        log_warning(log,
                    "collisions of %s with %s: nu dt = %.3g of one collision makes %s %s %.0f %% too slowly; "
                    "take collisions.%u.substeps=%u, or a smaller time.step%s",
                    collision->species[0], collision->species[1], strength, slow[effect],
                    strength > 1 ? "more than" : "about", 100 * bias, n, enough,
                    collision->every > 1 ? " or `every`" : "");
    }
    if (!is_known && strength > 0.01)
        log_warning(
            log,
            "collisions of %s with %s: nu dt = %.3g of one collision is above 0.01, and their rates are "
            "too low; by how much is not known for these masses and velocities",
            collision->species[0], collision->species[1], strength);
}

static void warn_of_collisions(const struct config *config, struct log *log)
{
    for (uint32_t n = 0; n < config->collision_count; n++) {
        const struct collision_config *collision = &config->collisions[n];
        const double steps = config->time.step * (double)collision->every;
        const double end = steps * (double)(config->time.steps / collision->every);
        const double rate =
            fmax(collisions_rate(config, collision, false), collisions_rate(config, collision, true));
        if (collision->every > config->time.steps && config->time.steps > 0)
            log_warning(log,
                        "collisions of %s with %s: every = %llu is more than the %llu steps of the run, "
                        "which has none of them",
                        collision->species[0], collision->species[1], (unsigned long long)collision->every,
                        (unsigned long long)config->time.steps);
        else if (rate * end < 0.01 && config->time.steps > 0)
            log_warning(log,
                        "collisions of %s with %s: nu t = %.3g at the end of the run is below 0.01: by "
                        "then they change mean velocities by 1 %% or less",
                        collision->species[0], collision->species[1], rate * end);
        if (isfinite(rate))
            warn_of_bias(config, n, rate * end, log);
    }
}

static void say_what_ranges_leave_out(const struct config *config, struct log *log)
{
    for (uint32_t s = 0; s < config->species_count; s++)
        if (config->species[s].velocities.lost > 0)
            log_line(
                log, LOG_NORMAL,
                "species %s: velocities.range leaves out %.2g %% of what the density has in a range three "
                "times as wide",
                config->species[s].name, 100 * config->species[s].velocities.lost);
}

/* Numbers of SI that are near no constant of nature: check_ranges() refuses those that are. */
static void warn_of_si(const struct config *config, const struct consequences *derived, struct log *log)
{
    const double frequency_step = derived->plasma_frequency * config->time.step;
    const double side = fmin(config->grid.length[0], config->grid.length[1]);
    if (frequency_step > 0 && frequency_step < 1e-6)
        log_warning(log,
                    "omega_p dt = %g is below 1e-6: times are in 1/omega_p and lengths in Debye lengths, "
                    "not in SI units",
                    frequency_step);
    if (side < 0.1 * fmin(1, derived->debye_length)) /* which is long where the density is low */
        log_warning(log,
                    "a side of the box of %g is below 0.1 Debye lengths (%g): lengths are in Debye lengths, "
                    "not in SI units",
                    side, derived->debye_length);
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        const double thermal = fmax(species_thermal_speed(species, 0), species_thermal_speed(species, 1));
        if (species->density > 1e6)
            log_warning(
                log,
                "species %s: a density of %g is above 1e6: densities are in units of the mean density of "
                "the electrons; units.density_per_m3 has that density in 1/m^3",
                species->name, species->density);
        if (thermal > 1e4)
            log_warning(
                log,
                "species %s: a thermal velocity of %g is above 1e4: velocities are in units of the thermal "
                "velocity of the electrons, not in m/s; units.temperature_eV has their temperature",
                species->name, thermal);
    }
}

/* Of a file, since formulas with a divergence are refused. */
static void warn_of_initial(const struct config *config, struct log *log)
{
    const struct field_file *file = &config->fields.file[FIELDS_INITIAL];
    if (!file->values[3] && !file->values[4])
        return;
    const struct field_survey survey = field_survey(config, &config->fields.initial[1], file->values + 3, 1);
    if (survey.divergence > MOST_DIVERGENCE)
        log_warning(
            log,
            "fields.initial.file: div B is not 0: at x = %g, y = %g it is %.2g of the largest slope of "
            "B; the run takes the part of B that has none",
            survey.place[0], survey.place[1], survey.divergence);
}

void consequences_warn(const struct config *config, const struct consequences *derived, struct log *log)
{
    /* Two cells along an axis have no field along it. */
    const double widest =
        fmax(derived->grid.nx > 2 ? derived->grid.dx : 0, derived->grid.ny > 2 ? derived->grid.dy : 0);
    const double frequency_step = derived->plasma_frequency * config->time.step;
    warn_of_si(config, derived, log);
    if (derived->debye_length > 0 && widest > M_PI * derived->debye_length)
        log_warning(log,
                    "a cell of %g is longer than pi Debye lengths (%g): the plasma will heat itself; "
                    "take more cells",
                    widest, M_PI * derived->debye_length);
    if (frequency_step > 1.62)
        log_warning(log,
                    "omega_p dt = %g is above 1.62: plasma oscillations are badly resolved, from 2 "
                    "on unstable; take a smaller time.step",
                    frequency_step);
    if (derived->rotation > 0.5)
        log_warning(log,
                    "Omega dt = %g is above 0.5: a step turns velocities by 2 atan(Omega dt/2) = %g "
                    "instead; take a "
                    "smaller time.step",
                    derived->rotation, 2 * atan(derived->rotation / 2));
    if (derived->external.infinite)
        log_warning(log,
                    "fields.external.%s is not finite at x = %g, y = %g, t = %g: a step there ends the run",
                    derived->external.infinite, derived->external.place[0], derived->external.place[1],
                    derived->external.time);
    else if (derived->external.divergence > MOST_DIVERGENCE)
        log_warning(log,
                    "fields.external.B: div B is not 0: at x = %g, y = %g, t = %g it is %.2g of the largest "
                    "slope of B, and fields of magnets have none",
                    derived->external.place[0], derived->external.place[1], derived->external.time,
                    derived->external.divergence);
    warn_of_initial(config, log);
    warn_of_nyquist(config, log);
    if (config->fields.solver == SOLVER_ELECTROMAGNETIC)
        warn_of_light(config, derived, log);
    if (config->fields.solver == SOLVER_ELECTROMAGNETIC)
        cherenkov_warn(config, log);
    warn_of_speeds(config, log);
    if (config->step.rounding == ROUNDING_NEAREST && config->precision == PRECISION_SINGLE)
        warn_of_rounding(config, derived, log);
    warn_of_collisions(config, log);
    say_what_ranges_leave_out(config, log);
    if (derived->fastest > 1)
        log_warning(log,
                    "thermal particles of %s cross %g cells in a step: more than one; take a smaller "
                    "time.step",
                    derived->fastest_species, derived->fastest);
    if (derived->particles_per_cell < 8)
        log_warning(log, "%g particles per cell of %s: fewer than 8 are mostly noise",
                    derived->particles_per_cell, derived->fewest_species);
}

void consequences_print_last_checkpoint(const struct config *config, double rate, const char *known)
{
    const double own = (double)outputs_size(&checkpoint_output, config).bytes,
                 within = config->output.checkpoints.on_signal_within;
    double before = 0;
    if (config->output.checkpoints.signal_count == 0)
        return;
    for (size_t n = 0; n < OUTPUTS; n++)
        if (output_table[n]->record && outputs_every(output_table[n], config) > 0)
            before = fmax(before, WRITER_FILES * (double)outputs_size(output_table[n], config).bytes);
    const double seconds = (own + before) / rate;
    printf("checkpoint of a signal    %.3g MB behind at most %.3g MB of files in flight: about %.3g s at "
           "%.3g MB/s%s\n",
           1e-6 * own, 1e-6 * before, seconds, 1e-6 * rate, known);
    if (within > 0 && seconds > within)
        printf("warning: the checkpoint of a signal may take %.3g s, and output.checkpoints.on_signal_within "
               "leaves %g s; "
               "ask for an earlier signal, or take fewer particles\n",
               seconds, within);
}

void consequences_warn_idle(const struct config *config, enum sort_method method, bool is_fused,
                            struct log *log)
{
    char names[256] = "", why[VALUE_WHY_LENGTH];
    for (size_t n = 0; n < config_schema.count; n++) {
        const struct schema_row *row = &config_schema.rows[n];
        const bool is_papers = row->offset >= offsetof(struct config, sort.items_per_group);
        const bool is_idle = is_fused || (is_papers && method != SORT_METHOD_PAPER);
        uint32_t value, usual;
        if (strncmp(row->path, "sort.", 5) != 0 || !is_idle ||
            !value_parse(row, row->fallback, strlen(row->fallback), true, NULL, &usual, why))
            continue;
        memcpy(&value, (const char *)config + row->offset, sizeof value);
        const size_t used = strlen(names);
        if (value != SORT_AUTO && value != usual)
            snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", row->path);
    }
    if (names[0] != '\0')
        log_warning(log, "%s: %s", names,
                    is_fused
                        ? "a fused step sorts in its own way, and only the loaded particles are sorted in "
                          "this one; with step.method=radix all are"
                        : "without effect, only the method paper has such a parameter");
}
