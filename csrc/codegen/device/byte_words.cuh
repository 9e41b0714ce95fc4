// needs vector
// Vectors of N bytes, four in a register, the lowest first. `byte(i)` gives a word whose low byte counts.
template <int N, class Byte>
__device__ __forceinline__ void store_bytes(unsigned char* out, Byte&& byte) {
  if constexpr (N % 4 == 0) {
    Vec<unsigned, N / 4> words;
#pragma unroll
    for (int i = 0; i < N; i += 4)
      words[i / 4] = (byte(i) & 0xffu) | (byte(i + 1) & 0xffu) << 8 | (byte(i + 2) & 0xffu) << 16 | byte(i + 3) << 24;
    store_vector(reinterpret_cast<unsigned*>(out), words);
  } else {
    Vec<unsigned char, N> bytes;
#pragma unroll
    for (int i = 0; i < N; ++i) bytes[i] = (unsigned char)byte(i);
    store_vector(out, bytes);
  }
}

template <int N, class Put>
__device__ __forceinline__ void load_bytes(const unsigned char* in, bool when, Put&& put) {
  if constexpr (N % 4 == 0) {
    Vec<unsigned, N / 4> words;
    load_vector(words, reinterpret_cast<const unsigned*>(in), when);
#pragma unroll
    for (int i = 0; i < N; ++i) put(i, (unsigned char)(words[i / 4] >> 8 * (i % 4)));
  } else {
    Vec<unsigned char, N> bytes;
    load_vector(bytes, in, when);
#pragma unroll
    for (int i = 0; i < N; ++i) put(i, bytes[i]);
  }
}
