/* plait's C ABI (C11): build or parse a fusion, compile it, run it on DLPack tensors.

   Handles are opaque and owned by whoever made them; each type has its `_free`, which takes NULL. A function that can
   fail returns NULL, or an error that the caller frees; on failure its outputs are NULL and nothing has changed.
   Structs begin with `struct_size`, sizeof of the struct that the caller was compiled with: later versions add fields
   at the end, which count as zero for older callers. Those that stand in arrays have none and stay as they are:
   plait_setting, plait_extent, plait_argument, plait_parameter_info, plait_metadata, plait_output, plait_donation,
   plait_input. A count that is not 0 with an array that is NULL is a user error. Strings are UTF-8, zero-terminated.
   Strings and arrays that a handle returns live until the next call that changes the handle, or its end. Threads:
   different handles may be used at once; runs of one program go on at once on the CPU without collectives, other calls
   on it queue up behind each other; a fusion is for one thread at a time while it is changed. No function changes the
   environment or installs a signal handler. */
#ifndef PLAIT_C_H
#define PLAIT_C_H

#include <stddef.h>
#include <stdint.h>

#include "plait_dlpack/dlpack.h" /* DLPack 1, as its project has it; one that was included before serves */
#if !defined(DLPACK_MAJOR_VERSION) || DLPACK_MAJOR_VERSION != 1
#error "plait_c.h needs DLPack 1: include a newer dlpack.h in front of it, or none"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PLAIT_API __attribute__((visibility("default")))

/* A library serves callers that were compiled with its own version or an earlier one of the same number. */
#define PLAIT_ABI_VERSION 1

typedef struct plait_error plait_error;
typedef struct plait_text plait_text;
typedef struct plait_fusion plait_fusion;
typedef struct plait_program plait_program;

PLAIT_API int32_t plait_abi_version(void); /* PLAIT_ABI_VERSION of the library */
PLAIT_API const char* plait_version(void); /* "0.1.0" */

/* ---- Errors: what is wrong, where in the caller's words, what to do. `where` and `remedy` may be empty. */
enum {
  PLAIT_ERROR_USER = 1,     /* the caller's mistake */
  PLAIT_ERROR_INTERNAL = 2, /* plait's mistake */
  PLAIT_ERROR_MISSING = 3,  /* the machine lacks a part */
  PLAIT_ERROR_COMM = 4,     /* a rank or a collective failed */
  PLAIT_ERROR_MEMORY = 5,   /* memory of the host or of a GPU does not suffice */
  PLAIT_ERROR_CANCELLED = 6 /* the caller ended the run (plait_run_options.stop) */
};
PLAIT_API int32_t plait_error_code(const plait_error* error);
PLAIT_API const char* plait_error_what(const plait_error* error);
PLAIT_API const char* plait_error_where(const plait_error* error);
PLAIT_API const char* plait_error_remedy(const plait_error* error);
PLAIT_API void plait_error_free(plait_error* error);

/* ---- The log of the process: what was compiled and why, what is dropped from caches, libraries, communicators, runs.
 */
enum { PLAIT_LOG_DEBUG = 0, PLAIT_LOG_INFO = 1, PLAIT_LOG_WARN = 2, PLAIT_LOG_ERROR = 3, PLAIT_LOG_OFF = 4 };
/* From which level on entries are made: "info", "compile=debug,cache=info"; components are compile, cache, run, comm
   and library, and what is not named stays at `warn`, which is how it begins where the environment variable PLAIT_LOG
   says nothing. User error: another word. */
PLAIT_API plait_error* plait_log_levels(const char* words);
/* Who gets them, from any thread, several at once; NULL: standard error. When it returns, no call of the callback
   before is going on. A callback may call plait, whose entries of that time are dropped, but neither this function nor
   a program that is running; a C++ exception of it is dropped. */
typedef void (*plait_log_callback)(void* user, int32_t level, const char* component, const char* text);
PLAIT_API plait_error* plait_log_to(plait_log_callback callback, void* user);

/* ---- Texts that are returned. */
PLAIT_API const char* plait_text_data(const plait_text* text); /* zero-terminated */
PLAIT_API size_t plait_text_size(const plait_text* text);      /* bytes, without the zero */
PLAIT_API void plait_text_free(plait_text* text);              /* NULL is taken */

/* ---- Fusions. What is written in text is that of docs/ir.md. */

