/* Snapshot: fields and particles at one step as an openPMD 1.1.0 + ED-PIC file, fileBased; each rank's
 * particles are a patch. Here are the fields; the rest is in openpmd.c. */
#include "output/average.h"
#include "output/openpmd.h"
#include "output/outputs.h"

static void write_solver_attributes(struct openpmd *openpmd)
{
    static const char *const periodic[] = {"periodic", "periodic", "periodic", "periodic"};
    const struct config *config = openpmd->view->config;
    const bool has_waves = config->fields.solver == SOLVER_ELECTROMAGNETIC;
    struct hdf5_object *meshes = openpmd->meshes;
    char parameters[192];
    hdf5_text(meshes, "fieldSolver", "other");
    if (has_waves)
        snprintf(parameters, sizeof parameters,
                 "electromagnetic;Maxwell by FFT, exact for each wave over a step;longitudinal E by Poisson;"
                 "c = %.17g v_th",
                 config->fields.speed_of_light);
    else
        snprintf(parameters, sizeof parameters,
                 "electrostatic;Poisson: phi_k = rho_k/(eps0 k^2), phi_0 = 0;E = -grad phi, %s",
                 config->fields.gradient == GRADIENT_SPECTRAL ? "spectral" : "centred differences");
    hdf5_text(meshes, "fieldSolverParameters", parameters);
    hdf5_texts(meshes, "fieldBoundary", 4, periodic);
    hdf5_texts(meshes, "particleBoundary", 4, periodic);
    hdf5_text(meshes, "currentSmoothing",
              has_waves && config->deposit.filter_passes > 0 ? "Binomial" : "none");
    if (has_waves && config->deposit.filter_passes > 0) {
        snprintf(parameters, sizeof parameters, "passes=%u%s", config->deposit.filter_passes,
                 config->deposit.filter_compensator ? ";compensator=true" : "");
        hdf5_text(meshes, "currentSmoothingParameters", parameters);
    }
    hdf5_text(meshes, "chargeCorrection", "none");
}

/* Memory of the file with a component, the mean of it where the output averages. The nodes of the own rows
 * come first on the device. */
static char *copy_component(struct openpmd *openpmd, struct buffer *component)
{
    const struct view *view = openpmd->view;
    struct hdf5_file *file = openpmd->file;
    const size_t bytes = slab_own_cells(view->slab) * precision_bytes(view->config->precision);
    const uint32_t mesh = file->meshes++;
    char *values = hdf5_file_room(file, bytes), *wanted = file->has_no_data ? NULL : values;
    if (view->average && values) {
        hdf5_file_fail(file, average_add(view->average, view, mesh, component));
        hdf5_file_fail(file, average_read(view->average, view, mesh, wanted));
    } else if (wanted) {
        hdf5_file_fail(file, buffer_read(component, 0, bytes, wanted));
    }
    if (wanted)
        openpmd_pick(openpmd, view->config->precision, wanted);
    return values;
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
    for (uint32_t axis = 0; axis < field_components(config->fields.solver, field); axis++)
        mesh.source[axis] = copy_component(openpmd, components[axis]);
    openpmd_write_mesh(openpmd, &mesh, 0, openpmd_filter_passes(openpmd, field));
}

struct parts {
    struct selection *selection; /* NULL: all particles are written, or none */
    void *moments;               /* NULL: they are not written */
};

static enum status create_parts(struct device *device, const struct config *config, void **part)
{
    const struct snapshots_config *snapshots = &config->output.snapshots;
    struct parts *parts;
    TRY(DEVICE_NEW(device, parts));
    *part = parts;
    if (fields_hold(&snapshots->fields, FIELD_MOMENTS))
        TRY(moments_create(device, config, &parts->moments));
    return selection_create(device, config, &snapshots->particles, &snapshots->species, &parts->selection);
}

static void record_snapshot(void *part, struct hdf5_file *file, const struct view *view)
{
    const struct parts *parts = part;
    const struct config *config = view->config;
    const struct snapshots_config *snapshots = &config->output.snapshots;
    struct openpmd openpmd = openpmd_begin(file, view, snapshot_files.prefix, OPENPMD_ED_PIC);
    openpmd.window = snapshots_window(config);
    write_solver_attributes(&openpmd);
    for (enum field f = 0; f < FIELDS; f++)
        if (fields_hold(&snapshots->fields, f))
            write_field(&openpmd, f, field_table[f].record,
                        f == FIELD_RHO ? "of all species, without the neutralising background" : NULL,
                        &view->fields->component[field_first(config->fields.solver, f)]);
    for (uint32_t s = 0; s < config->species_count; s++) {
        char name[CONFIG_NAME_LENGTH + 16];
        snprintf(name, sizeof name, "%s_%s", config->species[s].name, field_table[FIELD_RHO].record);
        if (snapshots_separate(snapshots, &config->species[s]))
            write_field(&openpmd, FIELD_RHO, name, NULL, &view->fields->species_rho[s]);
    }
    if (fields_hold(&snapshots->fields, FIELD_MOMENTS))
        moments_write(&openpmd, parts ? parts->moments : NULL, snapshots_precision(config));
    openpmd_write_species(&openpmd, parts ? parts->selection : NULL);
}

const struct output_row snapshot_output = {
    .name = "snapshots",
    .files = &snapshot_files,
    .cheaper_by = "a larger output.snapshots.every, or fewer of the particles by output.snapshots.particles",
    .every = offsetof(struct config, output.snapshots.every),
    .fields = offsetof(struct config, output.snapshots.fields),
    .average = offsetof(struct config, output.snapshots.average),
    .same = offsetof(struct snapshots_config, particles),
    .create = create_parts,
    .record = record_snapshot};
