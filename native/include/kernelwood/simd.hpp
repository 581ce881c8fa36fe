// Runtime choice of the instruction set, without compiling the library for one machine.
//
// A hot loop is written once as a force-inlined template over the vector width; KW_DISPATCH
// instantiates it inside one function per instruction set, and `isa()` picks at run time.
// Vector lanes always hold different pairs of structures and products are never fused with
// sums (-ffp-contract=off), so every instruction set gives the same bits.
#pragma once

#include <cstdlib>
#include <cstring>

namespace kernelwood {

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define KW_X86 1
#endif

#define KW_INLINE inline __attribute__((always_inline))

enum class Isa { baseline, avx2 };

inline const char* isa_name(Isa isa) { return isa == Isa::avx2 ? "avx2" : "baseline"; }

// 512-bit vectors are left alone: here they gained nothing over 256-bit ones.
inline Isa detect_isa() {
#ifdef KW_X86
  const char* wanted = std::getenv("KERNELWOOD_ISA");  // lets tests compare instruction sets
  const bool baseline = wanted != nullptr && std::strcmp(wanted, "baseline") == 0;
  __builtin_cpu_init();
  if (!baseline && __builtin_cpu_supports("avx2")) return Isa::avx2;
#endif
  return Isa::baseline;
}

inline Isa isa() {
  static const Isa chosen = detect_isa();
  return chosen;
}

// A vector of `Bytes` bytes of T, unaligned loads and stores allowed.
template <class T, int Bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(Bytes), aligned(alignof(T)), may_alias));
  static constexpr int lanes = Bytes / static_cast<int>(sizeof(T));
};

// KW_DISPATCH(name, (types and names), (names)): defines `name` calling name_impl<Bytes>.
#ifdef KW_X86
#define KW_DISPATCH(name, parameters, arguments)                        \
  __attribute__((target("avx2"))) inline void name##_avx2 parameters {  \
    name##_impl<32> arguments;                                          \
  }                                                                     \
  inline void name##_baseline parameters { name##_impl<16> arguments; } \
  inline void name parameters {                                         \
    if (isa() == Isa::avx2) return name##_avx2 arguments;               \
    return name##_baseline arguments;                                   \
  }
#else
#define KW_DISPATCH(name, parameters, arguments) \
  inline void name parameters { name##_impl<16> arguments; }
#endif

}  // namespace kernelwood
