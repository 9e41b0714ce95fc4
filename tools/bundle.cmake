# Target gpu_bundle: PROJECT_BINARY_DIR/plait-gpu, a folder for machines with a GPU (tools/make_bundle.py). With preset
# gpu its programs need libc alone. Tests are those that have something to say there: of the CUDA back end, of
# communicators, of executors and of numbers.
set(programs plait plait_gpu_bench)
foreach(folder unit_backend_cuda unit_backend_cuda_cublaslt unit_comm unit_comm_nccl unit_program numerics multidevice fuzz)
  list(APPEND programs plait_test_${folder})
endforeach()
get_property(plugins GLOBAL PROPERTY PLAIT_PLUGINS)
set(parts)
set(part_files)
foreach(target IN LISTS programs plugins ITEMS plait_hardware)
  if(TARGET ${target})
    list(APPEND parts ${target})
    list(APPEND part_files $<TARGET_FILE:${target}>)
  endif()
endforeach()
if(TARGET plait)
  add_custom_target(gpu_bundle
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/make_bundle.py ${PROJECT_BINARY_DIR}/plait-gpu ${part_files}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_bundle.py ${PROJECT_BINARY_DIR}/plait-gpu
    COMMENT "Making ${PROJECT_BINARY_DIR}/plait-gpu"
    VERBATIM)
  add_dependencies(gpu_bundle ${parts})
endif()
