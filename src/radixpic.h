/* RadixPIC as a library: 2D periodic particle-in-cell simulations inside another program.
 *
 *     struct radixpic *run = NULL;
 *     double ex[64 * 64];
 *     enum radixpic_status status = radixpic_create("my.yaml", NULL, 0, &run);
 *     if (status == RADIXPIC_OK)
 *         status = radixpic_step(run, 100);
 *     if (status == RADIXPIC_OK)
 *         status = radixpic_read_field(run, "E/x", ex);
 *     if (status != RADIXPIC_OK)
 *         fprintf(stderr, "%s\n", radixpic_error());
 *     radixpic_destroy(&run);
 *
 * Units are those of the config: time in 1/omega_p, charge and mass in electron charge magnitudes and masses,
 * epsilon_0 = 1. All arrays are the caller's, of doubles whatever the precision of the config, with sizes as
 * told by the functions that ask for them.
 *
 * Time levels. Between calls the state is that of one time t = n dt: positions at n, and the charge density
 * and E that belong to these positions, which are found when they are first asked for or by the next step.
 * Velocities are at n - 1/2, as the leapfrog method has them; before the first step, and only there, at time
 * 0.
 *
 * Errors. A function that can fail returns a status; radixpic_error() then has a sentence on why. A NULL that
 * nothing is said of is RADIXPIC_USAGE; functions without a status find nothing in a simulation of NULL, and
 * take no other NULL. Nothing here ends the process, prints, sets a signal handler or starts MPI,
 * but for radixpic_create_on_ranks(); no file is written but what radixpic_write_into() asks for and the
 * cache of built kernels. A simulation that failed in a step stays readable and takes no further step.
 * Numbers have a decimal point, in configs and in files, whatever locale the calling thread is in.
 *
 * Threads and processes. Any thread may call: of calls about one simulation the later waits for the earlier,
 * and several simulations are independent of one another. radixpic_destroy() is the last call about one.
 * Where two calls belong together, as radixpic_history_rows() and radixpic_read_history(), the caller sees to
 * it that no other thread takes a step between them. A process that was forked after the first simulation or
 * sorter was created has none: functions with a status return RADIXPIC_USAGE there. Each is a simulation of
 * its own process alone, also under mpirun, unless radixpic_create_on_ranks() made it.
 */
#ifndef RADIXPIC_H
#define RADIXPIC_H

#include <radixpic/status.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radixpic;

/* Builds the simulation that a config file describes and loads its particles. `settings` are count texts such
 * as "time.step=0.05", as those of `radixpic run --set`. *run is NULL after a failure. */
RADIXPIC_API enum radixpic_status radixpic_create(const char *path, const char *const *settings, size_t count,
                                                  struct radixpic **run);

/* Creates a simulation from the text of a config. */
RADIXPIC_API enum radixpic_status radixpic_create_from_text(const char *text, const char *const *settings,
                                                            size_t count, struct radixpic **run);

/* One simulation of all ranks that MPI has in its world, of `path` or, where that is NULL, `text`. MPI is
 * started where it does not run, and then ends with the process. All ranks make the same calls in the same
 * order; each may read and write its own particles, which lie in its share of the box, as often as it likes
 * between two others of them. Fields are those of the whole box on every rank. What fails on all ranks is
 * returned on all. A failure of one rank alone, for which the others wait elsewhere, is written to the error
 * output and ends all processes. A process that ends waits for the others as it leaves MPI, and their next
 * call together fails. */
RADIXPIC_API enum radixpic_status radixpic_create_on_ranks(const char *path, const char *text,
                                                           const char *const *settings, size_t count,
                                                           struct radixpic **run);
RADIXPIC_API void radixpic_ranks(const struct radixpic *run, int *rank, int *size);

/* Sorts particles that were written, on all ranks; *moved says whether some were. `failure`, if it is not
 * NULL, is why this rank cannot go on: the simulation has then failed on all of them, with the first line;
 * all of it is what is written to the error output where the others do not come here. */
