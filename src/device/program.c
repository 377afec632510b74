/* Program: build kernels for a device and launch them. */
#include "device/internal.h"

#include "base/stop.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void release_built(struct owned *owned)
{
    struct built *built = (struct built *)owned;
    if (built->handle) {
        if (!built->is_loaded)
            kept_store(&built->kept, built->core, built->handle);
        clReleaseProgram(built->handle);
    }
    free(built->source);
    free(built->options);
    free(built->before);
    free(built);
}

/* What the compiler said of the last build, for free(). May be NULL. */
static char *build_log(const struct core *core, cl_program handle)
{
    size_t length = 0;
    clGetProgramBuildInfo(handle, core->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &length);
    char *log = length > 0 ? calloc(length + 1, 1) : NULL;
    if (log)
        clGetProgramBuildInfo(handle, core->id, CL_PROGRAM_BUILD_LOG, length, log, NULL);
    return log;
}

/* PoCL keeps what it compiles in one folder for all processes. Where two build the same program at once, the
 * second may remove the file which the first has just replaced, and one of them reports a failure without a
 * compiler's error (PoCL issue 1480). The next attempt finds the file of the other process. */
static cl_int build_handle(const struct core *core, const struct built *built)
{
    enum { MOST_ATTEMPTS = 4 };
    cl_int error = CL_SUCCESS;
    bool again = true;
    for (int n = 0; n < MOST_ATTEMPTS && again; n++) {
        error = clBuildProgram(built->handle, 1, &core->id, built->options, NULL, NULL);
        char *log = error == CL_BUILD_PROGRAM_FAILURE ? build_log(core, built->handle) : NULL;
        again = log && !strstr(log, "error");
        free(log);
    }
    return error;
}

static enum status compile(struct built *built)
{
    const struct core *core = built->core;
    cl_int error = CL_SUCCESS;
    const char *source = built->source;
    built->handle = clCreateProgramWithSource(core->context, 1, &source, NULL, &error);
    if (error == CL_SUCCESS)
        error = build_handle(core, built);
    if (error == CL_SUCCESS)
        return STATUS_OK;
    char *log = built->handle ? build_log(core, built->handle) : NULL;
    const enum status status = status_fail_lines(
        STATUS_FAILED, "%s: kernels/%s does not build with options '%s': %s\n%s", core->info.name,
        built->file, built->options, opencl_error_name(error), log ? log : "");
    free(log);
    return status;
}

/* From its binary, where one is kept, or from its source. */
static enum status load_or_compile(struct built *built)
{
    enum status status = STATUS_OK;
    kept_begin(&built->kept, built->core, built->options, built->source);
    built->handle = kept_load(&built->kept, built->core);
    built->is_loaded = built->handle != NULL;
    if (!built->is_loaded)
        status = compile(built);
    kept_end(&built->kept, status == STATUS_OK);
    return status;
}

/* Takes over `source`. NULL: there is no memory. */
static struct built *new_built(struct core *core, const char *before, const char *file, const char *options,
                               char *source)
{
    struct built *built = device_own_new(&core->first_handle, sizeof *built, release_built);
    if (!built) {
        free(source);
        return NULL;
    }
    built->core = core;
    built->source = source;
    built->options = strdup(options);
    built->before = strdup(before);
    snprintf(built->file, sizeof built->file, "%s", file);
    if (built->source && built->options && built->before)
        return built;
    device_release(&built->owned);
    (void)status_fail(STATUS_FAILED, "no memory for build options");
    return NULL;
}

static void list_built(struct core *core, struct built *built)
{
    built->next = core->built;
    core->built = built;
}

static struct built *find_built(const struct core *core, const char *options, const char *source)
{
    struct built *built = core->built;
    while (built && (strcmp(built->options, options) != 0 || strcmp(built->source, source) != 0))
        built = built->next;
    return built;
}

enum status program_note(struct core *core, const char *name, const char *options)
{
    if (find_built(core, options, name))
        return STATUS_OK;
    struct built *built = new_built(core, "", name, options, strdup(name));
    if (!built)
        return STATUS_FAILED;
    list_built(core, built);
    return STATUS_OK;
}

