/* Stepper: one way to take the particles of a rank from n to n+1, sorted again.
 *
 *   radix    the textbook, on any device: push, radix sort to a permutation, permute
 *   tiled    for GPUs: push to count, push again to move; tiles ranked in local memory
 *   chunked  for CPUs: the same by a few long chunks
 *
 * All give the same particles in the same cells, up to round-off; in what order those of a cell stand depends
 * on input and device alone, so the same input gives the same bits. A step of a species is
 *
 *   kind->count()      v n-1/2 -> n+1/2, x n -> n+1, as far as it tells how many go to each cell
 *   stepper_leavers()  on several ranks: how many go to each cell beside the own rows; they exchange that,
 *                      the tiled step while it still counts those that do not
 *   stepper_move()     every particle at its place, with gaps behind those of a cell for its arrivals
 *
 * On one rank the second is left out, and there are no gaps to leave.
 */
#ifndef RADIXPIC_STEP_STEPPER_H
#define RADIXPIC_STEP_STEPPER_H

#include "domain/fields.h"
#include "domain/particles.h"
#include "sort/sorter.h"

/* What a stepper is made for. */
struct stepper_setup {
    struct grid grid;    /* the local one of a slab */
    uint32_t ghost_rows; /* of that slab; 0: the grid has no lost row */
    uint32_t own_rows;   /* the first rows of the grid, in which all particles are before a step */
    bool leaves_gaps;    /* for particles from other ranks */
    bool carries;        /* some species has attributes beside offset, velocity and w */
    bool weighs;         /* species have weights, which sums at n are by */
    bool sums_work;      /* of external fields, with the sums at n */
    bool sorts[2];       /* there are species without w; there are species with it */
    enum precision precision;
    enum rounding rounding;
    enum pusher_kind pusher;     /* other than Boris' in an electromagnetic run alone */
    enum particle_layout layout; /* of the lists: stepper_layout(), whichever stepper takes them */
    enum shape_kind shape;
    double time_step, magnetic[3];
    uint32_t felt;           /* components of the fields that particles feel: fields_felt() */
    double per_c_squared;    /* 1/c^2 of an electromagnetic run, 0 in an electrostatic one */
    struct sorter_plan sort; /* of the radix stepper */
    uint32_t species_count;
    uint32_t capacity; /* particles of the largest list */
    uint32_t fewest;   /* particles that a rank has of the smallest species, dealt out evenly */
    uint32_t reach[2]; /* cells along x and y: few particles go further in a step. If many do, it is slower,
                          not wrong */
};

/* Cells of the rows beside the own ones, which are the last of the grid. */
static inline uint32_t stepper_cells_beside(const struct stepper_setup *setup)
{
    return (setup->grid.nx - setup->own_rows) * setup->grid.ny;
}

/* Sums over the macro-particles of a species with their weight, all at step n. */
struct push_sums {
    double kinetic_energy; /* sum of w m |v|^2 / 2 */
    double momentum[3];    /* sum of w m (u, v, w) */
    double work[2]; /* of fields->external in the half steps to n and from n on: src/field/external.h */
};

struct stepper;

/* A row of the table of steppers. `species` is the number of a species, `list` its particles. */
struct stepper_kind {
    const char *name;
    const char *summary;            /* one line: what a run says that it takes */
    enum particle_layout layout[2]; /* on other devices, and on CPUs */

    /* Returns whether this stepper suits that device and grid; if not, `why` gets the reason. NULL: it suits
     * any. */
    bool (*fits)(const struct device_info *info, const struct stepper_setup *setup, const char **why);

    /* Makes stepper->own, which belongs to the device handle. */
    enum status (*create)(struct stepper *stepper);

    /* See stepper_list_changed(); may be NULL. */
    enum status (*list_changed)(struct stepper *stepper, uint32_t species, struct particles *list);

    /* The push and the count, from own rows anywhere; with `measure` keeps the sums at n. (Non-blocking.) */
    enum status (*count)(struct stepper *stepper, const struct fields *fields, uint32_t species, bool measure,
                         struct particles *list);

    /* See stepper_leavers(). NULL where count() makes the cell offsets of n+1, in stepper->new_offsets, and
     * the permutation, in stepper->origin: the leavers follow from these, and gaps for arrivals are opened in
     * them. */
    enum status (*leavers)(struct stepper *stepper, uint32_t species, const struct particles *list);

    /* See stepper_move(): the list at n+1, its cell offsets in stepper->new_offsets. (Non-blocking.) */
    enum status (*move)(struct stepper *stepper, const struct fields *fields, uint32_t species,
                        const struct arrival_gaps *gaps, struct particles *list);
    bool forks; /* where the setup leaves gaps, move() forks the queues itself */

