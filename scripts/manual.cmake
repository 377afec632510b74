# Writes the man page and the completion for bash from what the program says by --help:
#   cmake -D PROGRAM=build/radixpic -D VERSION=X.Y.Z -D FOLDER=build/manual -P scripts/manual.cmake
cmake_minimum_required(VERSION 3.25)

# Without the variables of a launcher, as of a batch job, by which the program would start MPI.
execute_process(COMMAND ${CMAKE_COMMAND} -E environment OUTPUT_VARIABLE environment)
string(REGEX MATCHALL "(^|\n)(OMPI_COMM_WORLD_|PMI|SLURM_PROCID|MPI_LOCAL|MV2_COMM_WORLD_|FLUX_|PALS_|ALPS_|JSM_|MPIRUN_)[A-Z0-9_]*="
                         launched "${environment}")
foreach(name ${launched})
  string(REGEX REPLACE "[\n=]" "" name "${name}")
  unset(ENV{${name}})
endforeach()

function(read_help result)
  execute_process(COMMAND ${PROGRAM} ${ARGN} --help OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# The first words of lines "  WORD  what it does".
function(find_words result text)
  string(REGEX MATCHALL "\n  [a-z][a-z-]*  " lines "${text}")
  string(REGEX REPLACE "[ \n]" "" words "${lines}")
  set(${result} ${words} PARENT_SCOPE)
endfunction()

function(find_options result text)
  string(REGEX MATCHALL "\n  [ -][^-\n]*--[a-z][a-z-]*" lines "${text}")
  string(REGEX REPLACE "\n  [ -][^-;]*--" "--" options "${lines}")
  list(REMOVE_DUPLICATES options)
  set(${result} ${options} PARENT_SCOPE)
endfunction()

# A help as requests of man: what it says is used and does, a tagged paragraph for each word and option, examples as they are.
function(format_help result text)
  string(REGEX REPLACE "\nMandatory or optional[^.]*\\.\n" "" text "\n${text}")
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" text "${text}")
  string(REGEX REPLACE "\n            +" "  " text "${text}") # the rest of a usage or of what an option does
  string(REGEX REPLACE "\n  +(\\\\-[^ ]*(, \\\\-[^ ]*)?)  +([^\n]*)" "\n.TP\n.B \\1\n\\3" text "${text}")
  string(REGEX REPLACE "\n  ([a-z][a-z\\-]*)  +([^\n]*)" "\n.TP\n.B \\1\n\\2" text "${text}")
  string(REGEX REPLACE "\n(Usage|  or): +([^\n]*)" "\n.PP\n.B \\2" text "${text}")
  string(REGEX REPLACE "\n\\.B (radixpic [^\n]*)\n([A-Z])" "\n.B \\1\n.PP\n\\2" text "${text}")
  string(REGEX REPLACE "\nExamples:\n(.*)\n" "\n.PP\nExamples:\n.PP\n.EX\n\\1\n.EE\n" text "${text}")
  string(REGEX REPLACE "([^ \n])  +" "\\1 " text "${text}")
  string(REGEX REPLACE "\n\n+" "\n.PP\n" text "${text}")
  string(REPLACE "\n.PP\n.PP\n" "\n.PP\n" text "${text}")
  string(REPLACE "\n.PP\n.TP\n" "\n.TP\n" text "${text}")
  string(REGEX REPLACE "^\n(\\.PP\n)?" "" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(add_part title text)
  format_help(text "${text}")
  set(page "${page}.SS ${title}\n${text}" PARENT_SCOPE)
endfunction()

read_help(help)
string(REGEX MATCH "\n([A-Z][^\n]*\n[^\n]*)\\.\n" unused "${help}")
string(REPLACE "\n" " " summary "${CMAKE_MATCH_1}")
set(page ".TH RADIXPIC 1 \"\" \"RadixPIC ${VERSION}\" \"User Commands\"\n.SH NAME\nradixpic \\- ${summary}\n")
string(APPEND page ".SH SYNOPSIS\n.B radixpic\nCOMMAND [OPTION...]\n.SH DESCRIPTION\n${summary}.\n.SH COMMANDS\n")
string(REGEX MATCH "\n\n(  [a-z].*)" unused "${help}")
format_help(text "${CMAKE_MATCH_1}")
string(APPEND page "${text}")
find_words(commands "${help}")
set(cases "")
foreach(command ${commands})
  read_help(help ${command})
  add_part("radixpic ${command}" "${help}")
  find_options(options "${help}")
  if(command STREQUAL "bench")
    find_words(experiments "${help}")
    foreach(experiment ${experiments})
      read_help(help bench ${experiment})
      add_part("radixpic bench ${experiment}" "${help}")
      find_options(own "${help}")
      list(JOIN own " " own)
      string(APPEND cases "        'bench ${experiment}') words='${own}' ;;\n")
    endforeach()
    set(options ${experiments})
  endif()
  list(JOIN options " " options)
  string(APPEND cases "        ${command}|'${command} '*) words='${options}' ;;\n")
endforeach()
list(JOIN commands " " commands)

# The numbers of enum status are the exit codes.
string(APPEND page ".SH EXIT STATUS\n")
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../src/base/status.h codes REGEX "^    STATUS_[A-Z_]+ = [0-9]")
foreach(code ${codes})
  string(REGEX MATCH "= ([0-9]).*/\\* (.*) \\*/" unused "${code}")
  string(APPEND page ".TP\n.B ${CMAKE_MATCH_1}\n${CMAKE_MATCH_2}\n")
endforeach()
string(APPEND page ".SH SEE ALSO\n.BR mpirun (1),\n.BR clinfo (1);\nREADME.md and docs/ in share/doc/radixpic beside the program: "
  "docs/run.md, outputs.md and physics.md are the manual, config.md lists every key of a config.\n")

file(WRITE ${FOLDER}/radixpic.1 "${page}")
file(WRITE ${FOLDER}/radixpic "# Completion of radixpic for bash.
_radixpic()
{
    local words='${commands} --help --version'
    [[ $COMP_CWORD -gt 1 ]] && case \"\${COMP_WORDS[*]:1:2}\" in
${cases}    esac
    # Files stand where no option does.
    [[ $words == --* && \${COMP_WORDS[COMP_CWORD]} != -* ]] && words=
    COMPREPLY=($(compgen -W \"$words\" -- \"\${COMP_WORDS[COMP_CWORD]}\"))
}
complete -o default -F _radixpic radixpic
")
