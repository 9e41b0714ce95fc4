#include "backend/cpu/object_code.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "backend/cpu/code_pool.h"

namespace plait {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of one object's code: distances within it fit 32 bits
constexpr uint64_t kMostAlign = 4096;               // pages begin at such addresses
constexpr size_t kStubBytes = 16;

struct Refused {
  std::string reason;
};

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  throw Refused{fmt::format(text, std::forward<Args>(args)...)};
}

uint64_t aligned(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) refuse("the object is cut");
  return bytes.substr(offset, size);
}

template <class Record>
std::vector<Record> records(std::string_view bytes) {
  if (bytes.size() % sizeof(Record) != 0) refuse("the object has a table of {} bytes", bytes.size());
  std::vector<Record> out(bytes.size() / sizeof(Record));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

// A name in a table of names, each of which ends with a zero.
std::string_view name_at(std::string_view names, uint64_t offset) {
  if (offset >= names.size()) refuse("the object has a name at {} of {}", offset, names.size());
  const size_t end = names.find('\0', offset);
  if (end == names.npos) refuse("the object has a name without an end");
  return names.substr(offset, end - offset);
}

struct Section {
  Elf64_Shdr header;
  std::string_view name, bytes;    // of the file
  std::optional<uint64_t> offset;  // in the pages, of what is loaded
};

// Tables of frames and notes, which nobody reads: kernels throw nothing and are never unwound.
bool is_loaded(const Section& section) {
  if ((section.header.sh_flags & SHF_ALLOC) == 0 || section.header.sh_size == 0) return false;
  return section.header.sh_type != SHT_NOTE && section.header.sh_type != SHT_X86_64_UNWIND &&
         section.name != ".eh_frame";
}

void check_loaded(const Section& section) {
  const Elf64_Shdr& header = section.header;
  const bool constant = (header.sh_flags & SHF_WRITE) == 0 || section.name.starts_with(".data.rel.ro");
  if (header.sh_type != SHT_PROGBITS || !constant || (header.sh_flags & (SHF_TLS | SHF_COMPRESSED)) != 0)
    refuse("section {} is neither code nor constants", section.name);
  if (header.sh_addralign > kMostAlign || (header.sh_addralign & (header.sh_addralign - 1)) != 0)
    refuse("section {} is aligned to {} bytes", section.name, header.sh_addralign);
}

class File {
 public:
  explicit File(std::string_view bytes) : bytes_(bytes) {
    const Elf64_Ehdr header = records<Elf64_Ehdr>(part(bytes, 0, sizeof(Elf64_Ehdr)))[0];
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL || header.e_machine != EM_X86_64 ||
        header.e_shentsize != sizeof(Elf64_Shdr))
      refuse("the object is not one of this host");
    const auto headers =
        records<Elf64_Shdr>(part(bytes, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)));
    for (const Elf64_Shdr& each : headers) {
      const bool empty = each.sh_type == SHT_NOBITS || each.sh_type == SHT_NULL;
      sections_.push_back({each, {}, empty ? std::string_view() : part(bytes, each.sh_offset, each.sh_size), {}});
    }
    const std::string_view names = section(header.e_shstrndx).bytes;
    for (Section& each : sections_) each.name = name_at(names, each.header.sh_name);
    read_symbols();
  }

  std::vector<Section>& sections() { return sections_; }
  Section& section(uint64_t index) {
    if (index >= sections_.size()) refuse("the object has no section {}", index);
    return sections_[index];
  }
  const std::vector<Elf64_Sym>& symbols() const { return symbols_; }
  std::string_view name(const Elf64_Sym& symbol) const { return name_at(symbol_names_, symbol.st_name); }
  bool is_symbol_table(uint64_t index) const { return index == symbol_table_; }

 private:
  void read_symbols() {
    for (size_t i = 0; i < sections_.size(); ++i) {
      if (sections_[i].header.sh_type != SHT_SYMTAB) continue;
      if (!symbols_.empty()) refuse("the object has two tables of symbols");
      symbol_table_ = i;
      symbols_ = records<Elf64_Sym>(sections_[i].bytes);
      symbol_names_ = section(sections_[i].header.sh_link).bytes;
    }
  }

  std::string_view bytes_;
  std::vector<Section> sections_;
  size_t symbol_table_ = 0;
  std::vector<Elf64_Sym> symbols_;
  std::string_view symbol_names_;
};

class Linker {
 public:
  Linker(std::string_view object, std::span<const CFunction> library) : file_(object), library_(library) {}

  // Gives sections and stubs their places. How many bytes they take.
  uint64_t lay_out() {
    uint64_t end = 0;
    for (Section& section : file_.sections()) {
      if (!is_loaded(section)) continue;
      check_loaded(section);
      section.offset = aligned(end, std::max<uint64_t>(section.header.sh_addralign, 1));
      end = *section.offset + section.bytes.size();
      if (end > kMostBytes) refuse("the object has over {} bytes of code", kMostBytes);
    }
    end = aligned(end, kStubBytes);
    for (size_t i = 1; i < file_.symbols().size(); ++i)
      if (file_.symbols()[i].st_shndx == SHN_UNDEF) {
        stub_of_[i] = end;
        end += kStubBytes;
      }
    if (end > kMostBytes) refuse("the object has over {} bytes of code", kMostBytes);
    return end;
  }