    /* Only the sums at n; nothing moves. (Non-blocking.) */
    enum status (*measure)(struct stepper *stepper, const struct fields *fields, uint32_t species,
                           struct particles *list);
};

extern const struct stepper_kind radix_step, tiled_step, chunked_step;

struct stepper {
    const struct stepper_kind *kind;
    struct device *device; /* not owned: the handle that all of it dies with */
    struct stepper_setup setup;
    struct arrival_gaps no_gaps;
    uint32_t *leavers; /* uint[stepper_cells_beside()], where the setup leaves gaps */

    /* Where the leaving particles of each species begin in its list, once the side queue is through after a
     * move. They may be more than the leavers: strays are not counted with these, and are the last of their
     * cells. NULL: the leavers are all. */
    const uint32_t *leaving_begins[CONFIG_MAX_SPECIES];

    void *own;                  /* what the kind keeps. The members below are for all kinds */
    struct buffer *new_offsets; /* uint[cells + 1]: the cell offsets of n+1, until the list takes them */
    struct permute *permute;
    struct gaps *gaps;     /* step/gaps.h, for kinds without leavers() where the setup leaves gaps */
    struct buffer *origin; /* uint[capacity], the old place of each new one: stepper_create_origin() */
    struct buffer *sums;   /* real[SUM_SLOTS][species_count][most_groups][sums of a group] */
    double *read_sums;     /* `sums` on the host */
    uint32_t most_groups;
    uint64_t step;                                  /* set by the caller: n, for the dithers of the push */
    uint32_t slot;                                  /* set by the caller: where a step leaves its sums */
    uint32_t groups[SUM_SLOTS][CONFIG_MAX_SPECIES]; /* that left sums: later the list may have others */
};

/* The row that `step.method` names for that device and grid: `fused` and `auto` are tiled on a GPU and
 * chunked on a CPU, and radix where that does not fit. STATUS_USAGE, and why: a named one does not. */
STATUS_CHECKED enum status stepper_choose(enum step_method method, const struct device_info *info,
                                          const struct stepper_setup *setup,
                                          const struct stepper_kind **kind);

/* why <- the reason why the radix step stands in for the tiled one of a GPU that the method asks for; ""
 * where it does not. */
enum { STEPPER_WHY_LENGTH = 256 };
void stepper_explain(enum step_method method, const struct device_info *info,
                     const struct stepper_setup *setup, char why[static STEPPER_WHY_LENGTH]);

/* The layout of lists that the steppers of a method take, on any grid. */
enum particle_layout stepper_layout(enum step_method method, const struct device_info *info);

/* The stepper dies with the device handle. */
STATUS_CHECKED enum status stepper_create(struct device *device, const struct stepper_kind *kind,
                                          const struct stepper_setup *setup, struct stepper *stepper);

/* To be called for every list before its first step, and after a change outside of the stepper: when it was
 * restored, merged, or moved to another slab. STATUS_FAILED: the list is longer than the capacity. */
STATUS_CHECKED enum status stepper_list_changed(struct stepper *stepper, uint32_t species,
                                                struct particles *list);

/* Once in a run, before the first step: velocities at 0 -> -1/2, so that it leads exactly through the loaded
 * ones. Of a sorted list, with the fields at 0. Blocking. */
STATUS_CHECKED enum status stepper_start(struct stepper *stepper, const struct fields *fields,
                                         struct particles *list);

/* Leaves in stepper->leavers, uint[], how many particles go to each cell beside the own rows, without the
 * strays that stepper->leaving_begins is for. Blocking. */
STATUS_CHECKED enum status stepper_leavers(struct stepper *stepper, uint32_t species,
                                           const struct particles *list);

/* Afterwards list and cell offsets are those of n+1. Where the setup leaves gaps, the cell offsets count the
 * arrivals, whose places are still empty, and list->count is left to the caller; `gaps` says how many come:
 * stepper->no_gaps where the setup leaves none. Leaving particles are the end of the list: they are in place
 * when the side queue is through, and the others when the main queue is; the queues are to be joined before
 * the next count. The list must have room for the arrivals. (Non-blocking.) */
STATUS_CHECKED enum status stepper_move(struct stepper *stepper, const struct fields *fields,
                                        uint32_t species, const struct arrival_gaps *gaps,
                                        struct particles *list);

/* Brings the sums of slots `first` to before first + count to the host. Blocking; some KiB a slot. */
STATUS_CHECKED enum status stepper_read_sums(struct stepper *stepper, uint32_t first, uint32_t count);

/* The sums at n of the step that measured that species into a slot that was read. */
struct push_sums stepper_sums(const struct stepper *stepper, uint32_t slot, uint32_t species,
                              const struct particles *list);

#endif
