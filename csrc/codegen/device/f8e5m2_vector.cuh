// needs byte_words f8e5m2
// Vectors of f8e5m2, one byte each.
template <int N>
__device__ __forceinline__ void load_vector(Vec<float, N>& out, const f8e5m2* in, bool when = true) {
  load_bytes<N>(&in->bits, when, [&](int i, unsigned char byte) { out[i] = to_f32(f8e5m2{byte}); });
}

template <int N>
__device__ __forceinline__ void store_vector(f8e5m2* out, const Vec<float, N>& in) {
  store_bytes<N>(&out->bits, [&](int i) -> unsigned { return to_f8e5m2(in[i]).bits; });
}
