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

static void write_field(struct openpmd *openpmd, enum field field, const char *name, const char *comment,
                        struct buffer *const components[])
{
    const struct config *config = openpmd->view->config;
    const enum precision precision = snapshots_precision(config);
    struct openpmd_record mesh =
        openpmd_field(openpmd, field, hdf5_real(precision), openpmd_rounding(config->precision, precision));
    mesh.name = name;
    mesh.comment = comment;
    for (uint32_t axis = 0; axis < field_table[field].components; axis++)
        mesh.source[axis] = keep_nodes(openpmd, components[axis]);
    openpmd_write_mesh(openpmd, &mesh, 0, openpmd_filter_passes(openpmd, field));
}

static void write_fields(struct openpmd *openpmd)
{
    const struct config *config = openpmd->view->config;
    const struct fields *fields = openpmd->view->fields;
    write_solver_attributes(openpmd);
    for (enum field f = 0; f < FIELDS; f++)
        if (fields_hold(&config->output.snapshots.fields, f))
            write_field(openpmd, f, field_table[f].record,
                        f == FIELD_RHO ? "of all species, without the neutralising background" : NULL,
                        &fields->component[field_table[f].first]);
    for (uint32_t s = 0; s < config->species_count; s++) {
        char name[CONFIG_NAME_LENGTH + 16];
        snprintf(name, sizeof name, "%s_%s", config->species[s].name, field_table[FIELD_RHO].record);
        if (fields->species_rho[s])
            write_field(openpmd, FIELD_RHO, name, NULL, &fields->species_rho[s]);
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
    if (snapshots->every > 0 && fields_hold(&snapshots->fields, FIELD_MOMENTS))
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
    return (fields_hold(fields, FIELD_PHI) ? OUTPUT_NEEDS_POTENTIAL : 0) |
           (fields_hold(fields, FIELD_SPECIES_RHO) ? OUTPUT_NEEDS_SPECIES : 0);
}

static uint64_t snapshot_bytes(const struct config *config)
{
    /* Groups, attributes and first chunk indices, measured and rounded up by a third or more. */
    const uint64_t frame = 16384;
    const struct snapshots_config *snapshots = &config->output.snapshots;
    uint64_t bytes = frame + openpmd_species_bytes(config);
    const enum precision precision = snapshots_precision(config);
    for (enum field f = 0; f < FIELDS; f++)
        if (fields_hold(&snapshots->fields, f))
            bytes += openpmd_mesh_bytes(&config->grid, precision, field_table[f].components);
    for (uint32_t s = 0; s < config->species_count; s++)
        if (snapshots_separate(snapshots, &config->species[s]))
            bytes += frame + openpmd_mesh_bytes(&config->grid, precision, 1);
    if (fields_hold(&snapshots->fields, FIELD_MOMENTS))
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
