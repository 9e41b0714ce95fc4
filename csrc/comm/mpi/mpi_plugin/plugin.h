#pragma once
// C interface of libplait_mpi.so: operations of an MPI library among processes, started and then asked for their end.
// The library is loaded when the first communicator is made, so that other processes do not pay for MPI.
#include <stddef.h>
#include <stdint.h>

extern "C" {

typedef struct PlaitMpiJob PlaitMpiJob;
typedef struct PlaitMpiTeam PlaitMpiTeam;

// Element types, and the ways to reduce them; max and min propagate NaN.
enum {
  kPlaitMpiBool,
  kPlaitMpiI8,
  kPlaitMpiI16,
  kPlaitMpiI32,
  kPlaitMpiI64,
  kPlaitMpiU8,
  kPlaitMpiU16,
  kPlaitMpiU32,
  kPlaitMpiU64,
  kPlaitMpiF8E4M3,
  kPlaitMpiF8E5M2,
  kPlaitMpiF16,
  kPlaitMpiBf16,
  kPlaitMpiF32,
  kPlaitMpiF64,
  kPlaitMpiTypes
};
enum { kPlaitMpiSum, kPlaitMpiMax, kPlaitMpiMin, kPlaitMpiProd, kPlaitMpiReduces };

// into[i] = in[i] reduced with into[i], for what the MPI library does not reduce itself.
typedef void (*PlaitMpiCombine)(int type, int reduce, const void* in, void* into, int64_t count);

// One thread at a time. Functions that return int return 0, or -1 with a text in `error`, cut to fit `error_size`.
// Counts and displacements are elements and below 2^31; displacements are given where pieces may have gaps. One
// operation of a job at a time: started by a call, it is under way until `test` says 1; its arguments stay until then.
typedef struct PlaitMpiInterface {
  uint32_t version;                      // kPlaitMpiVersion
  const char* (*library_version)(void);  // "Open MPI v4.1.4, ..."; before any other call, too
  // Joins the job: initialises MPI unless the process has, and then finalises it when the process exits with status 0.
  // `communicator` is the caller's MPI_Comm (it is duplicated), null: all processes. Collective. Null on failure.
  PlaitMpiJob* (*open)(void* communicator, PlaitMpiCombine combine, char* error, size_t error_size);
  // Collective unless `broken`: then nothing is freed that others would have to know of.
  void (*close)(PlaitMpiJob* job, int broken);
  int (*rank)(const PlaitMpiJob* job);
  int (*size)(const PlaitMpiJob* job);
  // Starts an exchange of one byte among processes of the job, after which make_team does not wait for long.
  int (*meet)(PlaitMpiJob* job, const int* ranks, int count, char* error, size_t error_size);
  PlaitMpiTeam* (*make_team)(PlaitMpiJob* job, const int* ranks, int count, char* error, size_t error_size);
  void (*free_team)(PlaitMpiTeam* team);
  // Operations; in == out where an operation may be in place: all_reduce, and all_gather whose piece lies in `out`.
  int (*all_gather)(PlaitMpiTeam* team, int type, const void* in, void* out, const int* counts,
                    const int* displacements, char* error, size_t error_size);
  int (*all_to_all)(PlaitMpiTeam* team, int type, const void* in, const int* in_counts, const int* in_displacements,
                    void* out, const int* out_counts, const int* out_displacements, char* error, size_t error_size);
  int (*broadcast)(PlaitMpiTeam* team, int type, void* data, int count, int root, char* error, size_t error_size);
  int (*all_reduce)(PlaitMpiTeam* team, int type, int reduce, const void* in, void* out, int count, char* error,
                    size_t error_size);
  int (*reduce_scatter)(PlaitMpiTeam* team, int type, int reduce, const void* in, void* out, const int* counts,
                        char* error, size_t error_size);
  int (*reduce)(PlaitMpiTeam* team, int type, int reduce, const void* in, void* out, int count, int root, char* error,
                size_t error_size);
  // 1: the operation is done, 0: not yet, -1: it failed.
  int (*test)(PlaitMpiJob* job, char* error, size_t error_size);
} PlaitMpiInterface;

enum { kPlaitMpiVersion = 1 };

// The one symbol the library exports.
const PlaitMpiInterface* plait_mpi_interface(void);
}
