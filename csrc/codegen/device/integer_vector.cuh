// needs byte_words
// Vectors of an even number of integers of one and two bytes, widened to int or unsigned, stored modulo 2^8 or 2^16.
template <int N>
__device__ __forceinline__ void load_vector(Vec<int, N>& out, const signed char* in, bool when = true) {
  load_bytes<N>(reinterpret_cast<const unsigned char*>(in), when,
                [&](int i, unsigned char byte) { out[i] = (signed char)byte; });
}

template <int N>
__device__ __forceinline__ void load_vector(Vec<unsigned, N>& out, const unsigned char* in, bool when = true) {
  load_bytes<N>(in, when, [&](int i, unsigned char byte) { out[i] = byte; });
}

template <int N>
__device__ __forceinline__ void store_vector(signed char* out, const Vec<int, N>& in) {
  store_bytes<N>(reinterpret_cast<unsigned char*>(out), [&](int i) -> unsigned { return (unsigned)in[i]; });
}

template <int N>
__device__ __forceinline__ void store_vector(unsigned char* out, const Vec<unsigned, N>& in) {
  store_bytes<N>(out, [&](int i) -> unsigned { return in[i]; });
}

template <class Half, class Value, int N>
__device__ __forceinline__ void load_halves(Vec<Value, N>& out, const Half* in, bool when) {
  Vec<unsigned, N / 2> pairs;
  load_vector(pairs, reinterpret_cast<const unsigned*>(in), when);
#pragma unroll
  for (int i = 0; i < N; ++i) out[i] = (Half)(pairs[i / 2] >> 16 * (i % 2));
}

template <class Value, int N>
__device__ __forceinline__ void store_halves(unsigned* out, const Vec<Value, N>& in) {
  Vec<unsigned, N / 2> pairs;
#pragma unroll
  for (int i = 0; i < N; i += 2) pairs[i / 2] = ((unsigned)in[i] & 0xffffu) | (unsigned)in[i + 1] << 16;
  store_vector(out, pairs);
}

template <int N>
__device__ __forceinline__ void load_vector(Vec<int, N>& out, const short* in, bool when = true) {
  load_halves(out, in, when);
}

template <int N>
__device__ __forceinline__ void load_vector(Vec<unsigned, N>& out, const unsigned short* in, bool when = true) {
  load_halves(out, in, when);
}

template <int N>
__device__ __forceinline__ void store_vector(short* out, const Vec<int, N>& in) {
  store_halves(reinterpret_cast<unsigned*>(out), in);
}

template <int N>
__device__ __forceinline__ void store_vector(unsigned short* out, const Vec<unsigned, N>& in) {
  store_halves(reinterpret_cast<unsigned*>(out), in);
}
