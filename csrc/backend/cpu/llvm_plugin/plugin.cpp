#include "backend/cpu/llvm_plugin/plugin.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/cpu/llvm_plugin/code_pool.h"
#include "backend/cpu/llvm_plugin/optimize.h"

using namespace llvm;

struct PlaitLlvmCompiler {
  std::shared_ptr<plait::CodePool> pool = std::make_shared<plait::CodePool>();
  std::unique_ptr<orc::LLJIT> jit;
  orc::JITTargetMachineBuilder builder;
  std::string cpu, features;
  bool wide_vectors = false;
  std::atomic<uint64_t> count = 0;  // makes names of entries unique
  std::mutex mutex;                 // guards idle
  std::vector<std::unique_ptr<TargetMachine>> idle;

  explicit PlaitLlvmCompiler(orc::JITTargetMachineBuilder b) : builder(std::move(b)) {}
};

struct PlaitLlvmCode {
  orc::ResourceTrackerSP tracker;
};

namespace {

// What the session reported on this thread, beside the error that a lookup returns.
thread_local std::string session_errors;

void write_error(const std::string& text, char* error, size_t size) {
  if (size == 0) return;
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(error, text.data(), length);
  error[length] = 0;
}

Error add_symbols(orc::LLJIT& jit, ArrayRef<PlaitLlvmSymbol> given) {
  orc::SymbolMap symbols;
  for (const PlaitLlvmSymbol& symbol : given) {
    symbols[jit.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address), JITSymbolFlags::Exported};
  }
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

Expected<std::unique_ptr<PlaitLlvmCompiler>> make_compiler(ArrayRef<PlaitLlvmSymbol> symbols) {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder) return builder.takeError();
  auto compiler = std::make_unique<PlaitLlvmCompiler>(*builder);
  compiler->cpu = builder->getCPU();
  compiler->features = builder->getFeatures().getString();
  compiler->wide_vectors = compiler->features.find("+avx512f") != std::string::npos;
  auto link = [pool = compiler->pool](orc::ExecutionSession& session,
                                      const Triple&) -> Expected<std::unique_ptr<orc::ObjectLayer>> {
    return std::make_unique<orc::RTDyldObjectLinkingLayer>(
        session, [pool] { return std::make_unique<plait::PooledMemory>(pool); });
  };
  auto jit = orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).setObjectLinkingLayerCreator(link).create();
  if (!jit) return jit.takeError();
  compiler->jit = std::move(*jit);
  compiler->jit->getExecutionSession().setErrorReporter(
      [](Error error) { session_errors += toString(std::move(error)); });
  if (Error error = add_symbols(*compiler->jit, symbols)) {
    return Expected<std::unique_ptr<PlaitLlvmCompiler>>(std::move(error));
  }
  return compiler;
}

// A target machine serves one thread at a time; they are kept for the next compile.
class MachineLease {
 public:
  static Expected<MachineLease> take(PlaitLlvmCompiler& compiler) {
    {
      const std::lock_guard lock(compiler.mutex);
      if (!compiler.idle.empty()) {
        MachineLease lease(compiler, std::move(compiler.idle.back()));
        compiler.idle.pop_back();
        return lease;
      }
    }
    auto machine = compiler.builder.createTargetMachine();
    if (!machine) return machine.takeError();
    return MachineLease(compiler, std::move(*machine));
  }
  MachineLease(MachineLease&&) = default;
  ~MachineLease() {
    if (machine_ == nullptr) return;
    const std::lock_guard lock(compiler_->mutex);
    compiler_->idle.push_back(std::move(machine_));
  }
  TargetMachine& operator*() const { return *machine_; }

 private:
  MachineLease(PlaitLlvmCompiler& compiler, std::unique_ptr<TargetMachine> machine)
      : compiler_(&compiler), machine_(std::move(machine)) {}
  PlaitLlvmCompiler* compiler_;
  std::unique_ptr<TargetMachine> machine_;
};

Error failure(const std::string& text) { return createStringError(inconvertibleErrorCode(), text); }

