/* Commands: the subcommands of radixpic, one file each. argv[0] is the full name, e.g. "radixpic run". */
#ifndef RADIXPIC_COMMANDS_COMMANDS_H
#define RADIXPIC_COMMANDS_COMMANDS_H

#include "base/status.h"

STATUS_CHECKED enum status command_run(int argc, char **argv);
STATUS_CHECKED enum status command_check(int argc, char **argv);
STATUS_CHECKED enum status command_devices(int argc, char **argv);
STATUS_CHECKED enum status command_bench(int argc, char **argv);
STATUS_CHECKED enum status command_tune(int argc, char **argv);

#endif