/* Of the codes: kDLInt, kDLUInt, kDLFloat, kDLBfloat, kDLBool, kDLFloat8_e4m3fn, kDLFloat8_e5m2; one lane. */
typedef DLDataType plait_dtype;

enum { PLAIT_ROLE_INPUT = 0, PLAIT_ROLE_PARAMETER = 1, PLAIT_ROLE_OUTPUT = 2 };

/* Name and value of a size, a dtype or an option. */
typedef struct plait_setting {
  const char* name;
  const char* value;
} plait_setting;

/* A whole fusion. `file` is named in errors (NULL: "<text>"). `settings` override lets of sizes and dtypes, and are
   lets of sizes that the text has and does not let. User errors: one names neither, or what another names. */
PLAIT_API plait_error* plait_fusion_parse(const char* text, const char* file, const plait_setting* settings,
                                          size_t setting_count, plait_fusion** out);
/* An empty one. `name`: NULL is "fusion". `mesh`: "@m (dp = 2, tp = t)", or NULL. */
PLAIT_API plait_error* plait_fusion_new(const char* name, const char* mesh, plait_fusion** out);
PLAIT_API plait_error* plait_fusion_copy(const plait_fusion* fusion, plait_fusion** out);
PLAIT_API void plait_fusion_free(plait_fusion* fusion);

/* Default of a size symbol. */
PLAIT_API plait_error* plait_fusion_let(plait_fusion* fusion, const char* name, int64_t value);
/* "%x: f32[b, 768] {0: dp}", "param %w: bf16[768, 768] {0: tp} stored {0: tp, 1: dp}". */
PLAIT_API plait_error* plait_fusion_input(plait_fusion* fusion, const char* declaration);
/* An extent: a size or an expression over sizes, "b", "4 * h"; where `text` is NULL a number. */
typedef struct plait_extent {
  const char* text;
  int64_t number;
} plait_extent;
/* The same without text: PLAIT_ROLE_INPUT or PLAIT_ROLE_PARAMETER, a name, a dtype, extents. */
PLAIT_API plait_error* plait_fusion_typed_input(plait_fusion* fusion, int32_t role, const char* name, plait_dtype dtype,
                                                const plait_extent* extents, size_t extent_count);
/* "%y = softmax(%x, dim = -1)", or "softmax(%x, dim = -1)", whose result is named after the op, or
   "%mean, %var = var_mean(%x)". `result`, where not NULL, gets the names of the results without the %, ", " between. */
PLAIT_API plait_error* plait_fusion_statement(plait_fusion* fusion, const char* statement, plait_text** result);
/* Every op that a statement may call, as JSON: {"format": 1, "ops": [{"name", "kind", "property", "parameters":
   [{"name", "role", "type", "initial"}], "results", "with"}]}. Roles: operand, optional (operand), named (operand,
   `name = %x`), attribute, required (attribute); `initial` is what leaving one out means, where that does not depend on
   the operands. `results` are the names of results that nobody names; none where an attribute says how many there are.
   `with`: the flag that asks for all of them, the first alone without it. */
PLAIT_API plait_error* plait_op_schemas(plait_text** out);

/* The same as structs, which live as long as the library: ops by number, in the order of their names. */
enum {
  PLAIT_OPERAND = 0,          /* a tensor, by position */
  PLAIT_OPERAND_OPTIONAL = 1, /* the same, which a call may leave out */
  PLAIT_OPERAND_NAMED = 2,    /* a tensor by `name = %x`, which a call may leave out */
  PLAIT_ATTRIBUTE = 3,        /* which a call may leave out */
  PLAIT_ATTRIBUTE_REQUIRED = 4
};
typedef struct plait_parameter_info {
  const char* name;
  int32_t role;
  const char* type;    /* tensor, tensors (any number), bool, int, ints, extent, extents (sizes by name too), float,
                          constant (a number of the attribute dtype), dtype, string; reduce, reduction, bounds, update,
                          approx, team: words */
  const char* initial; /* what leaving it out means, as text; NULL: nothing, or found from the operands */
} plait_parameter_info;
typedef struct plait_op_info {
  size_t struct_size; /* set by the caller */
  const char* name;
  const char* property; /* pointwise, creation, contraction, reduction, movement, indexing, composite; of those that
                           the compiler makes: communication, local_move */
  const char* words;    /* what it computes, in a sentence of docs/ops.md; empty of those that the compiler makes */
  size_t parameter_count;
  const plait_parameter_info* parameters;
  size_t result_count; /* 0: as many as an attribute says */
  const char* const* results;
  const char* with; /* the flag that asks for all results, the first alone without it; NULL: none */
} plait_op_info;
PLAIT_API size_t plait_ops_count(void);
PLAIT_API plait_error* plait_ops_get(size_t index, plait_op_info* out);

