#pragma once
// Everything that a page shows of a compiled program (`plait view`), as one document.
#include <span>
#include <string>

#include "plait.h"

namespace plait {

// JSON: the texts of all stages, tensors, ops, segments with the boundaries between them, kernels with their texts,
// steps, layouts as a picture, memory, and the timeline of `trace` where that is not empty. Numbers with the sizes of
// the last run, those of one rank of rank 0. UserError: nothing is compiled.
std::string view_document(const Compiled& compiled, std::span<const StepTrace> trace);

// The page of a document: HTML that needs nothing else. UserError: it is no such document, or of another format.
std::string view_page(std::string_view document);

// The number `format` of the documents that this version writes and reads.
inline constexpr int kViewFormat = 1;

}  // namespace plait
