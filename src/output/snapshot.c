/* Snapshot: the fields; the rest of the file is in openpmd.c and openpmd_species.c. */
#include "output/snapshot.h"

#include "output/openpmd.h"

static void write_solver_attributes(struct openpmd *openpmd)
{
    static const char *const periodic[] = {"periodic", "periodic", "periodic", "periodic"};
    struct hdf5_file *file = &openpmd->file;
    const hid_t meshes = openpmd->meshes;
    hdf5_text(file, meshes, "fieldSolver", "other");
    hdf5_text(
        file, meshes, "fieldSolverParameters",
        openpmd->view->config->fields.gradient == GRADIENT_SPECTRAL
            ? "electrostatic;Poisson by FFT: phi_k = rho_k/(eps0 k^2), phi_0 = 0;E = -grad phi, spectral"
            : "electrostatic;Poisson by FFT: phi_k = rho_k/(eps0 k^2), phi_0 = 0;E = -grad phi, centred "
              "differences");
    hdf5_texts(file, meshes, "fieldBoundary", 4, periodic);
    hdf5_texts(file, meshes, "particleBoundary", 4, periodic);
    hdf5_text(file, meshes, "currentSmoothing", "none");
    hdf5_text(file, meshes, "chargeCorrection", "none");
}

/* An array of the nodes, on the device; the nodes of the own rows come first. */
struct nodes {
    const struct buffer *buffer;
    size_t size; /* of a real */
};

static enum status fill_nodes(const void *source, uint64_t first, size_t count, void *values)
{
    const struct nodes *nodes = source;
    return buffer_read(nodes->buffer, (size_t)first * nodes->size, count * nodes->size, values);
}

static void write_fields(struct openpmd *openpmd)
{
    const struct fields *fields = openpmd->view->fields;
    const struct units *units = &openpmd->units;
    const size_t size = precision_bytes(openpmd->view->config->precision);
    const struct nodes ex = {fields->ex, size}, ey = {fields->ey, size}, phi = {fields->phi, size},
                       rho = {fields->rho, size};
    const struct openpmd_mesh meshes[] = {
        {.name = "E",
         .dimension = {1, 1, -3, -1},
         .unit = units->electric_field,
         .components = 2,
         .source = {&ex, &ey}},
        {.name = "phi",
         .dimension = {2, 1, -3, -1},
         .unit = units->potential,
         .components = 1,
         .source = {&phi}},
        {.name = "chargeDensity",
         .dimension = {-3, 0, 1, 1},
         .unit = units->charge_density,
         .filter_passes = openpmd->view->config->deposit.filter_passes,
         .comment = "of all species, without the neutralising background",
         .components = 1,
         .source = {&rho}},
    };
    write_solver_attributes(openpmd);
    for (size_t n = 0; n < sizeof meshes / sizeof meshes[0]; n++) {
        struct openpmd_mesh mesh = meshes[n];
        mesh.fill = fill_nodes;
        openpmd_write_mesh(openpmd, &mesh);
    }
}

enum status snapshot_write(void *part, const char *folder, const struct view *view, uint64_t *bytes)
{
    struct openpmd openpmd;
    (void)part;
    *bytes = 0;
    TRY(openpmd_create(view, folder, "data", OPENPMD_ED_PIC, &openpmd));
    write_fields(&openpmd);
    if (view->config->output.snapshots.particles)
        openpmd_write_species(&openpmd);
    return openpmd_finish(&openpmd, bytes);
}

uint64_t snapshot_bytes(const struct config *config)
{
    /* Groups, attributes and first chunk indices, measured and rounded up by a third or more. */
    const uint64_t frame = 16384, frame_of_species = 16384;
    uint64_t bytes = frame + openpmd_mesh_bytes(config, 4);
    if (config->output.snapshots.particles)
        bytes += frame_of_species * config->species_count + openpmd_species_bytes(config);
    /* Further chunk indices and checksums: less than 100 bytes for a chunk of 64 Ki elements. */
    return bytes + bytes / 1024;
}
