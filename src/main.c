/* RadixPIC: arguments -> subcommand, status -> exit code. */
#include "base/stop.h"
#include "base/suggest.h"
#include "base/thread.h"
#include "base/timer.h"
#include "commands/commands.h"
#include "config/options.h"
#include "device/device.h"
#include "field/fft.h"
#include "output/provenance.h"
#include "parallel/communicator.h"

#include <ctype.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name;
    enum status (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", command_run, "run a simulation from a config file"},
    {"check", command_check, "validate a config file and print what follows from it"},
    {"devices", command_devices, "list the OpenCL devices"},
    {"bench", command_bench, "run an experiment, such as the paper's sort of particles"},
    {"tune", command_tune, "find the fastest sort for a device, for the block sort: of a config"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(void)
{
    printf("Usage: radixpic COMMAND [OPTION...]\n"
           "A 2D periodic Particle-In-Cell mini-app whose particles are radix-sorted by a\n"
           "short key every step.\n\n");
    for (size_t n = 0; n < COMMAND_COUNT; n++)
        printf("  %-10s %s\n", commands[n].name, commands[n].summary);
    printf("\n  --help     show this help\n  --version  show the version; with --verbose the commit and "
           "libraries\n\n"
           "radixpic COMMAND --help tells the options of a command.\n\n"
           "Examples:\n"
           "  radixpic run configs/landau_damping.yaml\n"
           "  radixpic check configs/two_stream.yaml --set time.step=0.2\n"
           "  radixpic bench pic-sort --particles 1048576\n");
}

/* `--version`, or with --verbose behind it how the program was built and what it finds here. */
static enum status print_version(int argc, char **argv)
{
    struct device *device = NULL;
    if (argc > 2 && strcmp(argv[2], "--verbose") != 0)
        return status_fail(STATUS_USAGE, "radixpic --version: unexpected argument \"%s\"", argv[2]);
    if (argc == 2) {
        printf("radixpic " RADIXPIC_VERSION "\n");
        return STATUS_OK;
    }
    const bool has_device = device_open("auto", 0, 0, &device) == STATUS_OK;
    char *text = provenance_text(has_device ? device_info(device) : NULL);
    printf("%s", text ? text : "");
    if (!has_device)
        printf("device     %s\n", status_message());
    free(text);
    device_close(&device);
    return STATUS_OK;
}

/* The system calls it before it initialises any library. */
__attribute__((section(".preinit_array"), used)) static void (*before_libraries)(void) = stop_note_ignored;

static enum status dispatch(int argc, char **argv)
{
    enum { HELP = COMMAND_COUNT, VERSION };
    const char *known[] = {[HELP] = "--help", [VERSION] = "--version"};
    char name[64];
    size_t found;
    TRY(thread_require_limits());
    TRY(stop_begin());
    for (size_t n = 0; n < COMMAND_COUNT; n++)
        known[n] = commands[n].name;
    if (argc < 2)
        return status_fail(STATUS_USAGE, "radixpic: expected a command; radixpic --help lists them");
    if (strcmp(argv[1], BUILDERS_COMMAND) == 0) /* of this program itself, not of users */
        return device_build_for_others(argc - 2, argv + 2, fft_build);
    const char *word = strcmp(argv[1], "-h") == 0 ? known[HELP] : argv[1];
    TRY(suggest_find("radixpic: command", word, known, COMMAND_COUNT + 2, &found));
    if (found >= HELP && !communicator_is_first())
        return STATUS_OK;
    if (found == VERSION)
        return print_version(argc, argv);
    if (found == HELP) {
        print_help();
        return STATUS_OK;
    }
    snprintf(name, sizeof name, "radixpic %s", argv[1]);
    argv[1] = name;
    return commands[found].run(argc - 1, argv + 1);
}

/* Whether a message begins with its place: the command's full name or FILE:LINE:COL. */
static bool names_place(const char *message)
{
    const char *end = strstr(message, ": ");
    if (strncmp(message, "radixpic", strlen("radixpic")) == 0)
        return true;
    for (int number = 0; number < 2; number++) {
        const char *const behind = end;
        while (end && end > message && isdigit((unsigned char)end[-1]))
            end--;
        if (end == behind || end == message || *--end != ':')
            return false;
    }
    return true;
}

/* Memory that is freed stays, up to 256 MiB, and serves again. Copies of lists and the packing of their
 * chunks take tens of megabytes for each file, and the system clears every page that it hands out anew. */
static void keep_freed_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 25); /* the most that glibc takes */
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
}

/* A standard stream that the caller closed stays unusable: no file of the run may take its number. */
static void keep_standard_numbers(void)
{
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor > STDERR_FILENO)
        close(descriptor);
}

int main(int argc, char **argv)
{
    keep_standard_numbers();
    timer_begin();
    keep_freed_memory();
    options_show_help(communicator_is_first());
    enum status status = dispatch(argc, argv);
    if (status == STATUS_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = status_fail(STATUS_FAILED, "cannot write to the standard output");
    if (status != STATUS_OK && communicator_speaks(status))
        fprintf(stderr, "%s%s\n", names_place(status_message()) ? "" : "radixpic: ", status_message());
    fflush(NULL);
    communicator_stop(status);
    if (status == STATUS_OK)
        return EXIT_SUCCESS;
    _exit((int)status); /* whatever would run at exit could trip over the file that HDF5 could not close */
}
