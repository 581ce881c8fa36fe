// Arrays as functions take them from Python, and what is checked of them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "kernelwood/engine.hpp"

namespace kernelwood {

// Contiguous arrays in memory; of const values if they are only read.
template <class T>
using Vector = nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Matrix = nanobind::ndarray<T, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Cube = nanobind::ndarray<T, nanobind::ndim<3>, nanobind::c_contig, nanobind::device::cpu>;

// For functions that touch no Python object.
using Released = nanobind::call_guard<nanobind::gil_scoped_release>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

// Where a thread says that work should end early, if anywhere.
using Stop = std::optional<Vector<const int32_t>>;

inline StopFlag flag(const Stop& stop) {
  require(!stop || stop->size() > 0, "stop needs an element");
  return StopFlag(stop ? stop->data() : nullptr);
}

template <class Array>
int64_t size_of(const Array& array, size_t axis) {
  return static_cast<int64_t>(array.shape(axis));
}

}  // namespace kernelwood
