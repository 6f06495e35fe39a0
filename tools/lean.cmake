# Read by CMake when it comes to llama-cpp-python's project.

# Its own setting would compile what a Python program never loads; a variable of this name wins.
set(LLAMA_BUILD_COMMON OFF)

# GCC up to 12 takes the stores into a tile configuration (AMX) for dead, and the first tile
# instruction ends the process: ggml-org/llama.cpp, pull request 26954. Without that step the
# tiles work, and more than double the speed of 8-bit models where the processor has them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    cmake_language(DEFER CALL target_compile_options ggml-cpu PRIVATE -fno-dse -fno-tree-dse)
endif()
