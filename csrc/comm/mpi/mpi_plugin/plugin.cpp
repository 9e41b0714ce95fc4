#include "comm/mpi/mpi_plugin/plugin.h"

#include <dlfcn.h>
#define OMPI_SKIP_MPICXX 1  // the C++ bindings of MPI 2 need a library of their own
#include <mpi.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct PlaitMpiJob {
  MPI_Comm communicator = MPI_COMM_NULL;
  int rank = 0, size = 1;
  std::vector<MPI_Request> requests;  // of the operation under way
  std::vector<char> bytes;            // of meet
};

struct PlaitMpiTeam {
  PlaitMpiJob* job;
  MPI_Comm communicator = MPI_COMM_NULL;
};

namespace {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " + std::string(text, size_t(length)));
}

// Runs fn; an exception becomes -1 and a text.
template <class Fn>
int guarded(char* error, size_t error_size, Fn&& fn) {
  try {
    fn();
    return 0;
  } catch (const std::exception& e) {
    if (error_size > 0) {
      std::strncpy(error, e.what(), error_size - 1);
      error[error_size - 1] = '\0';
    }
    return -1;
  }
}

bool finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

// ---- Types and reductions. Narrow floats travel as integers of their size; what MPI does not reduce as wanted
// (those floats; max and min of floats, which must keep NaN; sums and products of integers of 8 and 16 bits, which Open
// MPI 4's vectors saturate instead of wrapping) is left to the caller's function.

MPI_Datatype datatype(int type) {
  switch (type) {
    case kPlaitMpiBool:
    case kPlaitMpiU8:
    case kPlaitMpiF8E4M3:
    case kPlaitMpiF8E5M2:
      return MPI_UINT8_T;
    case kPlaitMpiI8:
      return MPI_INT8_T;
    case kPlaitMpiI16:
      return MPI_INT16_T;
    case kPlaitMpiI32:
      return MPI_INT32_T;
    case kPlaitMpiI64:
      return MPI_INT64_T;
    case kPlaitMpiU32:
      return MPI_UINT32_T;
    case kPlaitMpiU64:
      return MPI_UINT64_T;
    case kPlaitMpiU16:
    case kPlaitMpiF16:
    case kPlaitMpiBf16:
      return MPI_UINT16_T;
    case kPlaitMpiF32:
      return MPI_FLOAT;
    case kPlaitMpiF64:
      return MPI_DOUBLE;
    default:
      throw std::runtime_error("an unknown element type");
  }
}

PlaitMpiCombine combine = nullptr;

template <int kType, int kReduce>
void combine_as(void* in, void* into, int* count, MPI_Datatype*) {
  combine(kType, kReduce, in, into, *count);
}

constexpr int kOps = int(kPlaitMpiTypes) * int(kPlaitMpiReduces);

template <size_t... kIndex>
std::array<MPI_User_function*, kOps> user_functions(std::index_sequence<kIndex...>) {
  return {&combine_as<int(kIndex) / kPlaitMpiReduces, int(kIndex) % kPlaitMpiReduces>...};
}

std::array<MPI_Op, kOps> user_ops = [] {
  std::array<MPI_Op, kOps> ops;
  ops.fill(MPI_OP_NULL);
  return ops;
}();

MPI_Op user_op(int type, int reduce) {
  const size_t index = size_t(type) * kPlaitMpiReduces + size_t(reduce);
  if (user_ops[index] == MPI_OP_NULL) {
    static const auto functions = user_functions(std::make_index_sequence<kOps>());
    check(MPI_Op_create(functions[index], 1, &user_ops[index]), "MPI_Op_create");
  }
  return user_ops[index];
}

MPI_Op operation(int type, int reduce) {
  const bool f8 = type == kPlaitMpiF8E4M3 || type == kPlaitMpiF8E5M2;
  const bool narrow = f8 || type == kPlaitMpiF16 || type == kPlaitMpiBf16;
  const bool floating = narrow || type == kPlaitMpiF32 || type == kPlaitMpiF64;
  const bool extremum = reduce == kPlaitMpiMax || reduce == kPlaitMpiMin;
  const bool small = type == kPlaitMpiI8 || type == kPlaitMpiI16 || type == kPlaitMpiU8 || type == kPlaitMpiU16;
  if (narrow || (floating && extremum) || (small && !extremum)) return user_op(type, reduce);
  // Of 0 and 1: whether a sum, or a product, differs from 0.
  if (type == kPlaitMpiBool) return reduce == kPlaitMpiSum || reduce == kPlaitMpiMax ? MPI_MAX : MPI_MIN;
  constexpr std::array<int, 4> kOrder = {kPlaitMpiSum, kPlaitMpiMax, kPlaitMpiMin, kPlaitMpiProd};
  const std::array<MPI_Op, 4> ops = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD};
  return ops[size_t(std::find(kOrder.begin(), kOrder.end(), reduce) - kOrder.begin())];
}

