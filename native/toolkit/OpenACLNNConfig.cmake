# Gives the imported target OpenACLNN::aclnn: find_package(OpenACLNN CONFIG REQUIRED).
get_filename_component(_openaclnn_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET OpenACLNN::aclnn)
  add_library(OpenACLNN::aclnn SHARED IMPORTED)
  set_target_properties(OpenACLNN::aclnn PROPERTIES
    IMPORTED_LOCATION "${_openaclnn_prefix}/lib64/libopenaclnn.so"
    IMPORTED_SONAME libopenaclnn.so
    INTERFACE_INCLUDE_DIRECTORIES
      "${_openaclnn_prefix}/include;${_openaclnn_prefix}/include/aclnn;${_openaclnn_prefix}/include/aclnnop")
endif()
unset(_openaclnn_prefix)
