#include "base/library_search.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <span>

#include "base/environment.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnPrefix = "plait's own folder";

// Entries of a folder in order of name; none where it cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    out.push_back(at->path());
  std::sort(out.begin(), out.end());
  return out;
}

// The file that the kernel has mapped there. The loader would say argv[0] of an executable, which is the caller's word.
fs::path mapped_file(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t first = 0, last = 0;
    const char* const end = line.data() + line.size();
    const auto dash = std::from_chars(line.data(), end, first, 16).ptr;
    if (dash != end) std::from_chars(dash + 1, end, last, 16);
    if (at < first || at >= last) continue;
    const size_t slash = line.find('/');
    return slash == line.npos ? fs::path() : fs::path(line.substr(slash));
  }
  return {};
}

// Folder of the file that holds plait: a library, or the executable where plait is linked into it. Others' programs
// that load the library may lie where anybody writes.
std::optional<fs::path> own_folder() {
  const fs::path file = mapped_file(reinterpret_cast<void*>(&own_folder));
  return file.is_absolute() ? std::optional(file.parent_path()) : std::nullopt;
}

// PREFIX of PREFIX/bin and PREFIX/lib*.
std::optional<fs::path> prefix_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (name != "bin" && name.rfind("lib", 0) != 0) return std::nullopt;
  return folder.parent_path();
}

struct PackageFolders {
  std::mutex mutex;
  std::vector<std::string> folders;
};

PackageFolders& package_folders() {
  static PackageFolders all;
  return all;
}

// Collects folders and files, each once, with the first rule that names it.
class Search {
 public:
  explicit Search(std::string stem) : stem_(std::move(stem)) {}

  void add_kit(const fs::path& home, const std::string& rule) {
    add_folder(home / "lib64", rule);
    add_folder(home / "lib", rule);
    for (const fs::path& target : entries(home / "targets")) add_folder(target / "lib", rule);
  }

  // site-packages/nvidia/*/lib
  void add_packages(const fs::path& packages, const std::string& rule) {
    for (const fs::path& wheel : entries(packages / "nvidia")) add_folder(wheel / "lib", rule);
  }

  // lib/python3*/site-packages
  void add_environment(const fs::path& environment, const std::string& rule) {
    for (const fs::path& python : entries(environment / "lib"))
      if (python.filename().string().rfind("python3", 0) == 0)
        for (const char* packages : {"site-packages", "dist-packages"}) add_packages(python / packages, rule);
  }

  // Of a wheel, an installation or a build, which names its environment by a link beside its programs.
  void add_own() {
    const auto own = own_folder();
    if (!own) return;
    for (fs::path folder = *own; folder != folder.parent_path(); folder = folder.parent_path())
      if (folder.filename() == "site-packages" || folder.filename() == "dist-packages")
        add_packages(folder, kOwnPrefix);
    if (const auto prefix = prefix_of(*own)) add_environment(*prefix, kOwnPrefix);
    add_environment(*own / "environment", kOwnPrefix);
  }

  void add_file(const std::string& file, const std::string& rule) {
    const auto same = [&](const LibraryFile& known) { return known.file == file; };
    if (std::none_of(found_.begin(), found_.end(), same)) found_.push_back({file, rule});
  }

  std::vector<LibraryFile> take() { return std::move(found_); }

 private:
  void add_folder(const fs::path& folder, const std::string& rule) {
    for (const std::string& file : libraries_in(folder, stem_)) add_file(file, rule);
  }

  std::string stem_;
  std::vector<LibraryFile> found_;
};

// Absolute folders of a list with colons between. An empty one would be the working directory.
void add_list(std::vector<LibraryFile>& out, const std::string& list, const std::string& rule) {
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(':', at), list.size());
    const fs::path folder = list.substr(at, end - at);
    if (folder.is_absolute()) out.push_back({folder.string(), rule});
    at = end + 1;
  }
}