  void write(std::span<std::byte> pages) {
    pages_ = pages;
    for (const Section& section : file_.sections())
      if (section.offset) std::memcpy(pages.data() + *section.offset, section.bytes.data(), section.bytes.size());
    for (const auto& [symbol, offset] : stub_of_) write_stub(offset, external(symbol));
    for (const Section& section : file_.sections()) {
      if (section.header.sh_type != SHT_RELA && section.header.sh_type != SHT_REL) continue;
      const Section& changed = file_.section(section.header.sh_info);
      if (!changed.offset) continue;
      if (section.header.sh_type == SHT_REL || !file_.is_symbol_table(section.header.sh_link))
        refuse("section {} has relocations of another kind", changed.name);
      for (const Elf64_Rela& each : records<Elf64_Rela>(section.bytes)) relocate(changed, each);
    }
  }

  std::map<std::string, void*> functions() {
    std::map<std::string, void*> out;
    for (size_t i = 1; i < file_.symbols().size(); ++i) {
      const Elf64_Sym& symbol = file_.symbols()[i];
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
      out[std::string(file_.name(symbol))] = reinterpret_cast<void*>(address(i));
    }
    return out;
  }

 private:
  uint64_t base() const { return reinterpret_cast<uint64_t>(pages_.data()); }

  // A function of the library, wherever it is.
  uint64_t external(size_t symbol) const {
    const std::string_view name = file_.name(file_.symbols()[symbol]);
    for (const CFunction& function : library_)
      if (name == function.name) return reinterpret_cast<uint64_t>(function.address);
    refuse("it calls {}, which is not there", name);
  }

  // Jumps to an address, however far away.
  void write_stub(uint64_t offset, uint64_t target) {
    constexpr unsigned char kJump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *0(%rip)
    std::memcpy(pages_.data() + offset, kJump, sizeof kJump);
    std::memcpy(pages_.data() + offset + sizeof kJump, &target, sizeof target);
  }

  // Of what the object defines.
  uint64_t address(size_t index) {
    const Elf64_Sym& symbol = file_.symbols()[index];
    if (symbol.st_shndx >= SHN_LORESERVE) refuse("symbol {} is in no section", index);
    const Section& section = file_.section(symbol.st_shndx);
    if (!section.offset) refuse("symbol {} is in section {}, which is not loaded", index, section.name);
    if (symbol.st_value > section.bytes.size()) refuse("symbol {} is behind the end of {}", index, section.name);
    return base() + *section.offset + symbol.st_value;
  }

  void relocate(const Section& section, const Elf64_Rela& entry) {
    const uint64_t index = ELF64_R_SYM(entry.r_info), kind = ELF64_R_TYPE(entry.r_info);
    const bool wide = kind == R_X86_64_64 || kind == R_X86_64_PC64;
    const bool near = kind == R_X86_64_PC32 || kind == R_X86_64_PLT32;
    if (kind == R_X86_64_NONE) return;
    if (!wide && !near) refuse("section {} has a relocation of kind {}", section.name, kind);
    if (index == 0 || index >= file_.symbols().size()) refuse("the object has no symbol {}", index);
    const uint64_t bytes = wide ? 8 : 4;
    (void)part(section.bytes, entry.r_offset, bytes);
    const auto stub = stub_of_.find(index);
    uint64_t target = stub == stub_of_.end() ? address(index) : wide ? external(index) : base() + stub->second;
    target += static_cast<uint64_t>(entry.r_addend);
    std::byte* const place = pages_.data() + *section.offset + entry.r_offset;
    if (kind != R_X86_64_64) target -= reinterpret_cast<uint64_t>(place);
    const auto distance = static_cast<int64_t>(target);
    if (near && (distance < std::numeric_limits<int32_t>::min() || distance > std::numeric_limits<int32_t>::max()))
      refuse("section {} has a relocation that does not reach", section.name);
    std::memcpy(place, &target, bytes);
  }

  File file_;
  std::span<const CFunction> library_;
  std::span<std::byte> pages_;
  std::map<uint64_t, uint64_t> stub_of_;  // offset by symbol, of those that the object does not define
};

}  // namespace

std::unique_ptr<ObjectCode> ObjectCode::link(std::string_view object, std::span<const CFunction> library,
                                             std::shared_ptr<CodePool> pool, std::string& error) try {
  std::unique_ptr<ObjectCode> out(new ObjectCode(std::move(pool)));
  Linker linker(object, library);
  out->pages_ = out->pool_->allocate(linker.lay_out());
  if (out->pages_.empty()) refuse("there is no memory for its code");
  linker.write(out->pages_);
  out->functions_ = linker.functions();
  if (!CodePool::seal(out->pages_)) refuse("the system does not make the pages of a kernel executable");
  return out;
} catch (const Refused& refused) {
  error = refused.reason;
  return nullptr;
}

ObjectCode::~ObjectCode() {
  if (!pages_.empty()) pool_->release(pages_);
}

void* ObjectCode::function(const std::string& name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

}  // namespace plait
