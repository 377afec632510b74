/* Provenance: the process and the run that wrote a file. */
#include "output/provenance.h"

#include "base/text.h"
#include "commit.h"

#include <fftw3.h>
#include <gnu/libc-version.h>
#include <hdf5.h>
#include <inttypes.h>
#include <muParserDLL.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include <yaml.h>
#include <zlib.h>

enum { NAME_LENGTH = 256 };

const char provenance_version[] = RADIXPIC_VERSION ", " RADIXPIC_COMMIT;

static void print_version(FILE *stream)
{
    fputs(provenance_version, stream);
}

/* As openPMD has it. */
static void print_date(FILE *stream)
{
    const time_t now = time(NULL);
    char date[NAME_LENGTH] = "";
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &local);
    fputs(date, stream);
}

static void print_host(FILE *stream)
{
    char host[NAME_LENGTH] = "";
    fputs(gethostname(host, sizeof host - 1) == 0 ? host : "unknown", stream);
}

/* The words that this process was started with, also of a program that the library is in. */
static void print_command(FILE *stream)
{
    FILE *file = fopen("/proc/self/cmdline", "r");
    char *word = NULL;
    size_t capacity = 0;
    for (int n = 0; file && getdelim(&word, &capacity, '\0', file) > 0; n++) {
        fputs(n > 0 ? " " : "", stream);
        text_print_word(stream, word);
    }
    free(word);
    if (file)
        fclose(file);
}

/* HDF5 by its header, for only the writer's thread may call it. */
static void print_libraries(FILE *stream)
{
    char mpi[NAME_LENGTH];
    int yaml[3];
    muParserHandle_t parser = mupCreate(muBASETYPE_FLOAT); /* tells its version, with a date behind it */
    const char *version = mupGetVersion(parser);
    communicator_library(sizeof mpi, mpi);
    yaml_get_version(&yaml[0], &yaml[1], &yaml[2]);
    fprintf(stream,
            "HDF5 %d.%d.%d; %s; %s; libyaml %d.%d.%d; muParser %.*s; zlib %s; xxHash %d.%d.%d; glibc %s",
            H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, mpi, fftw_version, yaml[0], yaml[1], yaml[2],
            (int)strcspn(version, " "), version, zlibVersion(), (int)XXH_versionNumber() / 10000,
            (int)XXH_versionNumber() / 100 % 100, (int)XXH_versionNumber() % 100, gnu_get_libc_version());
    mupRelease(parser);
}

static const struct {
    const char *line, *attribute; /* their names in the text, and in openPMD */
    void (*print)(FILE *stream);
} facts[] = {{"radixpic", "softwareVersion", print_version},
             {"date", "date", print_date},
             {"host", "machine", print_host},
             {"command", "command", print_command},
             {"libraries", "softwareDependencies", print_libraries}};

enum { FACTS = sizeof facts / sizeof facts[0] };

char *provenance_text(const struct device_info *device)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return NULL;
    for (size_t n = 0; n < FACTS; n++) {
        fprintf(stream, "%-10s ", facts[n].line);
        facts[n].print(stream);
        fputc('\n', stream);
    }
    if (device)
        fprintf(stream, "device     %s, platform %s, driver %s\n", device->name, device->platform,
                device->driver);
    fputs("kernels    ", stream);
    text_print_word(stream, program_folder());
    if (device)
        fprintf(stream, ", digest %016" PRIx64, device->kernels);
    fputc('\n', stream);
    fclose(stream);
    return text;
}

static void record_stages(struct hdf5_object *group, const struct timers *timers)
{
    const char *names[STAGE_OTHER];
    double fractions[STAGE_OTHER], all = 0;
    size_t count = 0;
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        all += timers->stages[stage].seconds;
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        if (timers->stages[stage].seconds > 0) {
            names[count] = stage_name((enum stage)stage);
            fractions[count++] = timers->stages[stage].seconds / all;
        }
    if (count == 0)
        return;
    hdf5_texts(group, "stages", count, names);
    hdf5_doubles(group, "stageShares", count, fractions);
}

void provenance_record(struct hdf5_file *file, const struct view *view)
{
    if (!file->has_no_data)
        hdf5_text(&file->root, "software", "RadixPIC");
    for (size_t n = 0; n < FACTS && !file->has_no_data; n++) {
        char *text = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&text, &length);
        if (!stream)
            continue;
        facts[n].print(stream);
        fclose(stream);
        hdf5_text(&file->root, facts[n].attribute, text);
        free(text);
    }
    for (uint32_t s = 0; s < view->config->species_count; s++) {
        char name[CONFIG_NAME_LENGTH + 16];
        snprintf(name, sizeof name, "%s_fileDigest", view->config->species[s].name);
        if (species_file(&view->config->species[s])[0])
            hdf5_numbers(&file->root, name, HDF5_UINT64, 0, &view->config->species[s].read.facts.digest);
    }
    for (int n = 0; n < FIELD_GROUPS; n++)
        if (view->config->fields.file[n].digest)
            hdf5_numbers(&file->root, field_groups[n].digest, HDF5_UINT64, 0,
                         &view->config->fields.file[n].digest);
    struct hdf5_object *group = hdf5_group(&file->root, "performance");
    hdf5_numbers(group, "run", HDF5_UINT64, 0, &view->run);
    if (!view->device)
        return;
    const struct device_info *info = device_info(view->device);
    const uint64_t steps = view->step - view->first_step;
    const double seconds = timer_now() - view->started;
    double particles = 0;
    char sort[256] = "";
    for (uint32_t s = 0; s < view->config->species_count; s++)
        particles += (double)view->config->species[s].particles;
    sorter_plan_describe(view->sort, sort, sizeof sort);
    hdf5_text(&file->root, "kernelsFolder", program_folder());
    hdf5_numbers(&file->root, "kernelsDigest", HDF5_UINT64, 0, &info->kernels);
    hdf5_text(group, "device", info->name);
    hdf5_text(group, "driver", info->driver);
    hdf5_text(group, "stepper", view->stepper);
    hdf5_text(group, "sort", sort);
    hdf5_numbers(group, "ranks", HDF5_UINT32, 0, &(uint32_t){(uint32_t)view->communicator->size});
    hdf5_numbers(group, "steps", HDF5_UINT64, 0, &steps);
    hdf5_double(group, "nsPerParticleStep", steps > 0 ? 1e9 * seconds / ((double)steps * particles) : 0);
    record_stages(group, device_timers(view->device));
}
