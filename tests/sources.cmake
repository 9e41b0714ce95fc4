# Written by tools/check_file_lists.py --fix; a test compares it with the tree.
set(PLAIT_TEST_SUPPORT_SOURCES
  support/main.cpp
)
set(PLAIT_TEST_FOLDERS
  unit/base
)
set(PLAIT_TEST_unit_base
  unit/base/error_test.cpp
)