/* An argument of a call of an op. */
enum {
  PLAIT_ARGUMENT_TENSOR = 0,   /* word: "x", "%x", or a number where the op takes one; NULL: an operand by position that
                                  may be left out is, as are all behind it */
  PLAIT_ARGUMENT_TENSORS = 1,  /* words */
  PLAIT_ARGUMENT_INTEGER = 2,  /* integer */
  PLAIT_ARGUMENT_INTEGERS = 3, /* integers */
  PLAIT_ARGUMENT_NUMBER = 4,   /* number */
  PLAIT_ARGUMENT_FLAG = 5,     /* integer, not 0: true */
  PLAIT_ARGUMENT_WORD = 6,     /* word: "f32", "b", "b * 2", "mean" */
  PLAIT_ARGUMENT_WORDS = 7,    /* words */
  PLAIT_ARGUMENT_STRING = 8    /* word, which is put in quotes */
};
typedef struct plait_argument {
  const char* name; /* of the parameter; NULL: an operand by position */
  int32_t kind;
  int64_t integer;
  double number;
  const char* word;
  const int64_t* integers;
  const char* const* words;
  size_t count; /* of integers or words */
} plait_argument;
/* Calls an op, as plait_fusion_statement() does with text. `names`: of its results, "y" or "mean, var"; NULL: they are
   named after the op. plait_ops.h has a function for each op over this one, with its parameters and their types. */
PLAIT_API plait_error* plait_fusion_op(plait_fusion* fusion, const char* op, const char* names,
                                       const plait_argument* arguments, size_t argument_count, plait_text** result);
/* Makes the tensor `tensor` an output called `name`. Outputs keep the order of these calls. The tensor has one name:
   from then on later statements find it as `name`, and no longer as `tensor`. */
PLAIT_API plait_error* plait_fusion_output(plait_fusion* fusion, const char* name, const char* tensor);

/* The output ends in the memory of the input (`-> (%y aliases %x)` of docs/ir.md), which each run then writes: of one
   dtype and extents, one output for an input. */
PLAIT_API plait_error* plait_fusion_alias(plait_fusion* fusion, const char* output, const char* input);

/* Its text, which plait_fusion_parse reads back as an equal fusion. */
PLAIT_API plait_error* plait_fusion_print(const plait_fusion* fusion, plait_text** out);

typedef struct plait_tensor_info {
  size_t struct_size; /* set by the caller */
  const char* name;
  const char* type; /* "f32[b, 768]" */
  int32_t role;
  int32_t rank;
  plait_dtype dtype;
} plait_tensor_info;

/* Inputs and parameters, in order; outputs, in order. */
PLAIT_API size_t plait_fusion_input_count(const plait_fusion* fusion);
PLAIT_API size_t plait_fusion_output_count(const plait_fusion* fusion);
PLAIT_API plait_error* plait_fusion_input_info(const plait_fusion* fusion, size_t index, plait_tensor_info* out);
PLAIT_API plait_error* plait_fusion_output_info(const plait_fusion* fusion, size_t index, plait_tensor_info* out);

/* ---- Devices that programs can be compiled for here, the default first. */
typedef struct plait_device_list plait_device_list;
/* One of them. */
typedef struct plait_device_info {
  size_t struct_size;       /* set by the caller */
  const char* name;         /* for plait_compile_options.device */
  const char* architecture; /* "sm_90a", "x86-64-v4"; may be empty */
  const char* description;  /* cores or multiprocessors, caches; may be empty */
  int64_t count;            /* of GPUs, each a rank; simulated ones are as many as "sim:ARCH:N" asks for */
  int64_t cores;            /* of a CPU; of a GPU its multiprocessors */
  int32_t host_memory;      /* 1: outputs lie in the host's memory */
  int32_t is_default;       /* 1: taken where none is named, of one rank */
} plait_device_info;
/* All of them; the list is freed by plait_device_list_free. */
PLAIT_API plait_error* plait_devices(plait_device_list** out);
PLAIT_API size_t plait_device_list_count(const plait_device_list* list); /* 0: list is NULL */
/* The one at `index`; its texts live as long as the list. User error: there is none. */
PLAIT_API plait_error* plait_device_list_get(const plait_device_list* list, size_t index, plait_device_info* out);
PLAIT_API void plait_device_list_free(plait_device_list* list); /* NULL is taken */

