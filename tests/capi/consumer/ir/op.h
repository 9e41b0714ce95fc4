#pragma once
// A header of the consumer's own, named as one of plait's.

namespace consumer {

struct Op {
  double factor = 0.5;
};

}  // namespace consumer
