/* Bench: what all experiments of `radixpic bench` share.
 *
 * bench_run() reads the options, opens the device and the CSV file, calls the experiment's run() and judges.
 * An experiment takes its cases one by one: it makes what a case needs on bench->part, which dies with the
 * case (bench_case()), times its subjects by bench_time(), and hands the values of each row to a table, whose
 * columns it describes once: bench_row() prints them and writes them to the file. There every value is a row
 * of one form:
 *
 *   bench,device,case,quantity,median,min,max,repeats,verified
 *
 * with the case as key=value words and the quantity as NAME_UNIT; verified is yes, no, or empty where nothing
 * was to be compared.
 */
#ifndef RADIXPIC_EXPERIMENTS_BENCH_H
#define RADIXPIC_EXPERIMENTS_BENCH_H

#include "base/integers.h"
#include "config/options.h"
#include "device/device.h"
#include "parallel/communicator.h"

/* ---- samples: repeated timings of one thing, and what is quoted of them ---- */

struct samples {
    size_t count;
    double seconds[SAMPLES_MAX];
};

/* Adds one timing; beyond SAMPLES_MAX it is dropped. */
void samples_add(struct samples *samples, double seconds);

/* The median and the range of timings, or of numbers that follow from them. */
struct spread {
    double median, least, most;
    uint32_t count;
};

/* The spread of no timing is 0. The median of an even number is the mean of the two in the middle. */
struct spread spread_of(const struct samples *samples);
struct spread spread_of_one(double value);
struct spread spread_scaled(struct spread values, double scale);
struct spread spread_over(struct spread values, double unit); /* no values where the unit is 0 */

/* The spread of `work` over each, of 0 without values: the longest time gives the least rate; and of bytes in
 * GB/s. */
struct spread spread_rate(double work, struct spread seconds);
struct spread spread_bandwidth(uint64_t bytes, struct spread seconds);

/* amount / seconds, 0 where there are no seconds. */
static inline double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

/* ---- the life of a bench ---- */

struct bench;

struct experiment {
    const char *name, *summary; /* as `radixpic bench --help` has them */
    struct option_table options;
    enum status (*resolve)(struct bench *bench); /* what options mean together; may be NULL */
    enum status (*run)(struct bench *bench);
    const char *wrong; /* the sentence where a result was not verified */
    uint32_t warm_ups; /* of what is timed on the device */
    bool on_ranks;     /* runs on all ranks of mpirun, not on one alone */
};

/* In the order of the help. */
extern const struct experiment experiment_pic_sort, experiment_random_lists, experiment_permutation,
    experiment_local_memory, experiment_step, experiment_deposit, experiment_scaling, experiment_layout;

struct bench {
    const struct experiment *experiment;
    void *options; /* the experiment's struct options, filled in */
    struct communicator ranks;
    struct device *device;
    const struct device_info *info; /* of the device */
    struct device *part;            /* a branch of the device: of the case at hand */
    uint32_t repeats;               /* of a timing: --repeat, or what the experiment chooses */
    struct spread copy;             /* seconds of bench_copy() */
    size_t copy_bytes;
    bool is_wrong;   /* a result was not verified */
    FILE *csv;       /* NULL: none is written, or not by this rank */
    bool on_host;    /* the host runs the case at hand */
    int verified;    /* the verdict of that case */
    char words[512]; /* the words of that case */
};

/* Reads argv, runs the experiment and judges its results. Collective where it runs on ranks. */
STATUS_CHECKED enum status bench_run(const struct experiment *experiment, int argc, char **argv);

/* Where `status` is STATUS_USAGE, puts `name` before the sentence of what was refused. Returns it. */
STATUS_CHECKED enum status bench_blame(const char *name, enum status status);

/* Calls run(bench, context) with a new bench->part and destroys that afterwards. */
STATUS_CHECKED enum status bench_case(struct bench *bench,
                                      enum status (*run)(struct bench *bench, void *context), void *context);

/* ---- timing ---- */

/* Work to time: run(context), after the experiment's warm-ups and as often as the bench repeats; on the host
 * without warm-ups, and at most HOST_REPEATS times. */
