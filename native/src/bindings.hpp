// The parts of the extension module, one function each.
#pragma once

#include <nanobind/nanobind.h>

namespace kernelwood {

void bind_chains(nanobind::module_& m);
void bind_forests(nanobind::module_& m);
void bind_fragments(nanobind::module_& m);
void bind_graphs(nanobind::module_& m);
void bind_hash_forest(nanobind::module_& m);
void bind_hashing(nanobind::module_& m);
void bind_information(nanobind::module_& m);
void bind_parsing(nanobind::module_& m);
void bind_sequences(nanobind::module_& m);
void bind_similarity(nanobind::module_& m);
void bind_svm(nanobind::module_& m);
void bind_trees(nanobind::module_& m);
void bind_transitions(nanobind::module_& m);
void bind_terms(nanobind::module_& m);
void bind_vector_search(nanobind::module_& m);
void bind_vectors(nanobind::module_& m);

}  // namespace kernelwood
