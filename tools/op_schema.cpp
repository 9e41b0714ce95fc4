// Prints the schema of all ops (csrc/ir/schema.h) as JSON: what the Python package and the documents are made from.
#include <cstdio>

#include "ir/schema.h"

int main() { return std::fputs(plait::op_schemas_json().c_str(), stdout) < 0 || std::fflush(stdout) != 0; }