// The module of the text, for this host, its entries renamed to end with `suffix`.
Expected<std::unique_ptr<Module>> parse(PlaitLlvmCompiler& compiler, LLVMContext& context, StringRef text,
                                        ArrayRef<const char*> names, const std::string& suffix) {
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseAssembly(MemoryBufferRef(text, "kernel"), diagnostic, context);
  std::string message;
  raw_string_ostream stream(message);
  if (module == nullptr) {
    diagnostic.print(names[0], stream, false);
    return failure(stream.str());
  }
  if (verifyModule(*module, &stream)) return failure(stream.str());
  for (const char* name : names) {
    llvm::Function* entry = module->getFunction(name);
    if (entry == nullptr) return failure(std::string("the text defines no function ") + name);
    entry->setName(name + suffix);
  }
  module->setDataLayout(compiler.jit->getDataLayout());
  module->setTargetTriple(compiler.jit->getTargetTriple().str());
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", compiler.cpu);
    function.addFnAttr("target-features", compiler.features);
    if (compiler.wide_vectors) function.addFnAttr("prefer-vector-width", "512");
  }
  return module;
}

Expected<std::unique_ptr<PlaitLlvmCode>> compile_text(PlaitLlvmCompiler& compiler, StringRef text,
                                                      ArrayRef<const char*> names, PlaitLlvmEntry* entries,
                                                      int64_t& instructions) {
  const std::string suffix = "." + std::to_string(compiler.count++);
  LLVMContext context;
  auto module = parse(compiler, context, text, names, suffix);
  if (!module) return module.takeError();
  std::unique_ptr<MemoryBuffer> object;
  {
    auto machine = MachineLease::take(compiler);
    if (!machine) return machine.takeError();
    plait::optimize(**module, **machine);
    instructions = (*module)->getInstructionCount();
    auto compiled = orc::SimpleCompiler(**machine)(**module);
    if (!compiled) return compiled.takeError();
    object = std::move(*compiled);
  }
  auto tracker = compiler.jit->getMainJITDylib().createResourceTracker();
  if (Error error = compiler.jit->addObjectFile(tracker, std::move(object))) {
    return Expected<std::unique_ptr<PlaitLlvmCode>>(std::move(error));
  }
  auto code = std::make_unique<PlaitLlvmCode>(PlaitLlvmCode{tracker});
  session_errors.clear();
  for (size_t i = 0; i < names.size(); ++i) {
    auto address = compiler.jit->lookup(names[i] + suffix);
    if (!address) {
      consumeError(tracker->remove());
      return failure(toString(address.takeError()) + "; " + session_errors);
    }
    entries[i] = address->toPtr<PlaitLlvmEntry>();
  }
  return code;
}

PlaitLlvmCompiler* create(const PlaitLlvmSymbol* symbols, size_t count, char* error, size_t error_size) {
  auto compiler = make_compiler({symbols, count});
  if (compiler) return compiler->release();
  write_error(toString(compiler.takeError()), error, error_size);
  return nullptr;
}

PlaitLlvmCode* compile(PlaitLlvmCompiler* compiler, const char* text, size_t size, const char* const* names,
                       size_t count, PlaitLlvmEntry* entries, int64_t* instructions, char* error, size_t error_size) {
  auto code =
      compile_text(*compiler, StringRef(text, size), ArrayRef<const char*>(names, count), entries, *instructions);
  if (code) return code->release();
  write_error(toString(code.takeError()), error, error_size);
  return nullptr;
}

void release(PlaitLlvmCode* code) {
  consumeError(code->tracker->remove());
  delete code;
}

constexpr PlaitLlvmInterface kInterface{
    kPlaitLlvmVersion,
    create,
    [](PlaitLlvmCompiler* compiler) { delete compiler; },
    compile,
    release,
    [](PlaitLlvmCompiler* compiler) { return compiler->cpu.c_str(); },
    [](PlaitLlvmCompiler* compiler) { return compiler->features.c_str(); },
    [](PlaitLlvmCompiler* compiler) {
      return compiler->wide_vectors ? 64 : compiler->features.find("+avx2") != std::string::npos ? 32 : 16;
    },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PlaitLlvmInterface* plait_llvm_interface(void) {
  return &kInterface;
}
