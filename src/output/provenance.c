/* Provenance: what is known of this process. */
#include "output/provenance.h"

#include "base/text.h"
#include "commit.h"
#include "parallel/communicator.h"

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

/* As openPMD has it. */
static void get_date(char date[NAME_LENGTH])
{
    const time_t now = time(NULL);
    struct tm local;
    date[0] = '\0';
    if (localtime_r(&now, &local))
        strftime(date, NAME_LENGTH, "%Y-%m-%d %H:%M:%S %z", &local);
}

static void get_host(char host[NAME_LENGTH])
{
    if (gethostname(host, NAME_LENGTH - 1) != 0)
        strcpy(host, "unknown");
    host[NAME_LENGTH - 1] = '\0';
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

/* Of muParser, which tells it of a parser and with a date behind it. */
static void get_parser_version(char version[NAME_LENGTH])
{
    muParserHandle_t parser = mupCreate(muBASETYPE_FLOAT);
    snprintf(version, NAME_LENGTH, "%s", mupGetVersion(parser));
    version[strcspn(version, " ")] = '\0';
    mupRelease(parser);
}

/* HDF5 by its header, for only the writer's thread may call it. */
static void print_libraries(FILE *stream)
{
    char mpi[NAME_LENGTH], parser_version[NAME_LENGTH] = "";
    int yaml[3];
    communicator_library(sizeof mpi, mpi);
    get_parser_version(parser_version);
    yaml_get_version(&yaml[0], &yaml[1], &yaml[2]);
    fprintf(stream,
            "HDF5 %d.%d.%d; %s; %s; libyaml %d.%d.%d; muParser %s; zlib %s; xxHash %d.%d.%d; glibc %s",
            H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, mpi, fftw_version, yaml[0], yaml[1], yaml[2],
            parser_version, zlibVersion(), (int)XXH_versionNumber() / 10000,
            (int)XXH_versionNumber() / 100 % 100, (int)XXH_versionNumber() % 100, gnu_get_libc_version());
}

char *provenance_text(const struct device_info *device)
{
    char *text = NULL, date[NAME_LENGTH], host[NAME_LENGTH];
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return NULL;
    get_date(date);
    get_host(host);
    fprintf(stream, "radixpic   %s\ndate       %s\nhost       %s\ncommand    ", provenance_version, date,
            host);
    print_command(stream);
    fputs("\nlibraries  ", stream);
    print_libraries(stream);
    if (device)
        fprintf(stream, "\ndevice     %s, platform %s, driver %s", device->name, device->platform,
                device->driver);
    fputs("\nkernels    ", stream);
    text_print_word(stream, program_folder());
    if (device)
        fprintf(stream, ", digest %016" PRIx64, device->kernels);
    fputc('\n', stream);
    fclose(stream);
    return text;
}

/* An attribute of what a function prints. */
static void record_printed(struct hdf5_object *root, const char *name, void (*print)(FILE *stream))
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return;
    print(stream);
    fclose(stream);
    hdf5_text(root, name, text);
    free(text);
}

void provenance_record(struct hdf5_file *file)
{
    struct hdf5_object *const root = &file->root;
    char date[NAME_LENGTH], host[NAME_LENGTH];
    if (file->has_no_data)
        return;
    get_date(date);
    get_host(host);
    hdf5_text(root, "software", "RadixPIC");
    hdf5_text(root, "softwareVersion", provenance_version);
    record_printed(root, "softwareDependencies", print_libraries);
    hdf5_text(root, "machine", host);
    record_printed(root, "command", print_command);
    if (date[0])
        hdf5_text(root, "date", date);
}
