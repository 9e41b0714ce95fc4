#include "backend/cpu/llvm_plugin/plugin.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/cpu/llvm_plugin/host_functions.h"
#include "backend/cpu/llvm_plugin/optimize.h"

using namespace llvm;

struct PlaitLlvmCompiler {
  orc::JITTargetMachineBuilder builder;
  std::string cpu, features, identity;
  bool wide_vectors = false;
  std::mutex mutex;  // guards idle
  std::vector<std::unique_ptr<TargetMachine>> idle;

  explicit PlaitLlvmCompiler(orc::JITTargetMachineBuilder b) : builder(std::move(b)) {}
};

namespace {

void write_error(const std::string& text, char* error, size_t size) {
  if (size == 0) return;
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(error, text.data(), length);
  error[length] = 0;
}

Expected<orc::JITTargetMachineBuilder> target_of(const char* processor, const char* features) {
  if (processor != nullptr) {
    orc::JITTargetMachineBuilder named{Triple(sys::getProcessTriple())};
    named.setCPU(processor);
    SmallVector<StringRef> words;
    StringRef(features).split(words, ' ', -1, false);
    for (const StringRef word : words) named.getFeatures().AddFeature(word, true);
    return named;
  }
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (!host) return host.takeError();
  // Only what is known by name (backend/cpu/processor.cpp): a saved program says what it needs.
  for (const char* later : {"egpr", "push2pop2", "ppx", "ndd", "ccmp", "nf", "cf", "zu", "avx10.1-256", "avx10.1-512",
                            "avxneconvert", "avxvnniint8", "avxvnniint16", "avxifma"})
    host->getFeatures().AddFeature(later, false);
  return host;
}

Expected<std::unique_ptr<PlaitLlvmCompiler>> make_compiler(const char* processor, const char* features) {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  auto builder = target_of(processor, features);
  if (!builder) return builder.takeError();
  // Distances within an object fit 32 bits; what it calls may lie anywhere, behind a jump (object_code.h).
  builder->setCodeModel(CodeModel::Small).setRelocationModel(Reloc::PIC_);
  auto compiler = std::make_unique<PlaitLlvmCompiler>(*builder);
  compiler->cpu = builder->getCPU();
  compiler->features = builder->getFeatures().getString();
  compiler->wide_vectors = compiler->features.find("+avx512f") != std::string::npos;
  compiler->identity = "LLVM " LLVM_VERSION_STRING ", plug-in " PLAIT_LLVM_PLUGIN_SOURCES ", " +
                       builder->getTargetTriple().str() + ", " + compiler->cpu + ", " + compiler->features;
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

// The module of the text, for the processor.
Expected<std::unique_ptr<Module>> parse(PlaitLlvmCompiler& compiler, LLVMContext& context, StringRef text,
                                        ArrayRef<const char*> names) {
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseAssembly(MemoryBufferRef(text, "kernel"), diagnostic, context);
  std::string message;
  raw_string_ostream stream(message);
  if (module == nullptr) {
    diagnostic.print(names[0], stream, false);
    return failure(stream.str());
  }
  if (verifyModule(*module, &stream)) return failure(stream.str());
  for (const char* name : names)
    if (module->getFunction(name) == nullptr) return failure(std::string("the text defines no function ") + name);
  plait::use_host_instructions(*module, compiler.features);
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", compiler.cpu);
    function.addFnAttr("target-features", compiler.features);
    if (compiler.wide_vectors) function.addFnAttr("prefer-vector-width", "512");
  }
  return module;
}

using Object = SmallVector<char, 0>;

Expected<Object> compile_text(PlaitLlvmCompiler& compiler, StringRef text, ArrayRef<const char*> names,
                              int64_t& instructions) {
  LLVMContext context;
  auto module = parse(compiler, context, text, names);
  if (!module) return module.takeError();
  auto lease = MachineLease::take(compiler);
  if (!lease) return lease.takeError();
  TargetMachine& machine = **lease;
  (*module)->setDataLayout(machine.createDataLayout());
  (*module)->setTargetTriple(machine.getTargetTriple().str());
  plait::optimize(**module, machine);
  instructions = (*module)->getInstructionCount();
  Object object;
  raw_svector_ostream stream(object);
  legacy::PassManager passes;
  MCContext* machine_code = nullptr;
  if (machine.addPassesToEmitMC(passes, machine_code, stream)) return failure("this host has no object files");
  passes.run(**module);
  return object;
}

PlaitLlvmCompiler* create(const char* processor, const char* features, char* error, size_t error_size) {
  auto compiler = make_compiler(processor, features);
  if (compiler) return compiler->release();
  write_error(toString(compiler.takeError()), error, error_size);
  return nullptr;
}

int compile(PlaitLlvmCompiler* compiler, const char* text, size_t size, const char* const* names, size_t count,
            PlaitLlvmTake take, void* context, int64_t* instructions, char* error, size_t error_size) {
  auto object = compile_text(*compiler, StringRef(text, size), ArrayRef<const char*>(names, count), *instructions);
  if (object) take(context, object->data(), object->size());
  if (object) return 1;
  write_error(toString(object.takeError()), error, error_size);
  return 0;
}

constexpr PlaitLlvmInterface kInterface{
    kPlaitLlvmVersion,
    create,
    [](PlaitLlvmCompiler* compiler) { delete compiler; },
    compile,
    [](PlaitLlvmCompiler* compiler) { return compiler->identity.c_str(); },
    []() -> const void* { return reinterpret_cast<const void*>(&LLVM_NATIVE_TARGET); },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PlaitLlvmInterface* plait_llvm_interface(void) {
  return &kInterface;
}