// Signed sums and products wrap: they are taken as unsigned.
MPI_Datatype reduced_datatype(int type, int reduce) {
  if (reduce != kPlaitMpiSum && reduce != kPlaitMpiProd) return datatype(type);
  if (type == kPlaitMpiI32) return MPI_UINT32_T;
  return type == kPlaitMpiI64 ? MPI_UINT64_T : datatype(type);
}

// ---- The job.

void finalize_at_exit(int status, void*) {
  // After an error the others may never come to MPI_Finalize; the launcher ends them when this process is gone.
  if (status == 0 && !finalized()) MPI_Finalize();
}

void initialize() {
  int initialized = 0;
  check(MPI_Initialized(&initialized), "MPI_Initialized");
  if (finalized()) throw std::runtime_error("MPI was finalised before");
  int level = MPI_THREAD_SINGLE;
  if (!initialized) {
    // The MPI library opens parts of itself at run time, which look for its functions among the global ones.
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &info) != 0 && info.dli_fname != nullptr)
      dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    on_exit(&finalize_at_exit, nullptr);
  } else {
    check(MPI_Query_thread(&level), "MPI_Query_thread");
  }
  int main_thread = 0;
  check(MPI_Is_thread_main(&main_thread), "MPI_Is_thread_main");
  if (level < MPI_THREAD_SERIALIZED && !main_thread)
    throw std::runtime_error("MPI was initialised for calls of its main thread only, and this is another");
}

PlaitMpiJob* open_job(void* communicator, PlaitMpiCombine function, char* error, size_t error_size) {
  std::unique_ptr<PlaitMpiJob> job = std::make_unique<PlaitMpiJob>();
  const int failed = guarded(error, error_size, [&] {
    initialize();
    combine = function;
    const MPI_Comm parent = communicator == nullptr ? MPI_COMM_WORLD : static_cast<MPI_Comm>(communicator);
    check(MPI_Comm_dup(parent, &job->communicator), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(job->communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(job->communicator, &job->rank), "MPI_Comm_rank");
    check(MPI_Comm_size(job->communicator, &job->size), "MPI_Comm_size");
  });
  return failed ? nullptr : job.release();
}

void close_job(PlaitMpiJob* job, int broken) {
  if (!broken && !finalized() && job->communicator != MPI_COMM_NULL) MPI_Comm_free(&job->communicator);
  if (!broken) delete job;  // else the library may still hold its requests
}

constexpr int kMeetTag = 7001, kTeamTag = 7002;

int meet(PlaitMpiJob* job, const int* ranks, int count, char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    job->bytes.assign(size_t(count) + 1, 0);
    for (int i = 0; i < count; ++i) {
      if (ranks[i] == job->rank) continue;
      job->requests.push_back(MPI_REQUEST_NULL);
      check(
          MPI_Irecv(&job->bytes[size_t(i)], 1, MPI_BYTE, ranks[i], kMeetTag, job->communicator, &job->requests.back()),
          "MPI_Irecv");
      job->requests.push_back(MPI_REQUEST_NULL);
      check(MPI_Isend(&job->bytes[size_t(count)], 1, MPI_BYTE, ranks[i], kMeetTag, job->communicator,
                      &job->requests.back()),
            "MPI_Isend");
    }
  });
}

