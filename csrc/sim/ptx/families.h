#pragma once
// Decode functions of instructions whose types belong to different files: the type is taken, the rest is not.
#include "sim/ptx/decoder.h"

namespace plait::sim::ptx {

void decode_float_arithmetic(Decoder& d, Type type);  // add, sub, mul, mad, fma of f32, f64, f32x2
void decode_float_divide(Decoder& d, Type type);
void decode_float_sign(Decoder& d, Type type);
void decode_float_extremum(Decoder& d, Type type);
void decode_half_arithmetic(Decoder& d, Type type);  // f16, bf16, and pairs
void decode_half_sign(Decoder& d, Type type);
void decode_half_extremum(Decoder& d, Type type);

// An instruction that all 32 lanes of a warp execute together; what `handler` does is done once all are there.
Instruction& emit_for_warp(Decoder& d, Handler handler);
void need_warp(Warp& warp, const Instruction& i);  // Fault: some of the lanes have ended, or are not there

void decode_warp_barrier(Decoder& d);     // bar.warp.sync
void decode_cluster_barrier(Decoder& d);  // barrier.cluster
// The row of the address of a variable in shared memory, with the operand's offset; `wide`: 64 bits.
uint32_t shared_address_row(Decoder& d, const Operand& operand, bool wide);

// add, sub, mad and those with a carry; `writes`: .cc was there.
void decode_carried(Decoder& d, Type type, bool writes);

}  // namespace plait::sim::ptx