enum status program_build_once(struct core *core, const char *before, const char *file, const char *options,
                               struct built **found)
{
    char *source = NULL;
    TRY(source_read(before, file, &source));
    struct built *built = find_built(core, options, source);
    *found = built;
    if (built) {
        free(source);
        return STATUS_OK;
    }
    built = new_built(core, before, file, options, source);
    if (!built)
        return STATUS_FAILED;
    const enum status status = core->is_counting ? STATUS_OK : load_or_compile(built);
    if (status != STATUS_OK) {
        device_release(&built->owned);
        return status;
    }
    list_built(core, built);
    *found = built;
    return STATUS_OK;
}

enum { OPTIONS_BYTES = 2048 };

static enum status build(struct device *device, const char *file, enum precision precision, const char *added,
                         const char *before, struct program **program)
{
    char options[OPTIONS_BYTES];
    *program = NULL;
    if (precision == PRECISION_DOUBLE && !device->core->info.has_fp64)
        return status_fail(STATUS_FAILED, "%s has no double precision; set precision: single",
                           device->core->info.name);
    /* -w: without it PoCL prints the number of warnings where results are expected, and has some about
     * vectors on every CPU without AVX-512. */
    const char *for_cpu = device->core->info.is_cpu ? "-w -D ON_CPU=1 " : "";
    const int length = snprintf(options, sizeof options, "-cl-std=CL1.2 %s-D REAL_IS_DOUBLE=%d %s", for_cpu,
                                precision == PRECISION_DOUBLE, added);
    if (length < 0 || length >= OPTIONS_BYTES)
        return status_fail(STATUS_FAILED, "kernels/%s: too many build options", file);
    struct program *created = NULL;
    TRY(DEVICE_NEW(device, created));
    created->device = device;
    created->precision = precision;
    const double start = timer_now();
    TRY(program_build_once(device->core, before, file, options, &created->built));
    device_add_time(device, STAGE_START_KERNELS, timer_now() - start, 0);
    *program = created;
    return STATUS_OK;
}

enum status program_build(struct device *device, const char *file, enum precision precision,
                          struct program **program, const char *options_format, ...)
{
    char added[OPTIONS_BYTES];
    va_list arguments;
    va_start(arguments, options_format);
    vsnprintf(added, sizeof added, options_format, arguments);
    va_end(arguments);
    return build(device, file, precision, added, "", program);
}

enum status program_build_after(struct device *device, const char *before, const char *file,
                                enum precision precision, struct program **program)
{
    return build(device, file, precision, "", before, program);
}

static void release_kernel(struct owned *owned)
{
    const struct kernel *kernel = (struct kernel *)owned;
    if (kernel->handle)
        clReleaseKernel(kernel->handle);
    free(owned);
}

static cl_int create_handle(struct kernel *kernel)
{
    cl_int error = CL_SUCCESS;
    kernel->handle = clCreateKernel(kernel->program->built->handle, kernel->name, &error);
    if (error == CL_SUCCESS)
        error = clGetKernelInfo(kernel->handle, CL_KERNEL_NUM_ARGS, sizeof kernel->argument_count,
                                &kernel->argument_count, NULL);
    return error;
}

/* Where the binary has no such kernel: from the source. */
static enum status compile_instead(const struct program *program)
{
    struct built *built = program->built;
    kept_drop(&built->kept);
    clReleaseProgram(built->handle); /* which kernels that were created hold */
    built->handle = NULL;
    built->is_loaded = false;
    return compile(built);
}

enum status kernel_create(struct program *program, const char *name, struct kernel **kernel)
{
    struct kernel *created = device_own_new(program->device, sizeof *created, release_kernel);
    const bool is_counting = program->device->core->is_counting;
    *kernel = NULL;
    if (!created)
        return STATUS_FAILED;
    created->program = program;
    snprintf(created->name, sizeof created->name, "%s", name);
    cl_int error = is_counting ? CL_SUCCESS : create_handle(created);
    if (error != CL_SUCCESS && program->built->is_loaded) {
        TRY(compile_instead(program));
        error = create_handle(created);
    }
    stop_explain(NULL);
    if (error == CL_INVALID_KERNEL_NAME && program->device->core->info.is_pocl && device_pocl_folder()[0])
        return status_fail(STATUS_NO_DEVICE,
                           "kernels/%s has no kernel %s: it has another name there, or a file among the "
                           "kernels that PoCL keeps is damaged; then delete the folder %s",
                           program->built->file, name, device_pocl_folder());
    if (error != CL_SUCCESS)
        return status_fail(STATUS_FAILED, "%s: kernels/%s has no usable kernel %s: %s",
                           program->device->core->info.name, program->built->file, name,
                           opencl_error_name(error));
    *kernel = created;
    return STATUS_OK;
}

