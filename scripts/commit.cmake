# Writes FILE, a header with the commit that SOURCE is at; only where that has changed, so that nothing else is built anew:
#   cmake -D SOURCE=. -D FILE=build/commit.h -P scripts/commit.cmake
cmake_minimum_required(VERSION 3.25)
set(commit "no commit known, built without git")
find_program(GIT git)
if(GIT)
  # A prefix: this tree is no repository, but lies in one.
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-prefix OUTPUT_VARIABLE prefix RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed AND prefix STREQUAL "\n")
    execute_process(COMMAND ${GIT} -C ${SOURCE} --no-optional-locks describe --always --abbrev=12 --exclude=* "--dirty=, modified"
                    OUTPUT_VARIABLE found RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      set(commit "commit ${found}")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "#define RADIXPIC_COMMIT \"${commit}\"\n" @ONLY)
