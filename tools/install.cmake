# cmake --install: the command with its completions and manual page, libplait.so and its C header, plait::core for C++
# with its public headers, the plug-ins, and what find_package(plait) and pkg-config read. Whatever of it is not built yet
# is built first.
include(CMakePackageConfigHelpers)
set(plugin_folder ${CMAKE_INSTALL_LIBDIR}/plait)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/plait)

get_property(plugins GLOBAL PROPERTY PLAIT_PLUGINS)
set(installed plait_core plait_capi plait_headers ${plugins})
if(TARGET plait)
  list(APPEND installed plait plait_shell_files)
endif()
add_custom_target(plait_installed DEPENDS ${installed})
configure_file(tools/build_installed.cmake.in ${PROJECT_BINARY_DIR}/build_installed.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/build_installed.cmake)

# Executables of others find the plug-ins there.
target_link_options(plait_public INTERFACE
  $<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${plugin_folder}>)
install(TARGETS plait_public plait_core plait_capi plait_flags plait_warnings EXPORT plait_targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET plait)
  install(TARGETS plait RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
if(plugins)
  install(TARGETS ${plugins} LIBRARY DESTINATION ${plugin_folder})
endif()
install(EXPORT plait_targets NAMESPACE plait:: DESTINATION ${package_folder})
install(FILES csrc/capi/plait_c.h csrc/capi/plait_ops.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY third_party/plait_dlpack DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/plait DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Where it was made (target `reference`, or the tests).
install(DIRECTORY ${PROJECT_BINARY_DIR}/reference DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

configure_package_config_file(tools/plaitConfig.cmake.in ${PROJECT_BINARY_DIR}/plaitConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/plaitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plaitConfig.cmake ${PROJECT_BINARY_DIR}/plaitConfigVersion.cmake
  DESTINATION ${package_folder})
configure_file(tools/plait.pc.in ${PROJECT_BINARY_DIR}/plait.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/plait.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
