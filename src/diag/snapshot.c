/* Snapshot: the root of an openPMD file; meshes and species are in openpmd_meshes.c and openpmd_species.c. */
#include "diag/snapshot.h"

#include "diag/hdf5_file.h"
#include "diag/openpmd.h"
#include "diag/units.h"

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

static void write_root(struct hdf5_file *file, const struct config *config)
{
    const hid_t root = file->id;
    hdf5_text(file, root, "openPMD", "1.1.0");
    hdf5_uint32(file, root, "openPMDextension", 1); /* ED-PIC */
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

static void write_content(struct hdf5_file *file, const struct snapshot *snapshot)
{
    const struct units units = units_make(&snapshot->config->units);
    char step[24];
    snprintf(step, sizeof step, "%" PRIu64, snapshot->step);

    write_root(file, snapshot->config);
    const hid_t data = hdf5_group(file, file->id, "data");
    const hid_t iteration = hdf5_group(file, data, step);
    hdf5_double(file, iteration, "time", snapshot->time);
    hdf5_double(file, iteration, "dt", snapshot->config->time.step);
    hdf5_double(file, iteration, "timeUnitSI", units.time);

    const hid_t meshes = hdf5_group(file, iteration, "fields");
    openpmd_write_meshes(file, meshes, snapshot, &units);
    hdf5_close(file, meshes);

    /* Without particles the group stays empty, so what particlesPath names is there. */
    const hid_t species = hdf5_group(file, iteration, "particles");
    if (snapshot->config->output.snapshots.particles)
        openpmd_write_species(file, species, snapshot, &units);
    hdf5_close(file, species);

    hdf5_close(file, iteration);
    hdf5_close(file, data);
}

enum status snapshot_write(const char *folder, const struct snapshot *snapshot, uint64_t *bytes)
{
    *bytes = 0;
    char name[48];
    snprintf(name, sizeof name, "data_%" PRIu64 ".h5", snapshot->step);
    struct hdf5_file file;
    TRY(hdf5_file_create(snapshot->communicator, folder, name, snapshot->config->output.snapshots.compression,
                         0, &file));
    write_content(&file, snapshot);
    return hdf5_file_finish(&file, bytes);
}

uint64_t snapshot_bytes(const struct config *config)
{
    /* Groups, attributes and first chunk indices, measured and rounded up by a third or more. */
    const uint64_t frame = 16384, frame_of_species = 16384;
    uint64_t bytes = frame + openpmd_meshes_bytes(config);
    if (config->output.snapshots.particles)
        bytes += frame_of_species * config->species_count + openpmd_species_bytes(config);
    /* Further chunk indices and checksums: less than 100 bytes for a chunk of 64 Ki elements. */
    return bytes + bytes / 1024;
}