/* Threads of the caller's that kernels of the CPU run on, instead of threads of plait's own. Contractions of a library
   run on the library's. */
typedef struct plait_thread_pool {
  size_t struct_size;
  void* user;
  int64_t threads; /* how many may work at once, the caller's included; from 1 on */
  /* Calls task(context) up to `count` times, at once where there are threads, and returns when all calls that began
     have returned. plait hands the work to whichever calls come, and does the rest itself: fewer calls, also none, are
     right, and so are calls within calls. It may be called from several threads. */
  void (*run)(void* user, int64_t count, void (*task)(void* context), void* context);
} plait_thread_pool;

/* ---- Programs. */

/* Where and how a fusion is compiled and run. Zeros are what is meant where nothing is said. */
typedef struct plait_compile_options {
  size_t struct_size;
  /* cpu, reference, cuda, sim:ARCH[:N]; NULL or "": the first of cuda, cpu, reference that is here */
  const char* device;
  /* local, local:SEED, local:threads, mpi, nccl; given: every run lends plait_comms; NULL or "": local */
  const char* comm;
  int64_t ranks;              /* solves the free symbol of the mesh; 0: not given */
  const plait_setting* sizes; /* mesh symbols, and sizes that no input gives */
  size_t size_count;
  const plait_setting* settings; /* options, by the names of `plait doctor --options` */
  size_t setting_count;          /* a name twice is a user error, of sizes too */
  const plait_thread_pool*
      pool; /* of device cpu; must work as long as the program and its outputs. NULL: plait's own */
} plait_compile_options;

/* Checks mesh, ranks and device; the fusion is copied. `options` may be NULL. Classes of sizes compile when they are
   first run or prepared. */
PLAIT_API plait_error* plait_compile(const plait_fusion* fusion, const plait_compile_options* options,
                                     plait_program** out);
PLAIT_API void plait_program_free(plait_program* program);

/* Writes what was compiled so far to a file, and makes a program of such a file, on a machine that can run its code:
   its specializations need no compiler. A file is trusted like a program: it holds machine code. User errors: nothing
   is compiled, the file cannot be written; it cannot be read, is damaged, of another version, or for another machine.
 */
PLAIT_API plait_error* plait_program_save(plait_program* program, const char* path);
PLAIT_API plait_error* plait_program_load(const char* path, plait_program** out);
/* How a file is brought back; zeros: as it was saved. */
typedef struct plait_load_options {
  size_t struct_size;
  /* Options with other values than the file's, of those that make no other kernels: `plait doctor --options` says which
     do, and these are user errors. */
  const plait_setting* settings;
  size_t setting_count;
  const plait_thread_pool* pool; /* as plait_compile_options.pool: of a program of device cpu */
} plait_load_options;
/* The same, told how. `options` may be NULL. */
PLAIT_API plait_error* plait_program_load_with(const char* path, const plait_load_options* options,
                                               plait_program** out);
/* The program's fusion, for plait_fusion_input_count and its like; the program owns it. */
PLAIT_API plait_error* plait_program_fusion(plait_program* program, const plait_fusion** out);

/* Global shape of an input. */
typedef struct plait_metadata {
  const char* name;
  plait_dtype dtype;
  int32_t rank;
  const int64_t* shape;
} plait_metadata;

/* Compiles the class that these inputs belong to, dense and row-major, and binds its sizes. */
PLAIT_API plait_error* plait_program_prepare(plait_program* program, const plait_metadata* inputs, size_t input_count);

/* Where memory comes from: of outputs and of copies of inputs that are not dense, and with a stream all
   device memory of the run; on a GPU it needs the stream. */
typedef struct plait_allocator {
  size_t struct_size;
  void* user;
  /* At least 64-byte aligned; NULL where there is none. Device memory (`stream` not NULL) is valid, and given back, in
     the order of the stream's work. May be called from several threads. */
  void* (*allocate)(void* user, size_t bytes, void* stream);
  void (*release)(void* user, void* data, size_t bytes, void* stream);
} plait_allocator;

enum { PLAIT_REDUCE_SUM = 0, PLAIT_REDUCE_MAX = 1, PLAIT_REDUCE_MIN = 2, PLAIT_REDUCE_PROD = 3 };

