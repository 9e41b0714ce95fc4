#pragma once

namespace plait {

// One callable from several lambdas, for visit(node, overloaded{...}).
template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

}  // namespace plait