RADIXPIC_API enum radixpic_status radixpic_meet(struct radixpic *run, const char *failure, int *moved);

/* The next step of a run that writes files is to end it, on all ranks, as by this signal in `radixpic run`:
 * it writes a checkpoint and returns RADIXPIC_STOPPED. */
RADIXPIC_API void radixpic_stop(struct radixpic *run, int signal);

/* Frees all that the simulation holds, waiting for files that are being written. *run becomes NULL; it may be
 * so before. */
RADIXPIC_API void radixpic_destroy(struct radixpic **run);

/* Before the first step: from now on all the files that the config asks for are written into a folder, as by
 * `radixpic run --output folder`; `replaces` is its --force. Then the simulation ends with step time.steps of
 * the config. After a failure it goes on without files, and another folder may be asked for. */
RADIXPIC_API enum radixpic_status radixpic_write_into(struct radixpic *run, const char *folder, int replaces);

/* Takes the simulation `steps` steps on. Without radixpic_write_into() there is no last step: time.steps of
 * the config has no meaning. With it, step time.steps writes what is due at the end, and waits until the run
 * folder is complete. */
RADIXPIC_API enum radixpic_status radixpic_step(struct radixpic *run, uint64_t steps);

/* n, the number of steps taken, and t = n dt. */
RADIXPIC_API uint64_t radixpic_steps(const struct radixpic *run);
RADIXPIC_API double radixpic_time(const struct radixpic *run);

/* Cells, and nodes, along x and y, and the lengths of the box. */
RADIXPIC_API void radixpic_grid(const struct radixpic *run, uint32_t cells[2], double length[2]);

/* The config with every key resolved, as YAML, or NULL without memory. It belongs to the simulation. */
RADIXPIC_API const char *radixpic_config(struct radixpic *run);

/* Sets *si to one normalised unit of a quantity in SI units, by `units` of the config: "time", "x", "y", "u",
 * "v", "w", or the name of a field. */
RADIXPIC_API enum radixpic_status radixpic_unit(const struct radixpic *run, const char *quantity, double *si);

/* ---- fields ---- */

/* values[cells_x][cells_y] <- a field on the nodes, at n: "E/x", "E/y", "phi" (of mean 0) or "chargeDensity"
 * (or "rho"; of the particles, smoothed if the config says so, without the neutralising background); of an
 * electromagnetic run "E/z" and "B/x" to "B/z" too, and "J/x" to "J/z" at n-1/2. */
RADIXPIC_API enum radixpic_status radixpic_read_field(struct radixpic *run, const char *name, double *values);

/* A component of E, or of B, <- values[cells_x][cells_y], which must be finite. The next step pushes by it,
 * with the drives of the config added; the step after that has the solver's field again. Positions that are
 * written afterwards bring that back at once. */
RADIXPIC_API enum radixpic_status radixpic_write_field(struct radixpic *run, const char *name,
                                                       const double *values);

/* ---- particles ---- */

struct radixpic_species {
    const char *name; /* belongs to the simulation */
    double charge, mass;
    double density;     /* mean number density */
    double weight;      /* real particles that a macro-particle stands for, or their mean */
    uint64_t particles; /* macro-particles */
};

RADIXPIC_API uint32_t radixpic_species_count(const struct radixpic *run);

/* Number `n` of the config, from 0 on. RADIXPIC_USAGE where there are not as many. */
RADIXPIC_API enum radixpic_status radixpic_species_at(const struct radixpic *run, uint32_t n,
                                                      struct radixpic_species *species);

/* values[particles] <- "x" or "y" in [0, length) at n, "u", "v" or, of a species that has it, "w" at n - 1/2
 * (before the first step at 0).
 * Particle j is the same one in all attributes until the next step, which brings the particles into another
 * order, as the next reading of a field does after positions were written. */
