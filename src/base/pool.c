/* Pool: threads that live for one list of pieces, and a ring of slots between them and the caller; and
 * threads that stay, for lists of short pieces. */
#include "base/pool.h"

#include "base/integers.h"
#include "base/thread.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST_THREADS = 64, SLOTS_PER_THREAD = 2 };

/* Where a piece is made and waits until it is taken. */
struct slot {
    bool is_made;
    enum status status;
    char *message; /* of a failure, which a thread has for itself */
    void *scratch;
};

struct run {
    const struct pool_work *work;
    size_t count, slot_count;
    struct slot slots[SLOTS_PER_THREAD * MOST_THREADS]; /* piece n has slot n modulo slot_count */
    pthread_mutex_t lock;                               /* of all below, and of is_made */
    pthread_cond_t made, taken;
    size_t next; /* piece to make */
    size_t turn; /* piece to take */
    bool ends;   /* nothing is left to make or to take */
};

size_t pool_processors(void)
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof processors, &processors) == 0 ? (size_t)CPU_COUNT(&processors) : 1;
}

size_t pool_slots(void)
{
    return SLOTS_PER_THREAD * (pool_processors() < MOST_THREADS ? pool_processors() : MOST_THREADS);
}

static void make_piece(const struct run *run, size_t n, struct slot *slot)
{
    slot->status = run->work->make(run->work->context, n, slot->scratch);
    slot->message = slot->status == STATUS_OK ? NULL : status_take();
}

