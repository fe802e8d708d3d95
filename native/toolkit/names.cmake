# The libraries of the toolkit prefix.
#
# libopenaclnn.so holds everything. Clients link with, and look up symbols in, libraries of CANN's
# names: each defines every function as a jump into libopenaclnn.so, through the one table that that
# exports for it. So all names lead to the same code and state, without symbolic links, which wheels
# can't hold. (Filters, DT_FILTER, would do it without code; but glibc 2.36 does not unwind
# exceptions through a library that dlopen found by a filter.)

set(prefix_names ascendcl nnopbase opapi opapi_nn opapi_math acl_rt)

# What the headers declare is what is exported.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/include/*.h")
set(symbols)
foreach(header IN LISTS headers)
  file(STRINGS "${header}" lines REGEX "[aA]cl[A-Za-z0-9]+\\(")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "[aA]cl[A-Za-z0-9]+\\(" symbol "${line}")
    string(REPLACE "(" "" symbol "${symbol}")
    list(APPEND symbols "${symbol}")
  endforeach()
endforeach()
list(REMOVE_DUPLICATES symbols)
list(SORT symbols)

string(REPLACE ";" "; " exported "${symbols}")
file(CONFIGURE OUTPUT exports.map CONTENT
     "{ global: @exported@; openaclnn_engine; openaclnn_functions; local: *; };\n" @ONLY)
target_link_options(openaclnn PRIVATE
                    "-Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/exports.map")
set_target_properties(openaclnn PROPERTIES
                      LINK_DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/exports.map")

set(declarations)
set(entries)
set(jumps)
foreach(symbol IN LISTS symbols)
  string(APPEND declarations "void ${symbol}(void);\n")
  string(APPEND entries "    ${symbol},\n")
  string(APPEND jumps "FORWARD ${symbol}\n")
endforeach()
configure_file(native/toolkit/functions.c.in functions.c @ONLY)
target_sources(openaclnn PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/functions.c")

configure_file(native/toolkit/forward.S.in forward.S @ONLY)
foreach(name IN LISTS prefix_names)
  add_library(prefix_${name} SHARED "${CMAKE_CURRENT_BINARY_DIR}/forward.S")
  set_target_properties(prefix_${name} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C
                        INSTALL_RPATH "$ORIGIN")
  target_link_libraries(prefix_${name} PRIVATE openaclnn)
endforeach()

set(prefix openaclnn/toolkit)
set(prefix_targets ${prefix_names})
list(TRANSFORM prefix_targets PREPEND prefix_)
install(TARGETS openaclnn ${prefix_targets} LIBRARY DESTINATION ${prefix}/lib64)
install(DIRECTORY include/ DESTINATION ${prefix}/include)
configure_file(native/toolkit/openaclnn.pc.in openaclnn.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/openaclnn.pc" DESTINATION ${prefix}/lib64/pkgconfig)
configure_file(native/toolkit/OpenACLNNConfigVersion.cmake.in OpenACLNNConfigVersion.cmake @ONLY)
install(FILES native/toolkit/OpenACLNNConfig.cmake
              "${CMAKE_CURRENT_BINARY_DIR}/OpenACLNNConfigVersion.cmake"
        DESTINATION ${prefix}/share/cmake/OpenACLNN)