// What the loader would search for this file: RUNPATH and the like, and the usual folders.
void add_search_path(std::vector<LibraryFile>& out) {
  Dl_info info;
  link_map* self = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&add_search_path), &info, reinterpret_cast<void**>(&self), RTLD_DL_LINKMAP) == 0)
    return;
  Dl_serinfo size;
  if (self == nullptr || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return;
  std::vector<std::byte> memory(size.dls_size);
  auto* found = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (dlinfo(self, RTLD_DI_SERINFOSIZE, found) != 0 || dlinfo(self, RTLD_DI_SERINFO, found) != 0) return;
  for (unsigned i = 0; i < found->dls_cnt; ++i) {
    const fs::path folder = found->dls_serpath[i].dls_name;
    if (folder.is_absolute()) out.push_back({folder.string(), "the loader's search path"});
  }
}

// The folders that the system's cache is made of.
void add_system_folders(std::vector<LibraryFile>& out) {
  std::vector<fs::path> lists = entries("/etc/ld.so.conf.d");
  lists.insert(lists.begin(), "/etc/ld.so.conf");
  for (const fs::path& list : lists) {
    std::ifstream in(list);
    for (std::string line; std::getline(in, line);)
      if (line.rfind('/', 0) == 0) out.push_back({line.substr(0, line.find_first_of(" \t#")), "the system's folders"});
  }
  for (const char* folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    out.push_back({folder, "the system's folders"});
}

std::vector<LibraryFile> loader_folders() {
  std::vector<LibraryFile> out;
  if (const auto list = environment("LD_LIBRARY_PATH")) add_list(out, *list, "LD_LIBRARY_PATH");
  add_search_path(out);
  add_system_folders(out);
  return out;
}

// The file of a library of this name that the process has loaded already.
std::optional<std::string> loaded_file(const char* name) {
  void* const handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return std::nullopt;
  link_map* map = nullptr;
  const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name[0] == '/';
  const std::string file = known ? map->l_name : "";
  dlclose(handle);
  return known ? std::optional(file) : std::nullopt;
}

// Paths with this name in the cache of the system's loader, whose folders may have been given to ldconfig alone.
std::vector<std::string> cached_files(std::string_view name) {
  std::ifstream in("/etc/ld.so.cache", std::ios::binary);
  const std::string cache{std::istreambuf_iterator<char>(in), {}};
  const std::string end = fmt::format("/{}", name) + '\0';
  std::vector<std::string> out;
  for (size_t at = cache.find(end); at != cache.npos; at = cache.find(end, at + 1)) {
    const size_t begin = cache.rfind('\0', at) + 1;
    if (cache[begin] == '/') out.push_back(cache.substr(begin, at + end.size() - 1 - begin));
  }
  return out;
}

void add_loader_candidates(Search& search, std::span<const char* const> names) {
  for (const char* name : names)
    if (const auto file = loaded_file(name)) search.add_file(*file, "loaded by the process");
  std::error_code error;
  for (const LibraryFile& folder : loader_folders())
    for (const char* name : names)
      if (const fs::path file = fs::path(folder.file) / name; fs::exists(file, error))
        search.add_file(file.string(), folder.rule);
  for (const char* name : names)
    for (const std::string& file : cached_files(name))
      if (fs::exists(file, error)) search.add_file(file, "the system's cache");
}

}  // namespace

std::vector<std::string> libraries_in(const std::string& folder, const std::string& stem) {
  std::vector<std::string> out;
  for (const fs::path& path : entries(folder))
    if (path.filename().string().rfind(stem + ".so", 0) == 0) out.insert(out.begin(), path.string());
  return out;
}

std::vector<LibraryFile> libraries_at(const std::string& path, const std::string& stem) {
  constexpr const char* kRule = "named by the caller";
  std::error_code error;
  const std::string absolute = fs::absolute(path, error).string();
  if (!fs::is_directory(absolute, error)) return {{absolute, kRule}};
  std::vector<LibraryFile> out;
  for (const std::string& file : libraries_in(absolute, stem)) out.push_back({file, kRule});
  return out;
}

