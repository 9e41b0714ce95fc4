// needs vector
// Vectors of bool, one byte each: any nonzero byte reads as true, true is written as 1.
template <int N>
__device__ __forceinline__ void load_vector(Vec<bool, N>& out, const unsigned char* in) {
  Vec<unsigned char, N> bytes;
  load_vector(bytes, in);
#pragma unroll
  for (int i = 0; i < N; ++i) out[i] = bytes[i] != 0;
}

template <int N>
__device__ __forceinline__ void store_vector(unsigned char* out, const Vec<bool, N>& in) {
  Vec<unsigned char, N> bytes;
#pragma unroll
  for (int i = 0; i < N; ++i) bytes[i] = in[i] ? 1 : 0;
  store_vector(out, bytes);
}
