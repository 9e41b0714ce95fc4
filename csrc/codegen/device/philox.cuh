// Philox 4x32-10 (Salmon et al., 2011): four words for counter (block, offset) under the key `seed`.
struct Philox {
  unsigned w0, w1, w2, w3;
};

__device__ __forceinline__ Philox philox(unsigned long long seed, unsigned long long block, unsigned long long offset) {
  Philox c = {(unsigned)block, (unsigned)(block >> 32), (unsigned)offset, (unsigned)(offset >> 32)};
  unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long p0 = 0xd2511f53ull * c.w0, p1 = 0xcd9e8d57ull * c.w2;
    c = {(unsigned)(p1 >> 32) ^ c.w1 ^ k0, (unsigned)p1, (unsigned)(p0 >> 32) ^ c.w3 ^ k1, (unsigned)p0};
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return c;
}

// The upper 24 bits as a number in [0, 1).
__device__ __forceinline__ float unit_f32(unsigned word) { return (float)(word >> 8) * 0x1p-24f; }

// Number `index` of the sequence; four neighbours share a block.
__device__ __forceinline__ float uniform(unsigned long long seed, unsigned long long index, unsigned long long offset) {
  const Philox c = philox(seed, index / 4, offset);
  const unsigned low = index & 1 ? c.w1 : c.w0, high = index & 1 ? c.w3 : c.w2;
  return unit_f32(index & 2 ? high : low);
}
