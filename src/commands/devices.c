/* radixpic devices: what OpenCL offers on this machine. */
#include "commands/commands.h"
#include "config/options.h"
#include "device/device.h"
#include "parallel/communicator.h"

static const struct option_table table = {
    .doc = "List the OpenCL platforms and devices.\v"
           "The numbers P:D before a name, or a part of the name, choose a device for --device; (auto) "
           "marks the one that is taken without it.\n\n"
           "Examples:\n  radixpic devices\n  radixpic run configs/landau_damping.yaml --device 0:0\n",
};

enum status command_devices(int argc, char **argv)
{
    struct common_options options = {0};
    if (!communicator_is_first())
        return STATUS_OK; /* the ranks of mpirun would repeat it */
    TRY(options_parse(&table, argc, argv, &options));
    return options.is_help_shown ? STATUS_OK : device_list(stdout);
}
