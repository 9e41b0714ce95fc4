#pragma once
#include "schedule/find_attention.h"

namespace plait {

// A product whose weights are a softmax divides what it gives instead, so that rows need not be there before it.
// Between the two may stand factors, dropout and, where `casts`, casts to other floats.
void divide_behind(Fusion& graph, const Matmul& product, bool casts = false);

// Takes ops out of the order whose results nobody reads.
void drop_unread(Fusion& graph);

}  // namespace plait
