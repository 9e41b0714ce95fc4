# Finds the headers of CUDA's parts, each on its own, since kits and wheels may lack some: PLAIT_CUDA_INCLUDE of cuda.h,
# PLAIT_NVRTC_INCLUDE, PLAIT_CUBLASLT_INCLUDE, PLAIT_NCCL_INCLUDE, PLAIT_CRT_INCLUDE and PLAIT_NV_INCLUDE (what cublasLt.h
# and nccl.h include, wheels apart), PLAIT_NVTX3_INCLUDE; looked for in CUDA kits, then in wheels of VIRTUAL_ENV and of the
# tree's .venv, then in those of Python_EXECUTABLE where that is set, its environment's too when pip has isolated the build.
# As a script it prints those that are not there, one a line: cmake [-DPython_EXECUTABLE=...] -P tools/cuda_headers.cmake
cmake_minimum_required(VERSION 3.25)
set(cuda_headers cuda.h nvrtc.h cublasLt.h nccl.h crt/host_defines.h nv/target nvtx3/nvToolsExt.h)
get_filename_component(tree ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(header_folders)
foreach(prefix "$ENV{PLAIT_CUDA_HOME}" "$ENV{CUDA_HOME}" /usr/local/cuda)
  if(prefix)
    list(APPEND header_folders ${prefix}/include ${prefix}/targets/x86_64-linux/include)
  endif()
endforeach()
foreach(environment "$ENV{VIRTUAL_ENV}" ${tree}/.venv)
  if(environment)
    file(GLOB folders ${environment}/lib/python3*/site-packages/nvidia/*/include)
    list(APPEND header_folders ${folders})
  endif()
endforeach()
if(Python_EXECUTABLE)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import sys, sysconfig
print(*filter(None, sys.path), *(sysconfig.get_path(name) for name in ('purelib', 'platlib')), sep=';', end='')"
    OUTPUT_VARIABLE package_folders COMMAND_ERROR_IS_FATAL ANY)
  foreach(folder IN LISTS package_folders)
    file(GLOB folders ${folder}/nvidia/*/include)
    list(APPEND header_folders ${folders})
  endforeach()
endif()
foreach(header IN LISTS cuda_headers)
  string(REGEX REPLACE "[/.].*" "" variable ${header})
  string(TOUPPER PLAIT_${variable}_INCLUDE variable)
  if(${variable} AND NOT EXISTS ${${variable}}/${header})  # a folder found by an earlier configure may be gone
    unset(${variable} CACHE)
  endif()
  find_path(${variable} ${header} PATHS ${header_folders} NO_DEFAULT_PATH)
  if(NOT CMAKE_SCRIPT_MODE_FILE)
    message(STATUS "plait: ${header}: ${${variable}}")
  elseif(NOT ${variable})
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${header})
  endif()
endforeach()