static void *make_pieces(void *argument)
{
    struct run *run = argument;
    IN_C_LOCALE;
    pthread_mutex_lock(&run->lock);
    for (;;) {
        while (!run->ends && run->next < run->count && run->next - run->turn >= run->slot_count)
            pthread_cond_wait(&run->taken, &run->lock);
        if (run->ends || run->next == run->count)
            break;
        const size_t n = run->next++;
        struct slot *slot = &run->slots[n % run->slot_count];
        pthread_mutex_unlock(&run->lock);
        make_piece(run, n, slot);
        pthread_mutex_lock(&run->lock);
        slot->is_made = true;
        if (n == run->turn)
            pthread_cond_signal(&run->made);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* In the thread of the caller, which makes a piece itself only where there is no other thread. */
static enum status take_piece(struct run *run, size_t n, bool has_threads)
{
    struct slot *slot = &run->slots[n % run->slot_count];
    if (!has_threads)
        make_piece(run, n, slot);
    pthread_mutex_lock(&run->lock);
    while (has_threads && !slot->is_made)
        pthread_cond_wait(&run->made, &run->lock);
    pthread_mutex_unlock(&run->lock);
    enum status status = slot->status;
    if (status != STATUS_OK)
        status = status_fail_lines(status, "%s", slot->message ? slot->message : "");
    else if (run->work->take)
        status = run->work->take(run->work->context, n, slot->scratch);
    pthread_mutex_lock(&run->lock);
    slot->is_made = false;
    run->turn++;
    pthread_cond_signal(&run->taken);
    pthread_mutex_unlock(&run->lock);
    return status;
}

/* As many as there is memory for. */
static void allocate_slots(struct run *run, size_t wanted)
{
    for (; run->slot_count < wanted; run->slot_count++) {
        void *scratch = malloc(run->work->scratch_bytes + 1);
        if (!scratch)
            return;
        run->slots[run->slot_count].scratch = scratch;
    }
}

static void end_threads(struct run *run, size_t count, const pthread_t *threads)
{
    pthread_mutex_lock(&run->lock);
    run->ends = true;
    pthread_cond_broadcast(&run->taken);
    pthread_mutex_unlock(&run->lock);
    for (size_t n = 0; n < count; n++)
        pthread_join(threads[n], NULL);
}

enum status pool_run(const struct pool_work *work, size_t count)
{
    struct run run = {.work = work,
                      .count = count,
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .made = PTHREAD_COND_INITIALIZER,
                      .taken = PTHREAD_COND_INITIALIZER};
    pthread_t threads[MOST_THREADS];
    enum status status = STATUS_OK;
    size_t wanted = pool_slots() / SLOTS_PER_THREAD;
    wanted = wanted < count ? wanted : count;
    allocate_slots(&run, wanted * SLOTS_PER_THREAD < count ? wanted * SLOTS_PER_THREAD : count);
    if (run.slot_count == 0 && count > 0)
        return status_fail(STATUS_FAILED, "no memory for the work of a thread");
    size_t started = 0;
    while (wanted > 1 && started < wanted && thread_start(&threads[started], make_pieces, &run) == 0)
        started++;
    for (size_t n = 0; n < count && status == STATUS_OK; n++)
        status = take_piece(&run, n, started > 0);
    end_threads(&run, started, threads);
    for (size_t n = 0; n < run.slot_count; n++) {
        free(run.slots[n].message);
        free(run.slots[n].scratch);
    }
    return status;
}

/* ---- short pieces ---- */

static struct {
    pthread_mutex_t lock; /* of all below but `next`; places and helping are looked at without it */
    pthread_cond_t begins, ends;
    bool is_busy;
    size_t threads;       /* that were started */
    atomic_size_t places; /* for threads that may yet help with the list */
    atomic_size_t helping;
    pool_piece *piece;
    const void *context;
    size_t count, ranges;
    atomic_size_t next; /* range */
} shared = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .begins = PTHREAD_COND_INITIALIZER, .ends = PTHREAD_COND_INITIALIZER};

/* By ranges, for neighbouring pieces may write to one line of a cache: at the same time threads are at
 * distant ones. */
static void make_shared_pieces(void)
{
    const size_t count = shared.count, ranges = shared.ranges;
    for (size_t r; (r = atomic_fetch_add(&shared.next, 1)) < ranges;)
        for (size_t n = divide_up(count * r, ranges); n < divide_up(count * (r + 1), ranges); n++)
            shared.piece(shared.context, n);
}

/* Before a thread sleeps it waits some microseconds for the next list, which often comes then: waking a
 * thread takes longer. */
#define LOOK_WHILE(condition)                                                                                \
    for (int looks = 0; looks < 64 && (condition); looks++)                                                  \
    sched_yield()

/* A thread that wakes late finds no place, and the caller does not wait for it. */
static void *help(void *unused)
{
    pthread_mutex_lock(&shared.lock);
    for (;;) {
        while (shared.places == 0)
            pthread_cond_wait(&shared.begins, &shared.lock);
        shared.places--;
        shared.helping++;
        pthread_mutex_unlock(&shared.lock);
        make_shared_pieces();
        pthread_mutex_lock(&shared.lock);
        if (--shared.helping == 0)
            pthread_cond_signal(&shared.ends);
        pthread_mutex_unlock(&shared.lock);
        LOOK_WHILE(shared.places == 0);
        pthread_mutex_lock(&shared.lock);
    }
    return unused;
}

/* Whether the list is shared now; starts the threads that are missing. */
static bool begin_sharing(size_t threads, size_t count, pool_piece *piece, const void *context)
{
    pthread_mutex_lock(&shared.lock);
    const bool begins = !shared.is_busy;
    if (begins) {
        pthread_t thread;
        while (shared.threads + 1 < threads && thread_start(&thread, help, NULL) == 0) {
            pthread_detach(thread);
            shared.threads++;
        }
        shared.is_busy = true;
        shared.piece = piece;
        shared.context = context;
        shared.count = count;
        shared.ranges = threads;
        shared.next = 0;
        shared.places = threads - 1;
        pthread_cond_broadcast(&shared.begins);
    }
    pthread_mutex_unlock(&shared.lock);
    return begins;
}

void pool_share(size_t threads, size_t count, pool_piece *piece, const void *context)
{
    const size_t processors = threads > 1 ? pool_processors() : 1;
    threads = threads < processors ? threads : processors;
    threads = threads < count ? threads : count;
    if (threads < 2 || !begin_sharing(threads, count, piece, context)) {
        for (size_t n = 0; n < count; n++)
            piece(context, n);
        return;
    }
    make_shared_pieces();
    LOOK_WHILE(shared.helping > 0);
    pthread_mutex_lock(&shared.lock);
    shared.places = 0;
    while (shared.helping > 0)
        pthread_cond_wait(&shared.ends, &shared.lock);
    shared.is_busy = false;
    pthread_mutex_unlock(&shared.lock);
}