enum { HOST_REPEATS = 3 };
struct subject {
    void *context;
    enum status (*prepare)(void *context); /* before every run, not timed; may be NULL */
    enum status (*run)(void *context);
    enum status (*verify)(void *context, bool *right); /* after the last run; may be NULL */
    uint32_t warm_ups, repeats;                        /* 0: as above */
    double seconds;    /* above 0: no further run once the timed ones took so long */
    bool on_host;      /* not on the device: only the wall clock runs */
    bool in_one_piece; /* STAGE_OTHER is from before the first kernel to after the last */
};

/* Seconds of a run: on the host's clock until the device has finished, and in the stages on the device's; and
 * the bytes that a run has to move in each stage. */
struct times {
    struct spread wall, stages[STAGE_COUNT];
    struct spread total; /* of STAGE_OTHER, on the host of the wall clock */
    uint64_t bytes[STAGE_COUNT];
    bool verified;
};

/* Times all subjects in turns, so that what else the machine does falls on none of them alone, and counts
 * what is not verified as wrong. */
STATUS_CHECKED enum status bench_time(struct bench *bench, const struct subject *subjects, size_t count,
                                      struct times *times);

/* Bytes of all stages together. */
uint64_t times_bytes(const struct times *times);

/* Times a copy of `bytes` on the device and writes its row. Every table is held against it. */
STATUS_CHECKED enum status bench_copy(struct bench *bench, size_t bytes);

/* Times a copy of as many bytes as the offsets of the particles have, but at least more than a cache holds
 * and at most a GiB. */
STATUS_CHECKED enum status bench_copy_like(struct bench *bench, uint64_t particles, size_t real_bytes);

/* GB/s of the copy, which moves its bytes twice; and the line that says so. */
double bench_copy_rate(const struct bench *bench);
void bench_print_copy(const struct bench *bench);

/* ---- tables ---- */

enum column_kind {
    COLUMN_NUMBER,  /* the median */
    COLUMN_SPREAD,  /* median [min, max] */
    COLUMN_OF_COPY, /* takes no value: the GB/s of the column before in per cent of the copy's */
    COLUMN_WORD     /* takes no value: the word of the case with the key `quantity` */
};

struct bench_column {
    const char *heading; /* on the screen; NULL: in the file alone */
    const char
        *quantity; /* in the file, NAME_UNIT, or _UNIT behind the row's name; NULL: on the screen alone */
    double scale;  /* by which its values are multiplied */
    enum column_kind kind;
    int width; /* on the screen; 0: by kind and heading */
};

/* The columns as a table has them. */
#define COLUMN_OF(...)                                                                                       \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
#define NUMBER(heading, quantity, scale) COLUMN_OF(heading, quantity, scale, COLUMN_NUMBER, 0)
#define SPREAD(heading, quantity, scale) COLUMN_OF(heading, quantity, scale, COLUMN_SPREAD, 0)
#define IN_FILE(quantity, scale)         COLUMN_OF(NULL, quantity, scale, COLUMN_NUMBER, 0)
#define WORD(key, heading, width)        COLUMN_OF(heading, key, 0, COLUMN_WORD, width)
#define OF_COPY                          COLUMN_OF("% of a copy", NULL, 1, COLUMN_OF_COPY, 0)

enum { COLUMNS_MOST = 16 };
struct bench_table {
    const char *names; /* heading of the rows' names; NULL: rows have a verdict instead */
    struct bench_column columns[COLUMNS_MOST]; /* ended by an empty one */
};

enum { NOT_COMPARED = 2 }; /* beside false and true */

/* Names the case of the rows that follow, by key=value words (spaces become _), whether the host or the
 * device runs it, and whether its result was verified. */
void bench_words(struct bench *bench, bool on_host, int verified, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Prints the head of a table. */
void bench_head(const struct bench_table *table);

/* A row of values, one for each column that takes one, without timings where there is none: printed, then
 * written. `name` is the row's or NULL; `note` follows on the screen; NULL: none. */
void bench_row(const struct bench *bench, const struct bench_table *table, const char *name,
               const struct spread *values, const char *note);

/* Only prints a row, or only writes it. */
void bench_print(const struct bench *bench, const struct bench_table *table, const char *name,
                 const struct spread *values, const char *note);
void bench_write(const struct bench *bench, const struct bench_table *table, const char *name,
                 const struct spread *values);

/* Prints the verdict of the case at hand and what it is about, a line. */
void bench_print_verdict(const struct bench *bench, const char *note);

#endif
