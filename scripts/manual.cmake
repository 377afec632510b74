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

# A part of the page: the text as it is.
function(add_part title text)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" text "\n${text}")
  set(page "${page}.SH ${title}\n.nf${text}.fi\n" PARENT_SCOPE)
endfunction()

read_help(help)
string(REGEX MATCH "\n([A-Z][^\n]*\n[^\n]*)\\.\n" unused "${help}")
string(REPLACE "\n" " " summary "${CMAKE_MATCH_1}")
set(page ".TH RADIXPIC 1 \"\" \"RadixPIC ${VERSION}\" \"User Commands\"\n.SH NAME\nradixpic \\- ${summary}\n")
add_part(SYNOPSIS "${help}")
find_words(commands "${help}")
set(cases "")
foreach(command ${commands})
  read_help(help ${command})
  string(TOUPPER "${command}" title)
  add_part("RADIXPIC ${title}" "${help}")
  find_options(options "${help}")
  if(command STREQUAL "bench")
    find_words(experiments "${help}")
    foreach(experiment ${experiments})
      read_help(help bench ${experiment})
      string(TOUPPER "${experiment}" title)
      add_part("RADIXPIC BENCH ${title}" "${help}")
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
