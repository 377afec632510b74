/* Permutation by numpy: a Python process whose standard output is its times in seconds, a line each. */
#include "experiments/permutation/permutation_numpy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Arguments: sides, axes, repeats. copy() makes the new array contiguous whatever the axes are. */
static char script[] = "import sys, time, numpy\n"
                       "sides, axes = ([int(word) for word in text.split(',')] for text in sys.argv[1:3])\n"
                       "volume = numpy.arange(numpy.prod(sides), dtype=numpy.uint32).reshape(sides)\n"
                       "for _ in range(int(sys.argv[3]) + 1):\n"
                       "    start = time.perf_counter()\n"
                       "    numpy.transpose(volume, axes).copy()\n"
                       "    print(repr(time.perf_counter() - start))\n";

/* Starts `python` with its standard output in *output, which the caller closes; false where there is none. */
static bool start(const char *python, char *const *arguments, pid_t *child, FILE **output)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool started = posix_spawn_file_actions_init(&actions) == 0;
    if (started) {
        started = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
                  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                  posix_spawnp(child, python, &actions, NULL, arguments, environ) == 0;
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    *output = started ? fdopen(ends[0], "r") : NULL;
    if (!*output)
        close(ends[0]);
    return started;
}

/* The first time is the warm-up's. */
static void read_times(FILE *output, struct samples *samples)
{
    char line[64];
    for (uint32_t n = 0; output && fgets(line, sizeof line, output); n++)
        if (n > 0)
            samples_add(samples, strtod(line, NULL));
}

/* False where the program is not there or ends with an error, for example without numpy or memory. */
static bool time_by(const char *python, char *const *arguments, uint32_t repeats, struct samples *samples)
{
    FILE *output = NULL;
    pid_t child = 0;
    int code = 0;
    *samples = (struct samples){0};
    if (!start(python, arguments, &child, &output))
        return false;
    read_times(output, samples);
    if (output)
        fclose(output);
    while (waitpid(child, &code, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(code) && WEXITSTATUS(code) == 0 && samples->count == repeats;
}

struct spread permutation_by_numpy(const char *python, char *sides, char *axes, uint32_t repeats)
{
    static const char *const usual[] = {"python3", "/usr/bin/python3"};
    const char *const *programs = python ? &python : usual;
    const size_t count = python ? 1 : sizeof usual / sizeof usual[0];
    char repeats_text[16];
    struct samples *samples = calloc(1, sizeof *samples);
    bool timed = false;
    snprintf(repeats_text, sizeof repeats_text, "%u", repeats);
    for (size_t n = 0; n < count && !timed && samples; n++) {
        char program[PATH_MAX];
        char *const arguments[] = {program, "-c", script, sides, axes, repeats_text, NULL};
        snprintf(program, sizeof program, "%s", programs[n]);
        timed = time_by(program, arguments, repeats, samples);
    }
    const struct spread seconds = timed ? spread_of(samples) : (struct spread){0};
    free(samples);
    return seconds;
}
