/* openPMD root: what a file of one iteration begins with. */
#include "output/openpmd.h"

#include <inttypes.h>
#include <pwd.h>
#include <time.h>
#include <unistd.h>

static void write_date(struct hdf5_file *file)
{
    const time_t now = time(NULL);
    struct tm local;
    char date[64];
    if (localtime_r(&now, &local) && strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &local))
        hdf5_text(file, file->id, "date", date);
}

static void write_attributes(struct hdf5_file *file, const struct config *config, uint32_t extensions)
{
    const hid_t root = file->id;
    hdf5_text(file, root, "openPMD", "1.1.0");
    hdf5_uint32(file, root, "openPMDextension", extensions);
    hdf5_text(file, root, "basePath", "/data/%T/");
    hdf5_text(file, root, "meshesPath", "fields/");
    hdf5_text(file, root, "particlesPath", "particles/");
    hdf5_text(file, root, "iterationEncoding", "fileBased");
    hdf5_text(file, root, "iterationFormat", "data_%T.h5");
    const struct passwd *account = getpwuid(getuid());
    hdf5_text(file, root, "author", account ? account->pw_name : "unknown");
    hdf5_text(file, root, "software", "RadixPIC");
    hdf5_text(file, root, "softwareVersion", RADIXPIC_VERSION);
    write_date(file);
    if (config->title[0])
        hdf5_text(file, root, "comment", config->title);
}

hid_t openpmd_write_root(struct hdf5_file *file, const struct config *config, uint32_t extensions,
                         uint64_t step, double time_now)
{
    const struct units units = units_make(&config->units);
    char name[24];
    snprintf(name, sizeof name, "%" PRIu64, step);
    write_attributes(file, config, extensions);
    const hid_t data = hdf5_group(file, file->id, "data");
    const hid_t iteration = hdf5_group(file, data, name);
    hdf5_close(file, data);
    hdf5_double(file, iteration, "time", time_now);
    hdf5_double(file, iteration, "dt", config->time.step);
    hdf5_double(file, iteration, "timeUnitSI", units.time);
    return iteration;
}
