# Checks at run time, in the core and in nanobind, that end the process before memory is misused.
# Together they cost at most 0.3 % of the instructions (callgrind) of Gram matrices, hashing, parsing
# and training; of those in the core, 1.1 % when forests of bits grow, and at most 0.4 % elsewhere.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)

# Not _GLIBCXX_ASSERTIONS, whose checks of std::vector::operator[] are in the inner loops; the build
# with sanitizers has them. Instructions of the core (callgrind), relative to a core without them:
# subset tree, forest 1.47, partial tree 1.43, parsing 1.38, soft partial tree 1.17, hashing 1.11,
# subsequence 1.10, SVM 1.07, forest of bits 1.04.

# A value before return addresses that is checked when functions with arrays return.
check_cxx_compiler_flag(-fstack-protector-strong KW_STACK_PROTECTOR)
if(KW_STACK_PROTECTOR)
  add_compile_options(-fstack-protector-strong)
endif()

# Sizes in calls of the C library. Level 3, for sizes known at run time, needs GCC 12 or Clang 9 and
# glibc 2.34; others warn, and get level 2. Some compilers define a level of their own.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(KW_FORTIFY 2)
  set(CMAKE_REQUIRED_FLAGS "-Werror -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_cxx_source_compiles("#include <cstring>\nint main() { return 0; }" KW_FORTIFY_3)
  unset(CMAKE_REQUIRED_FLAGS)
  if(KW_FORTIFY_3)
    set(KW_FORTIFY 3)
  endif()
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${KW_FORTIFY})
endif()

# Addresses of functions in other libraries are read-only after loading.
check_linker_flag(CXX "-Wl,-z,relro,-z,now" KW_FULL_RELRO)
if(KW_FULL_RELRO)
  add_link_options("-Wl,-z,relro,-z,now")
endif()