PlaitMpiTeam* make_team(PlaitMpiJob* job, const int* ranks, int count, char* error, size_t error_size) {
  std::unique_ptr<PlaitMpiTeam> team = std::make_unique<PlaitMpiTeam>();
  team->job = job;
  const int failed = guarded(error, error_size, [&] {
    MPI_Group all = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
    check(MPI_Comm_group(job->communicator, &all), "MPI_Comm_group");
    check(MPI_Group_incl(all, count, ranks, &members), "MPI_Group_incl");
    const int code = MPI_Comm_create_group(job->communicator, members, kTeamTag, &team->communicator);
    MPI_Group_free(&members);
    MPI_Group_free(&all);
    check(code, "MPI_Comm_create_group");
    check(MPI_Comm_set_errhandler(team->communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  });
  return failed ? nullptr : team.release();
}

void free_team(PlaitMpiTeam* team) {
  if (!finalized() && team->communicator != MPI_COMM_NULL) MPI_Comm_free(&team->communicator);
  delete team;
}

// ---- Operations.

MPI_Request* new_request(PlaitMpiTeam* team) {
  if (!team->job->requests.empty()) throw std::runtime_error("an operation is under way");
  team->job->requests.push_back(MPI_REQUEST_NULL);
  return &team->job->requests.back();
}

const void* in_or_in_place(const void* in, const void* out) { return in == out ? MPI_IN_PLACE : in; }

int all_gather(PlaitMpiTeam* team, int type, const void* in, void* out, const int* counts, const int* displacements,
               char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    int position = 0;
    check(MPI_Comm_rank(team->communicator, &position), "MPI_Comm_rank");
    check(MPI_Iallgatherv(in_or_in_place(in, out), counts[position], datatype(type), out, counts, displacements,
                          datatype(type), team->communicator, new_request(team)),
          "MPI_Iallgatherv");
  });
}

int all_to_all(PlaitMpiTeam* team, int type, const void* in, const int* in_counts, const int* in_displacements,
               void* out, const int* out_counts, const int* out_displacements, char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    check(MPI_Ialltoallv(in, in_counts, in_displacements, datatype(type), out, out_counts, out_displacements,
                         datatype(type), team->communicator, new_request(team)),
          "MPI_Ialltoallv");
  });
}

int broadcast(PlaitMpiTeam* team, int type, void* data, int count, int root, char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    check(MPI_Ibcast(data, count, datatype(type), root, team->communicator, new_request(team)), "MPI_Ibcast");
  });
}

int all_reduce(PlaitMpiTeam* team, int type, int reduce, const void* in, void* out, int count, char* error,
               size_t error_size) {
  return guarded(error, error_size, [&] {
    check(MPI_Iallreduce(in_or_in_place(in, out), out, count, reduced_datatype(type, reduce), operation(type, reduce),
                         team->communicator, new_request(team)),
          "MPI_Iallreduce");
  });
}

int reduce_scatter(PlaitMpiTeam* team, int type, int reduce, const void* in, void* out, const int* counts, char* error,
                   size_t error_size) {
  return guarded(error, error_size, [&] {
    check(MPI_Ireduce_scatter(in, out, counts, reduced_datatype(type, reduce), operation(type, reduce),
                              team->communicator, new_request(team)),
          "MPI_Ireduce_scatter");
  });
}

int reduce(PlaitMpiTeam* team, int type, int how, const void* in, void* out, int count, int root, char* error,
           size_t error_size) {
  return guarded(error, error_size, [&] {
    check(MPI_Ireduce(in, out, count, reduced_datatype(type, how), operation(type, how), root, team->communicator,
                      new_request(team)),
          "MPI_Ireduce");
  });
}

int test(PlaitMpiJob* job, char* error, size_t error_size) {
  int done = 0;
  const int failed = guarded(error, error_size, [&] {
    const int code = MPI_Testall(int(job->requests.size()), job->requests.data(), &done, MPI_STATUSES_IGNORE);
    check(code, "an operation of MPI failed");
    if (done) job->requests.clear();
  });
  return failed ? failed : done;
}

int rank_of(const PlaitMpiJob* job) { return job->rank; }
int size_of(const PlaitMpiJob* job) { return job->size; }

const char* library_version() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  return MPI_Get_library_version(text, &length) == MPI_SUCCESS ? text : "";
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const PlaitMpiInterface* plait_mpi_interface(void) {
  static const PlaitMpiInterface interface = {
      kPlaitMpiVersion, library_version, open_job,   close_job, rank_of,    size_of,        meet,   make_team,
      free_team,        all_gather,      all_to_all, broadcast, all_reduce, reduce_scatter, reduce, test};
  return &interface;
}
