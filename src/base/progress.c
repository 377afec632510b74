/* Progress: formatting and pacing of the line. */
#include "base/progress.h"

#include "base/timer.h"

#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double live_interval = 0.2; /* seconds between two live lines */

/* Tenths of the way that are behind. */
static uint64_t tenths(uint64_t step, uint64_t steps)
{
    return steps > 0 ? 10 * step / steps : 10;
}

struct progress progress_begin(struct log *log, uint64_t first, uint64_t steps, uint64_t particles)
{
    return (struct progress){
        .log = log,
        .live = log->terminal && log->level >= LOG_NORMAL && isatty(fileno(log->terminal)),
        .first = first,
        .steps = steps,
        .particles = particles,
        .started = timer_now(),
        .next_tenth = steps > 0 ? tenths(first, steps) + 1 : 1,
    };
}

static void format_duration(char *text, size_t size, double seconds)
{
    const unsigned long whole = (unsigned long)(seconds + 0.5);
    if (whole >= 3600)
        snprintf(text, size, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(text, size, "%lu:%02lu", whole / 60, whole % 60);
}

/* A line of `now`, whose rate is that since `last`. */
static void format_line(const struct progress *progress, struct progress_mark now, struct progress_mark last,
                        const char *drift_name, double drift, char *line, size_t size)
{
    const uint64_t step = now.step;
    const double interval = now.time - last.time, measured = now.time - progress->warm.time;
    const double rate =
        interval > 0 ? 1e-6 * (double)(step - last.step) * (double)progress->particles / interval : 0;
    const double left = measured * (double)(progress->steps - step) / (double)(step - progress->warm.step);
    const double percent = 100 * (double)step / (double)progress->steps;
    char spent_text[32], left_text[32], drift_text[48] = "";
    format_duration(spent_text, sizeof spent_text, now.time - progress->started);
    format_duration(left_text, sizeof left_text, left);
    if (!isnan(drift))
        snprintf(drift_text, sizeof drift_text, " %s %+.2e", drift_name, drift);
    snprintf(line, size, "step %llu/%llu %3.0f %% %.1f M particles/s elapsed %s ETA %s%s",
             (unsigned long long)step, (unsigned long long)progress->steps, percent, rate, spent_text,
             left_text, drift_text);
}

/* What fits beside the cursor: a line that wraps could not be rewritten in place. */
static void cut_to_terminal(const struct progress *progress, char *line, size_t size)
{
    struct winsize window;
    size_t columns = 80;
    if (ioctl(fileno(progress->log->terminal), TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
        columns = window.ws_col;
    if (columns <= size)
        line[columns - 1] = '\0';
}

static bool live_is_due(const struct progress *progress, uint64_t step, double time)
{
    return progress->live && progress->log->terminal &&
           (time - progress->shown.time > live_interval || step == progress->steps);
}

bool progress_is_due(const struct progress *progress, uint64_t step)
{
    return step == progress->first || tenths(step, progress->steps) >= progress->next_tenth ||
           live_is_due(progress, step, timer_now());
}

void progress_update(struct progress *progress, uint64_t step, double drift)
{
    char line[256];
    const struct progress_mark now = {step, timer_now()};
    const bool is_last = step == progress->steps;
    if (step == progress->first) {
        progress->warm = progress->shown = progress->logged = now;
        return;
    }
    progress->live = progress->live && progress->log->terminal;
    if (live_is_due(progress, step, now.time)) {
        /* the last line may come soon after the one before, and stays: its rate is that of a tenth */
        format_line(progress, now, is_last ? progress->logged : progress->shown, "drift", drift, line,
                    sizeof line);
        cut_to_terminal(progress, line, sizeof line);
        fprintf(progress->log->terminal, "\r\033[K%s",
                line); /* back to the start of the line, and clear it */
        fflush(progress->log->terminal);
        progress->shown = now;
    }
    const uint64_t tenth = tenths(step, progress->steps);
    if (tenth < progress->next_tenth)
        return;
    progress->next_tenth = tenth + 1;
    format_line(progress, now, progress->logged, "energy drift", drift, line, sizeof line);
    progress->logged = now;
    FILE *const terminal = progress->log->terminal;
    if (progress->live)
        progress->log->terminal = NULL; /* the live line shows it */
    log_line(progress->log, LOG_NORMAL, "%s", line);
    if (progress->live)
        progress->log->terminal = terminal;
}

void progress_end(struct progress *progress)
{
    if (progress->live && progress->log->terminal)
        fputc('\n', progress->log->terminal);
    progress->live = false;
}