RADIXPIC_API enum radixpic_status radixpic_read_particles(struct radixpic *run, const char *species,
                                                          const char *attribute, double *values);

/* "x", "y", "u", "v" or "w" <- values[particles]. Positions are wrapped into the box. RADIXPIC_USAGE, and
 * nothing is written, where a value is not finite. An electromagnetic run over ranks needs radixpic_meet()
 * first, before the first step and after each: without it, RADIXPIC_USAGE too. */
RADIXPIC_API enum radixpic_status radixpic_write_particles(struct radixpic *run, const char *species,
                                                           const char *attribute, const double *values);

/* values[particles] <- the ids, of a species that has them (`ids: true` in the config). */
RADIXPIC_API enum radixpic_status radixpic_read_ids(struct radixpic *run, const char *species,
                                                    uint64_t *values);

/* ---- without a copy ---- */

/* The memory of a CPU device: value n is the real of `bytes` bytes, of the config's precision, at
 * (char *)values + n * stride. */
struct radixpic_view {
    void *values; /* NULL: the device is no CPU, and nothing is lent */
    size_t count, stride, bytes;
    void *memory, *buffer, *native; /* of the library */
};

/* Lends a field at n, where `species` is NULL and on one rank, or "u", "v" or "w" of a species at n - 1/2.
 * What is written there counts as written by radixpic_write_field() and radixpic_write_particles(),
 * unchecked; velocities of an electromagnetic run over ranks need radixpic_meet() first as there. No other
 * call about the simulation is made before radixpic_take_back(); the memory, of whatever then, stays until
 * radixpic_let_go(), which may come after radixpic_destroy(). */
RADIXPIC_API enum radixpic_status radixpic_lend(struct radixpic *run, const char *species, const char *name,
                                                struct radixpic_view *view);
RADIXPIC_API enum radixpic_status radixpic_take_back(struct radixpic *run, const struct radixpic_view *view);
RADIXPIC_API void radixpic_let_go(const struct radixpic_view *view);

/* ---- the sort, seen ---- */

/* Of the radix sort of P. Helluy 2011, by the `sort` of the config: the letters of the paper's Table 1. */
struct radixpic_sort_shape {
    uint32_t key_bits, radix_bits, passes; /* b, r, p = ceil(b/r) */
    uint32_t items_per_group, groups;      /* I, G */
};

RADIXPIC_API enum radixpic_status radixpic_sort_shape(const struct radixpic *run,
                                                      struct radixpic_sort_shape *shape);

/* Sorts a list by the lowest `passes` digits, 1 to p, of its keys, by the kernels of that sort and whatever
 * sort.method is: what a whole sort has after so many passes. keys[count] are below 2^b. sorted[count] <- the
 * keys, permutation[count] <- where each was in the list. Of the last of these passes, table[2^r G I] <- the
 * histogram H(c, g, i) of its digit at (c G + g) I + i, and scan[2^r G I] <- its exclusive prefix sum. Where
 * sorted and permutation are both NULL, the last pass ends with its scan and does not reorder. */
RADIXPIC_API enum radixpic_status radixpic_sort(struct radixpic *run, size_t count, const uint32_t *keys,
                                                uint32_t passes, uint32_t *sorted, uint32_t *permutation,
                                                uint32_t *table, uint32_t *scan);

/* ---- history ---- */

/* A row for each step that was taken and is one of every output.history.every: energies, momentum, charge and
 * modes, all at that step's n. The present one comes with the next step, whose velocities it needs. */
RADIXPIC_API size_t radixpic_history_rows(const struct radixpic *run);

/* The names of the columns, with commas between them: "step,time,field_energy,...", as in history.csv. */
RADIXPIC_API const char *radixpic_history_names(const struct radixpic *run);

/* values[rows][columns] <- all rows, each with a value for every name. */
RADIXPIC_API void radixpic_read_history(const struct radixpic *run, double *values);

#ifdef __cplusplus
}
#endif

#endif
