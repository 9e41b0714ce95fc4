// Aligned vectors of T in memory, moved in the widest chunks of 16, 8, 4, 2 or 1 bytes that divide them.
template <int kBytes, class T>
struct __align__(kBytes) Chunk {
  T e[kBytes / sizeof(T)];
};

__device__ constexpr int chunk_bytes(int bytes) {
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

template <class T, int N>
__device__ __forceinline__ void load_vector(T (&out)[N], const T* in) {
  constexpr int kBytes = chunk_bytes(sizeof(T) * N), kCount = kBytes / sizeof(T);
  const Chunk<kBytes, T>* chunks = reinterpret_cast<const Chunk<kBytes, T>*>(in);
#pragma unroll
  for (int c = 0; c < N / kCount; ++c) {
    const Chunk<kBytes, T> chunk = chunks[c];
#pragma unroll
    for (int i = 0; i < kCount; ++i) out[c * kCount + i] = chunk.e[i];
  }
}

template <class T, int N>
__device__ __forceinline__ void store_vector(T* out, const T (&in)[N]) {
  constexpr int kBytes = chunk_bytes(sizeof(T) * N), kCount = kBytes / sizeof(T);
  Chunk<kBytes, T>* chunks = reinterpret_cast<Chunk<kBytes, T>*>(out);
#pragma unroll
  for (int c = 0; c < N / kCount; ++c) {
    Chunk<kBytes, T> chunk;
#pragma unroll
    for (int i = 0; i < kCount; ++i) chunk.e[i] = in[c * kCount + i];
    chunks[c] = chunk;
  }
}
