# cmake -DOUTPUT=header -DTYPE=DeviceFile -DFROM=csrc/codegen/device "-DFILES=a.cuh;b.cuh" -P embed_files.cmake: writes
# the files' texts as a C++ table, kDeviceFiles.
set(text "#pragma once\n// Written by csrc/embed_files.cmake from ${FROM}, in order of name.\n")
string(APPEND text "#include <string_view>\n\nnamespace plait {\n\nstruct ${TYPE} {\n  std::string_view name, text;\n};\n\n")
string(APPEND text "inline constexpr ${TYPE} k${TYPE}s[] = {\n")
list(SORT FILES)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} body)
  string(APPEND text "    {\"${name}\", R\"plait_file(${body})plait_file\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace plait\n")
file(WRITE ${OUTPUT} "${text}")