std::vector<LibraryFile> library_candidates(const std::string& stem, std::span<const char* const> loader_names) {
  Search search(stem);
  std::error_code error;
  for (const char* variable : {"PLAIT_CUDA_HOME", "CUDA_HOME"})
    if (const auto home = environment(variable)) search.add_kit(fs::absolute(*home, error), variable);
  search.add_kit("/usr/local/cuda", "/usr/local/cuda");
  if (const auto folder = environment("VIRTUAL_ENV"))
    search.add_environment(fs::absolute(*folder, error), "VIRTUAL_ENV");
  {
    PackageFolders& packages = package_folders();
    const std::lock_guard lock(packages.mutex);
    for (const std::string& folder : packages.folders) search.add_packages(folder, "the interpreter's packages");
  }
  search.add_own();
  add_loader_candidates(search, loader_names);
  return search.take();
}

std::vector<LibraryFile> loader_candidates(std::span<const char* const> loader_names) {
  Search search("");
  add_loader_candidates(search, loader_names);
  return search.take();
}

std::string linker_rule(const std::string& file) {
  std::error_code error;
  for (const LibraryFile& folder : loader_folders())
    if (fs::equivalent(folder.file, fs::path(file).parent_path(), error)) return folder.rule;
  const std::vector<std::string> cached = cached_files(fs::path(file).filename().string());
  if (std::find(cached.begin(), cached.end(), file) != cached.end()) return "the system's cache";
  return "loaded by the process";
}

std::vector<LibraryFile> plugin_folders() {
  std::vector<LibraryFile> all;
  if (const auto own = own_folder()) {
    all.push_back({own->string(), kOwnPrefix});
    if (const auto prefix = prefix_of(*own))
      for (const fs::path& each : {*own / "plait", *prefix, *prefix / "lib" / "plait"})
        all.push_back({each.string(), kOwnPrefix});
  }
  const std::vector<LibraryFile> others = loader_folders();
  all.insert(all.end(), others.begin(), others.end());
  std::vector<LibraryFile> out;
  for (const LibraryFile& each : all)
    if (std::none_of(out.begin(), out.end(), [&](const LibraryFile& known) { return known.file == each.file; }))
      out.push_back(each);
  return out;
}

void add_package_folder(const std::string& folder) {
  if (!fs::path(folder).is_absolute()) return;
  PackageFolders& packages = package_folders();
  const std::lock_guard lock(packages.mutex);
  if (std::find(packages.folders.begin(), packages.folders.end(), folder) == packages.folders.end())
    packages.folders.push_back(folder);
}

namespace {

struct BuildId {
  uintptr_t address;
  std::string hex;
};

// Reads the notes of the object that holds the address.
int find_build_id(dl_phdr_info* object, size_t, void* context) {
  auto* const out = static_cast<BuildId*>(context);
  const std::span segments(object->dlpi_phdr, object->dlpi_phnum);
  const bool holds = std::any_of(segments.begin(), segments.end(), [&](const ElfW(Phdr) & segment) {
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && out->address >= begin && out->address - begin < segment.p_memsz;
  });
  if (!holds) return 0;
  constexpr size_t kUnit = 4;  // to which names and values of notes are filled up
  const auto filled = [](size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; };
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(object->dlpi_addr + segment.p_vaddr);
    const auto* const end = at + segment.p_memsz;
    while (size_t(end - at) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      at += sizeof note;
      if (size_t(end - at) < filled(note.n_namesz) + filled(note.n_descsz)) break;
      const bool is_id = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at, "GNU", 4) == 0;
      at += filled(note.n_namesz);
      for (size_t i = 0; is_id && i < note.n_descsz; ++i) out->hex += fmt::format("{:02x}", at[i]);
      if (is_id) return 1;
      at += filled(note.n_descsz);
    }
  }
  return 1;
}

}  // namespace

std::string file_stamp(const std::string& file) {
  struct stat facts{};
  if (file.empty() || stat(file.c_str(), &facts) != 0) return "";
  return fmt::format("{}, {} bytes, {}.{}, {}.{}", file, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec,
                     facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec);
}

std::string library_identity(const void* address) {
  BuildId id{reinterpret_cast<uintptr_t>(address), ""};
  (void)dl_iterate_phdr(find_build_id, &id);
  const std::string file = library_file_of(address);
  if (!id.hex.empty()) return "build " + id.hex;
  const std::string stamp = file_stamp(file);
  return stamp.empty() ? file : stamp;
}

std::string library_file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace plait
