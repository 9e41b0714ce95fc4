# Written by tools/check_file_lists.py --fix; a test compares it with the tree.
set(PLAIT_CORE_SOURCES
  base/error.cpp
)
set(PLAIT_CUDA_SOURCES
)
set(PLAIT_NO_CUDA_SOURCES
)
set(PLAIT_LLVM_PLUGIN_SOURCES
)
set(PLAIT_ONEDNN_PLUGIN_SOURCES
)
