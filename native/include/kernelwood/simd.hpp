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

enum class Isa { baseline, avx2, avx512 };

inline const char* isa_name(Isa isa) {
  return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "baseline";
}

inline Isa detect_isa() {
#ifdef KW_X86
  const char* wanted = std::getenv("KERNELWOOD_ISA");  // lets tests compare instruction sets
  const auto allowed = [&](Isa isa) {
    if (wanted == nullptr) return true;
    return std::strcmp(wanted, "baseline") != 0 &&
           (isa != Isa::avx512 || std::strcmp(wanted, "avx2") != 0);
  };
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && allowed(Isa::avx512)) return Isa::avx512;
  if (avx2 && allowed(Isa::avx2)) return Isa::avx2;
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
#define KW_DISPATCH(name, parameters, arguments)                           \
  __attribute__((target("avx2,fma"))) inline void name##_avx2 parameters { \
    name##_impl<32> arguments;                                             \
  }                                                                        \
  inline void name##_baseline parameters { name##_impl<16> arguments; }    \
  inline void name parameters {                                            \
    if (isa() != Isa::baseline) return name##_avx2 arguments;              \
    return name##_baseline arguments;                                      \
  }
// The same with 512-bit vectors, which pay only where nothing but arithmetic happens.
#define KW_DISPATCH_WIDE(name, parameters, arguments)                                \
  __attribute__((target("avx512f,avx2,fma"))) inline void name##_avx512 parameters { \
    name##_impl<64> arguments;                                                       \
  }                                                                                  \
  __attribute__((target("avx2,fma"))) inline void name##_avx2 parameters {           \
    name##_impl<32> arguments;                                                       \
  }                                                                                  \
  inline void name##_baseline parameters { name##_impl<16> arguments; }              \
  inline void name parameters {                                                      \
    if (isa() == Isa::avx512) return name##_avx512 arguments;                        \
    if (isa() == Isa::avx2) return name##_avx2 arguments;                            \
    return name##_baseline arguments;                                                \
  }
#else
#define KW_DISPATCH_WIDE KW_DISPATCH
#define KW_DISPATCH(name, parameters, arguments) \
  inline void name parameters { name##_impl<16> arguments; }
#endif

}  // namespace kernelwood
