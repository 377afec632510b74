/* Snapshot: fields and particles at one step as an openPMD 1.1.0 + ED-PIC file, fileBased; each rank's
 * particles are a patch. Here are the fields; the rest is in openpmd.c and openpmd_species.c. */
#include "output/moments.h"
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

static void write_fields(struct openpmd *openpmd)
{
    static const char of_density[] = "of all species, without the neutralising background";
    const struct config *config = openpmd->view->config;
    const struct snapshots_config *snapshots = &config->output.snapshots;
    const struct fields *fields = openpmd->view->fields;
    const struct units *units = &openpmd->units;
    const enum precision precision = snapshots_precision(config);
    const enum hdf5_type real = hdf5_real(precision);
    hdf5_fill *fill = openpmd_rounding(config->precision, precision);
    const double field = units->electric_field;
    struct openpmd_record meshes[SNAPSHOT_OF_ALL] = {
        {"E", {1, 1, -3, -1}, {field, field}, {NULL}, fill, real, 0, NULL},
        {"phi", {2, 1, -3, -1}, {units->potential}, {NULL}, fill, real, 0, NULL},
        {"chargeDensity", {-3, 0, 1, 1}, {units->charge_density}, {NULL}, fill, real, 0, of_density},
    };
    const struct buffer *const nodes[SNAPSHOT_OF_ALL][OPENPMD_AXES] = {
        {fields->ex, fields->ey}, {fields->phi}, {fields->rho}};
    const uint32_t filter_passes[SNAPSHOT_OF_ALL] = {[SNAPSHOT_RHO] = config->deposit.filter_passes};
    write_solver_attributes(openpmd);
    for (enum snapshot_field f = 0; f < SNAPSHOT_OF_ALL; f++) {
        for (int axis = 0; fields_hold(&snapshots->fields, f) && nodes[f][axis]; axis++)
            meshes[f].source[axis] = keep_nodes(openpmd, nodes[f][axis]);
        if (fields_hold(&snapshots->fields, f))
            openpmd_write_mesh(openpmd, &meshes[f], 0, filter_passes[f]);
    }
    for (uint32_t s = 0; s < config->species_count; s++) {
        char name[CONFIG_NAME_LENGTH + 16];
        if (!fields->species_rho[s])
            continue;
        snprintf(name, sizeof name, "%s_chargeDensity", config->species[s].name);
        struct openpmd_record mesh = meshes[SNAPSHOT_RHO];
        mesh.name = name;
        mesh.source[0] = keep_nodes(openpmd, fields->species_rho[s]);
        mesh.comment = NULL;
        openpmd_write_mesh(openpmd, &mesh, 0, filter_passes[SNAPSHOT_RHO]);
    }
}

struct parts {
    struct selection *selection; /* NULL: all particles are written, or none */
    struct moments *moments;     /* NULL: they are not written */
};

static enum status create_parts(struct device *device, const struct config *config, void **part)
{
    struct parts *parts;
    const struct snapshots_config *snapshots = &config->output.snapshots;
    TRY(DEVICE_NEW(device, parts));
    *part = parts;
    if (snapshots->every > 0 && fields_hold(&snapshots->fields, SNAPSHOT_MOMENTS))
        TRY(moments_create(device, config, &parts->moments));
    return selection_create(device, config, &parts->selection);
}

static enum status record_snapshot(void *part, const char *folder, const struct view *view,
                                   struct hdf5_file **file)
{
    const struct parts *parts = part;
    struct openpmd openpmd;
    TRY(openpmd_create(view, folder, "data", OPENPMD_ED_PIC, &openpmd));
    *file = openpmd.file;
    write_fields(&openpmd);
    if (parts->moments)
        moments_write(&openpmd, parts->moments, snapshots_precision(view->config));
    openpmd_write_species(&openpmd, parts->selection);
    return (*file)->status;
}

static unsigned needs_now(const struct view *view)
{
    const struct field_list *fields = &view->config->output.snapshots.fields;
    return (fields_hold(fields, SNAPSHOT_PHI) ? OUTPUT_NEEDS_POTENTIAL : 0) |
           (fields_hold(fields, SNAPSHOT_SPECIES_RHO) ? OUTPUT_NEEDS_SPECIES : 0);
}

static uint64_t snapshot_bytes(const struct config *config)
{
    /* Groups, attributes and first chunk indices, measured and rounded up by a third or more. */
    const uint64_t frame = 16384;
    const struct snapshots_config *snapshots = &config->output.snapshots;
    uint64_t bytes = frame + openpmd_species_bytes(config);
    const enum precision precision = snapshots_precision(config);
    for (enum snapshot_field f = 0; f < SNAPSHOT_OF_ALL; f++)
        if (fields_hold(&snapshots->fields, f))
            bytes += openpmd_mesh_bytes(&config->grid, precision, f == SNAPSHOT_E ? 2 : 1);
    for (uint32_t s = 0; s < config->species_count; s++)
        if (snapshots_separate(snapshots, &config->species[s]))
            bytes += frame + openpmd_mesh_bytes(&config->grid, precision, 1);
    if (fields_hold(&snapshots->fields, SNAPSHOT_MOMENTS))
        bytes += moments_mesh_bytes(config, precision);
    /* Further chunk indices and checksums: less than 100 bytes for a chunk of 64 Ki elements. */
    return bytes + bytes / 1024;
}

const struct output_row snapshot_output = {
    .name = "snapshots",
    .folder = "snapshots",
    .prefix = "data_",
    .thrift = "a larger output.snapshots.every, or fewer of the particles by output.snapshots.particles",
    .every = offsetof(struct config, output.snapshots.every),
    .needs_now = needs_now,
    .create = create_parts,
    .record = record_snapshot,
    .bytes = snapshot_bytes};