/* The processes of a job and their collectives, one rank a process. Every process makes the same calls in the same
   order. Callbacks return 0, or another number, which ends the run with the text of `error`. Buffers are dense; counts
   are elements by position in `ranks`, and may be 0. `stream` is where the work is queued (a CUstream), or NULL: host
   memory, done on return. */
typedef struct plait_comms {
  size_t struct_size;
  void* user;
  int64_t rank, size;
  /* Every process's bytes: calls `take` once for each of the ranks, in their order. On the host. */
  int (*exchange)(void* user, const int64_t* ranks, size_t rank_count, const void* mine, size_t bytes,
                  void (*take)(void* sink, size_t position, const void* data, size_t bytes), void* sink);
  int (*all_reduce)(void* user, const int64_t* ranks, size_t rank_count, plait_dtype dtype, int32_t reduce,
                    const void* in, void* out, int64_t count, void* stream);
  /* out = the members' in, one after another. */
  int (*all_gather)(void* user, const int64_t* ranks, size_t rank_count, plait_dtype dtype, const void* in, void* out,
                    const int64_t* counts, void* stream);
  /* out = this member's part of the elementwise reduction of the members' in. */
  int (*reduce_scatter)(void* user, const int64_t* ranks, size_t rank_count, plait_dtype dtype, int32_t reduce,
                        const void* in, void* out, const int64_t* counts, void* stream);
  const char* (*error)(void* user); /* may be NULL */
  /* This rank's run failed: calls of the other ranks that wait for it should end, with a status that is not 0. It may
     be called several times for one failure. It is not called for a call that is refused (a missing input, a wrong
     shape): nothing has begun then, and the call can be made again. May be NULL: then the others wait as long as the
     caller's collectives do. */
  void (*abort)(void* user, const char* why);
  /* in is what goes to each of the ranks, one after another, `sends` elements each; out what comes from them, `takes`
     elements each. May be NULL: then all_gather does it, at the cost of moving everything to everybody. */
  int (*all_to_all)(void* user, const int64_t* ranks, size_t rank_count, plait_dtype dtype, const void* in,
                    const int64_t* sends, void* out, const int64_t* takes, void* stream);
} plait_comms;

/* An output that the run writes into the caller's memory. */
typedef struct plait_output {
  const char* name;
  const DLTensor* tensor; /* borrowed as an input's is; the output's shape and dtype, any strides that give every
                                    element a place of its own */
} plait_output;

/* An input whose memory the caller gives up. */
typedef struct plait_donation {
  const char* name;
  /* Called once the run and the outputs that lie in the memory need it no more, from any thread, if the run succeeded;
     after an error the memory is the caller's as before. With a stream the work that is queued there may still read it:
     free it in the stream's order. NULL: the caller keeps the memory until all outputs of the run are gone. */
  void (*release)(void* user);
  void* user;
} plait_donation;

/* What the caller lends to one run; zeros: nothing. */
typedef struct plait_run_options {
  size_t struct_size;
  /* CUstream: work is queued there and the call does not wait; one rank on a GPU. CU_STREAM_LEGACY and
     CU_STREAM_PER_THREAD name the default streams. NULL: the call waits for the run, which waits for no stream: what
     lies in a GPU's memory is there before. */
  void* stream;
  const plait_allocator* allocator; /* must stay until the outputs are gone */
  const plait_comms* comms;         /* instead of the program's own; must stay as long as the program */
  int64_t threads;                  /* of a kernel on the CPU; 0: all of the device */
  /* Outputs that are written into tensors of the caller's; the others are made. One that is refused (name, shape,
     dtype, place, memory of another output) stays as it was; after an error of the run itself they are undefined. On
     the host they may lie in any way: what is strided, or lies in memory of an input, is written elsewhere and copied
     at the end (bytes_copied); on a GPU they are dense, aligned to 64 bytes and apart from the inputs. */
  const plait_output* given;
  size_t given_count;
  /* Inputs, apart from all other tensors of the call, whose memory outputs may take where they fit (bytes_donated):
     written by kernels in place, or where the input is read no more. Their contents are undefined afterwards. */
  const plait_donation* donated;
  size_t donated_count;
  /* Whether the run shall end: asked by the thread that called, before each step that it drives, and every few
     milliseconds while other threads drive the ranks. Not 0: an error of PLAIT_ERROR_CANCELLED before a next step; the
     outputs are undefined, the program goes on working. Of one process of several it ends the job's communication. */
  int (*stop)(void* user);
  void* stop_user;
} plait_run_options;

