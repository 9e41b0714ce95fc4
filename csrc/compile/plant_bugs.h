#pragma once
// Bugs that tests plant to see that they are caught (option test_bug).
#include "base/options.h"
#include "comm/communicator.h"
#include "ir/fusion.h"
#include "program/program.h"

namespace plait {

// lost_conflict_rule: parameters lose their rank in conflicts.
void plant_before_sharding(Fusion& graph, const Options& options);

// bias_on_every_rank, wrong_chunk_bound, stale_slice, local_random_index, partial_not_reduced: on the localized fusion.
void plant_after_localize(Fusion& localized, const Options& options);

// subtracting_pass: additions subtract.
void plant_in_remove_unread(Fusion& localized, const Options& options);

// lost_wait: the program's events and waits are gone.
void plant_in_program(Program& program, const Options& options);

// swapped_gather: the first two members of an all-gather find each other's piece in their place. undelivered_sum: the
// last member of an all-reduce keeps its own operand.
std::shared_ptr<Communicators> plant_in_communication(std::shared_ptr<Communicators> comms, const Options& options);

}  // namespace plait
