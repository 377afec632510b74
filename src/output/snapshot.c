/* Snapshot: what is in the file; root, meshes and species are in openpmd_root.c, openpmd_meshes.c and
 * openpmd_species.c. */
#include "output/snapshot.h"

#include "output/hdf5_file.h"
#include "output/openpmd.h"
#include "output/units.h"

#include <inttypes.h>

static void write_content(struct hdf5_file *file, const struct view *view)
{
    const struct units units = units_make(&view->config->units);
    const hid_t iteration = openpmd_write_root(file, view->config, OPENPMD_ED_PIC, view->step, view->time);

    const hid_t meshes = hdf5_group(file, iteration, "fields");
    openpmd_write_meshes(file, meshes, view, &units);
    hdf5_close(file, meshes);

    /* Without particles the group stays empty, so what particlesPath names is there. */
    const hid_t species = hdf5_group(file, iteration, "particles");
    if (view->config->output.snapshots.particles)
        openpmd_write_species(file, species, view, &units);
    hdf5_close(file, species);

    hdf5_close(file, iteration);
}

enum status snapshot_write(void *part, const char *folder, const struct view *view, uint64_t *bytes)
{
    (void)part;
    *bytes = 0;
    char name[48];
    snprintf(name, sizeof name, "data_%" PRIu64 ".h5", view->step);
    struct hdf5_file file;
    TRY(hdf5_file_create(view->communicator, folder, name, view->config->output.snapshots.compression, 0,
                         &file));
    write_content(&file, view);
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