/* An input by name, in the host's memory or a GPU's. */
typedef struct plait_input {
  const char* name;
  const DLTensor* tensor; /* borrowed until the call returns; with a stream, until its work is done */
} plait_input;

/* Global tensors in, global tensors out: `outputs` gets output_count tensors in the order of the fusion's outputs, each
   to be given back by its deleter, and NULL where the caller gave one (plait_run_options.given). `options` may be
   NULL. */
PLAIT_API plait_error* plait_program_run(plait_program* program, const plait_input* inputs, size_t input_count,
                                         const plait_run_options* options, DLManagedTensorVersioned** outputs,
                                         size_t output_count);
/* Compiles what a run of the same arguments takes, for how its inputs lie, what is given for outputs and what is
   donated, and binds its sizes. No element is read or written, and nothing is released: the memory may have any
   contents. */
PLAIT_API plait_error* plait_program_prepare_run(plait_program* program, const plait_input* inputs, size_t input_count,
                                                 const plait_run_options* options);
/* As plait_program_run with the pieces of this process's rank, after prepare() with the global shapes. */
PLAIT_API plait_error* plait_program_run_local(plait_program* program, int64_t rank, const plait_input* inputs,
                                               size_t input_count, const plait_run_options* options,
                                               DLManagedTensorVersioned** outputs, size_t output_count);

/* ---- What was compiled, of the class that ran or was prepared last. */

/* One of the program's generated kernels. */
typedef struct plait_kernel_info {
  size_t struct_size;
  const char* name;
  const char* schedule;
  const char* arch;   /* "sm_90a", "cpu" */
  const char* source; /* CUDA C++ or LLVM IR */
  int32_t registers;  /* -1 where it does not apply, as the next two */
  int32_t spill_bytes;
  int32_t shared_bytes;
  double compile_ms;
  int64_t instructions; /* of LLVM's, optimized; -1 on GPUs */
} plait_kernel_info;

/* Counts and times of the class that ran or was prepared last. */
typedef struct plait_program_info {
  size_t struct_size;
  int64_t ranks;
  int64_t kernels;                    /* distinct generated ones */
  int64_t library_calls, collectives; /* steps of one rank */
  int64_t wire_bytes, wire_bytes_min; /* of the last run */
  double compile_ms, run_ms;
  int64_t launches;                 /* of kernels, steps of one rank */
  int64_t bytes_moved, bytes_least; /* rank 0: operands of its steps, each once; its inputs and outputs once */
  int64_t bytes_copied;  /* in the last run: strided or unaligned inputs, outputs of another order or given strided */
  const char* device;    /* its name: "cpu" */
  int64_t bytes_donated; /* in the last run: of outputs in the memory of donated inputs */
} plait_program_info;

/* Fills `out` up to its struct_size. */
PLAIT_API plait_error* plait_program_info_get(plait_program* program, plait_program_info* out);
/* Memory of the program's device, which all programs on it share: freed blocks are kept for later runs, up to the
   setting kept_memory. Zeros where the device keeps none. */
typedef struct plait_memory_info {
  size_t struct_size;
  int64_t held_bytes, in_use_bytes; /* from the system; of these in outputs and running programs */
  int64_t hits, misses;             /* allocations from memory that came back, and from the system */
} plait_memory_info;
PLAIT_API plait_error* plait_program_memory_get(plait_program* program, plait_memory_info* out);
PLAIT_API plait_error* plait_program_kernel(plait_program* program, size_t index, plait_kernel_info* out);
/* "{0: tp}" of a tensor by name, after propagation; "{}" where it is not sharded. */
PLAIT_API plait_error* plait_program_layout(plait_program* program, const char* tensor, plait_text** out);
/* Shape of a rank's piece of an output: `*dims` numbers into `shape`, which has room for `capacity`. */
PLAIT_API plait_error* plait_program_local_shape(plait_program* program, const char* output, int64_t rank,
                                                 int64_t* shape, size_t capacity, size_t* dims);
/* The text of a stage, as `plait opt --until` prints it; `timings` without what passes changed. `memory` is of sizes
   that a run, or prepare with the program's own communicators, has bound. */
PLAIT_API plait_error* plait_program_dump(plait_program* program, const char* stage, plait_text** out);

#ifdef __cplusplus
}
#endif
#endif
