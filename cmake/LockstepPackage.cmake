# The Debian package: cpack -G DEB --config build/release/CPackConfig.cmake
install(FILES packaging/lockstep.service DESTINATION lib/systemd/system)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lockstep)
set(CPACK_PACKAGE_CONTACT "Lockstep's developers <developers@lockstep.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Inference engine and server for the Qwen3.5 family")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36)")
include(CPack)
