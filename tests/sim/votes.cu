// Votes, matches and reductions of a warp.
// blocks 1, threads 64, words 640
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned first = t / 32 * 32;
    unsigned ballot = 0, same = 0, sum = 0, low = ~0u, all = ~0u, any = 0, odd = 0;
    int most = -2147483647 - 1;
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned x = in[first + i];
      if (x % 3 == 0) ballot |= 1u << i;
      if (x % 4 == in[t] % 4) same |= 1u << i;
      sum += x;
      low = x < low ? x : low;
      most = static_cast<int>(x) > most ? static_cast<int>(x) : most;
      all &= x;
      any |= x;
      odd ^= x;
    }
    const unsigned lane = t % 32;
    const unsigned words[10] = {ballot, ballot == ~0u, ballot != 0, same, sum, low, static_cast<unsigned>(most), all ^ any, odd,
                                ballot & ((1u << lane) - 1)};
    for (int k = 0; k < 10; ++k) out[10 * t + k] = words[k];
  }
}

__device__ void all_of_them(const unsigned* in, unsigned* out) {
  const unsigned own = in[threadIdx.x];
  unsigned* to = out + 10 * threadIdx.x;
  to[0] = __ballot_sync(~0u, own % 3 == 0);
  to[1] = __all_sync(~0u, own % 3 == 0);
  to[2] = __any_sync(~0u, own % 3 == 0);
  to[3] = __match_any_sync(~0u, own % 4);
  to[4] = __reduce_add_sync(~0u, own);
  to[5] = __reduce_min_sync(~0u, own);
  to[6] = static_cast<unsigned>(__reduce_max_sync(~0u, static_cast<int>(own)));
  to[7] = __reduce_and_sync(~0u, own) ^ __reduce_or_sync(~0u, own);
  to[8] = __reduce_xor_sync(~0u, own);
  unsigned below;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  to[9] = to[0] & below;
  int whole;
  const unsigned everybody = __match_all_sync(~0u, threadIdx.x / 32, &whole);
  if (everybody != ~0u || !whole || __activemask() != ~0u) to[0] = 0;
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) { all_of_them(in, out); }

// Lanes that have ended take no part.
extern "C" __global__ void right_without_some(const unsigned* in, unsigned* out) {
  all_of_them(in, out);
  if (threadIdx.x % 32 >= 20) return;
  if (__ballot_sync(~0u, true) != 0xfffff) out[0] = 0;
}

// wrong: lane 0 takes part with the mask 0xffffffff, lane 16 of it with the mask 0xffff0000
extern "C" __global__ void wrong_masks(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = __ballot_sync(threadIdx.x % 32 < 16 ? ~0u : 0xffff0000, in[threadIdx.x] % 2);  // <-
}
