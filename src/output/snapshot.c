/* Snapshot: fields and particles at one step as an openPMD 1.1.0 + ED-PIC file, fileBased; each rank's
 * particles are a patch. Here are the fields; the rest is in openpmd.c and openpmd_species.c. */
#include "output/openpmd.h"
#include "output/outputs.h"

static void write_solver_attributes(struct openpmd *openpmd)
{
    static const char *const periodic[] = {"periodic", "periodic", "periodic", "periodic"};
    const bool is_spectral = openpmd->view->config->fields.gradient == GRADIENT_SPECTRAL;
    struct hdf5_object *meshes = openpmd->meshes;
    char parameters[128];
    hdf5_text(meshes, "fieldSolver", "other");
    snprintf(parameters, sizeof parameters,
             "electrostatic;Poisson by FFT: phi_k = rho_k/(eps0 k^2), phi_0 = 0;E = -grad phi, %s",
             is_spectral ? "spectral" : "centred differences");
    hdf5_text(meshes, "fieldSolverParameters", parameters);
    hdf5_texts(meshes, "fieldBoundary", 4, periodic);
    hdf5_texts(meshes, "particleBoundary", 4, periodic);
    hdf5_text(meshes, "currentSmoothing", "none");
    hdf5_text(meshes, "chargeCorrection", "none");
}

/* A copy of the nodes of the own rows, which come first on the device; NULL after a failure. */
static const void *keep_nodes(struct openpmd *openpmd, const struct buffer *buffer)
{
    const struct view *view = openpmd->view;
    const size_t bytes = slab_own_cells(view->slab) * precision_bytes(view->config->precision);
    void *nodes = hdf5_file_keep(openpmd->file, bytes);
    if (nodes)
        hdf5_file_fail(openpmd->file, buffer_read(buffer, 0, bytes, nodes));
    return nodes;
}

static enum status fill_rounded(const void *nodes, uint64_t first, size_t count, void *values)
{
    for (size_t n = 0; n < count; n++)
        ((float *)values)[n] = (float)((const double *)nodes)[first + n];
    return STATUS_OK;
}

static void write_fields(struct openpmd *openpmd)
{
    static const char of_density[] = "of all species, without the neutralising background";
    const struct config *config = openpmd->view->config;
    const struct snapshots_config *snapshots = &config->output.snapshots;
    const struct fields *fields = openpmd->view->fields;
    const struct units *units = &openpmd->units;
    const enum precision precision = snapshots_precision(config);
    const enum hdf5_type real = hdf5_real(precision);
    hdf5_fill *fill = precision == config->precision ? NULL : fill_rounded;
    const double field = units->electric_field;
    struct openpmd_record meshes[SNAPSHOT_FIELDS] = {
        {"E", {1, 1, -3, -1}, {field, field}, {NULL}, fill, real, 0, NULL},
        {"phi", {2, 1, -3, -1}, {units->potential}, {NULL}, fill, real, 0, NULL},
        {"chargeDensity", {-3, 0, 1, 1}, {units->charge_density}, {NULL}, fill, real, 0, of_density},
    };
    const struct buffer *const nodes[SNAPSHOT_FIELDS][OPENPMD_AXES] = {
        {fields->ex, fields->ey}, {fields->phi}, {fields->rho}};
    const uint32_t filter_passes[SNAPSHOT_FIELDS] = {[SNAPSHOT_RHO] = config->deposit.filter_passes};
    write_solver_attributes(openpmd);
    for (enum snapshot_field f = 0; f < SNAPSHOT_FIELDS; f++) {
        for (int axis = 0; fields_hold(&snapshots->fields, f) && nodes[f][axis]; axis++)
            meshes[f].source[axis] = keep_nodes(openpmd, nodes[f][axis]);
        if (fields_hold(&snapshots->fields, f))
            openpmd_write_mesh(openpmd, &meshes[f], 0, filter_passes[f]);
    }
}

static enum status record_snapshot(void *selection, const char *folder, const struct view *view,
                                   struct hdf5_file **file)
{
    struct openpmd openpmd;
    TRY(openpmd_create(view, folder, "data", OPENPMD_ED_PIC, &openpmd));
    *file = openpmd.file;
    write_fields(&openpmd);
    openpmd_write_species(&openpmd, selection);
    return (*file)->status;
}

static bool holds_potential(const struct view *view)
{
    return fields_hold(&view->config->output.snapshots.fields, SNAPSHOT_PHI);
}

static uint64_t snapshot_bytes(const struct config *config)
{
    /* Groups, attributes and first chunk indices, measured and rounded up by a third or more. */
    const uint64_t frame = 16384;
    const struct snapshots_config *snapshots = &config->output.snapshots;
    uint64_t bytes = frame + openpmd_species_bytes(config);
    for (enum snapshot_field f = 0; f < SNAPSHOT_FIELDS; f++)
        if (fields_hold(&snapshots->fields, f))
            bytes += openpmd_mesh_bytes(&config->grid, snapshots_precision(config), f == SNAPSHOT_E ? 2 : 1);
    /* Further chunk indices and checksums: less than 100 bytes for a chunk of 64 Ki elements. */
    return bytes + bytes / 1024;
}

const struct output_row snapshot_output = {
    .name = "snapshots",
    .folder = "snapshots",
    .prefix = "data_",
    .thrift = "a larger output.snapshots.every, or fewer of the particles by output.snapshots.particles",
    .every = offsetof(struct config, output.snapshots.every),
    .holds_potential = holds_potential,
    .create = selection_create,
    .record = record_snapshot,
    .bytes = snapshot_bytes};
