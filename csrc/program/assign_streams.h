#pragma once
// Pass over a program: which stream each step is on, and the events between the streams.
//
// Requires: a program that verify() accepts but for P11 to P14, without records and waits. Ensures: collectives are on
// comm, all other steps on compute; where a step reads what another stream wrote, a wait stands before it, unless an
// earlier wait covers that write already. A collective that waits for nothing else, and so could begin at once, waits
// for what is computed before it in the list: its memory may be that of what was read there. The order of the steps
// stays, which is the order in which every rank issues them. No smaller set of records and waits orders the same
// accesses: each pair is an edge of the transitive reduction of the program's order. Here, and not where steps are
// made: only now are all readers of a value known.
#include "program/program.h"

namespace plait {

void assign_streams(Program& program);

}  // namespace plait