/* The argument as OpenCL takes it. */
static cl_int convert(const struct kernel_argument *argument, enum precision precision,
                      struct set_argument *converted)
{
    const struct buffer *buffer = argument->values;
    const void *values = argument->values ? argument->values : &argument->own;
    const bool is_real = argument->kind == ARGUMENT_REALS;
    *converted = (struct set_argument){.is_set = true,
                                       .size = argument->count * (is_real ? precision_bytes(precision) : 1)};
    if (argument->kind == ARGUMENT_LOCAL)
        return converted->size > 0 ? CL_SUCCESS : CL_INVALID_ARG_SIZE;
    if (argument->kind == ARGUMENT_BUFFER) {
        converted->buffer = buffer->number;
        converted->size = converted->known = sizeof converted->value.memory;
        converted->value.memory = buffer->memory;
        return CL_SUCCESS;
    }
    converted->known = converted->size;
    if (converted->size > sizeof converted->value || (is_real && argument->count > MOST_REALS))
        return CL_INVALID_ARG_SIZE;
    if (!is_real || precision == PRECISION_DOUBLE)
        memcpy(&converted->value, values, converted->size);
    else
        for (size_t n = 0; n < argument->count; n++)
            converted->value.floats[n] = (cl_float)((const double *)values)[n];
    return CL_SUCCESS;
}

/* Most arguments are those of the last launch, and OpenCL is told of the others alone. Not every driver
 * refuses one too many. */
static cl_int set_argument(struct kernel *kernel, cl_uint index, const struct kernel_argument *argument)
{
    if (index >= MOST_ARGUMENTS || index >= kernel->argument_count)
        return CL_INVALID_ARG_INDEX;
    struct set_argument *set = &kernel->set[index], wanted;
    cl_int error = convert(argument, kernel->program->precision, &wanted);
    if (error == CL_SUCCESS && set->is_set && wanted.size == set->size && wanted.buffer == set->buffer &&
        wanted.known == set->known && memcmp(&wanted.value, &set->value, wanted.known) == 0)
        return CL_SUCCESS;
    if (error == CL_SUCCESS)
        error = clSetKernelArg(kernel->handle, index, wanted.size, wanted.known ? &wanted.value : NULL);
    if (error == CL_SUCCESS)
        *set = wanted;
    return error;
}

size_t device_group_items(const struct device *device, size_t wanted)
{
    return wanted < device->core->info.group_limit ? wanted : device->core->info.group_limit;
}

size_t device_row_items(const struct device *device, uint32_t elements)
{
    enum { LEAST_ITEMS = 32, MOST_ITEMS = 256 };
    size_t items = LEAST_ITEMS;
    while (items < elements && items < MOST_ITEMS)
        items *= 2;
    return device->core->info.is_cpu ? 1 : device_group_items(device, items);
}

enum status kernel_launch(struct kernel *kernel, struct launch launch,
                          const struct kernel_argument *arguments)
{
    enum { FLAT_ITEMS = 64 };
    struct device *device = kernel->program->device;
    if (launch.groups == 0 || device->core->is_counting)
        return STATUS_OK;
    for (cl_uint n = 0; arguments[n].kind != ARGUMENT_NONE; n++) {
        const cl_int error = set_argument(kernel, n, &arguments[n]);
        if (error != CL_SUCCESS)
            return status_fail(STATUS_FAILED, "%s: kernel %s: argument %u: %s (%d)", device->core->info.name,
                               kernel->name, n, opencl_error_name(error), error);
    }
    if (launch.items == 0)
        launch = launch_covering(launch.groups, device_group_items(device, FLAT_ITEMS), launch.stage,
                                 launch.bytes);
    const size_t global = launch.groups * launch.items;
    cl_event event = NULL;
    const cl_int error = clEnqueueNDRangeKernel(device->core->queue, kernel->handle, 1, NULL, &global,
                                                &launch.items, 0, NULL, device_event(device, &event));
    if (error != CL_SUCCESS)
        return status_fail(STATUS_FAILED, "%s: kernel %s: launching %zu groups of %zu items: %s (%d)",
                           device->core->info.name, kernel->name, launch.groups, launch.items,
                           opencl_error_name(error), error);
    return device_record(device, NULL, event, launch.stage, launch.bytes);
}
