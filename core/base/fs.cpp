#include "core/base/fs.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <pwd.h>

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

struct RegularFile {
  std::unique_ptr<OpenFile> file;
  std::uint64_t size = 0;  // bytes, as the file says
};

/// What is opened is what is asked: a name may be another file's a moment later.
Tried<RegularFile> open_regular(const Fs& disk, const fs::path& path) {
  auto [file, error] = disk.open(path, OpenHow::ReadLinked);
  if (error != 0) return {{}, error == ENXIO ? ENOENT : error};  // a socket
  const auto [about, unknown] = file->facts();
  if (unknown != 0) return {{}, unknown};
  if (about.kind != FileKind::File) return {{}, ENOENT};
  return {{std::move(file), about.size}, 0};
}

/// Everything from `at` on. Files of /proc say that they are empty: what is read decides.
Tried<std::string> read_from(OpenFile& file, std::uint64_t at) {
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  Tried<std::string> out;
  while (true) {
    const std::size_t before = out.value.size();
    out.value.resize(before + kPiece);
    const auto buffer = std::as_writable_bytes(std::span(out.value)).subspan(before);
    const auto [read, error] = file.read_at(buffer, at + before);
    out.value.resize(before + read);
    if (error == EINTR) continue;
    if (error != 0 || read == 0) {
      out.error = error;
      return out;
    }
  }
}

}  // namespace

bool means_absent(int error) {
  return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

double unix_seconds(FileTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

Tried<std::string> Fs::read(const fs::path& file, std::uint64_t offset) const {
  const auto [in, error] = open_regular(*this, file);
  return error != 0 ? Tried<std::string>{{}, error} : read_from(*in.file, offset);
}

Tried<std::string> Fs::read_end(const fs::path& file, std::uint64_t most) const {
  const auto [in, error] = open_regular(*this, file);
  if (error != 0) return {{}, error};
  return read_from(*in.file, in.size - std::min(in.size, most));
}

bool Fs::is_folder(const fs::path& folder) const {
  const auto about = facts(folder, Links::Follow);
  return about && about.value.kind == FileKind::Folder;
}

bool Fs::is_file(const fs::path& file) const {
  const auto about = facts(file, Links::Follow);
  return about && about.value.kind == FileKind::File;
}

std::vector<fs::path> Fs::entries(const fs::path& folder) const {
  std::vector<fs::path> out;
  for (const FolderEntry& entry : list(folder).value) out.push_back(folder / entry.name);
  return out;
}

int Fs::remove_all(const fs::path& file) const {
  int first = 0;
  const auto about = facts(file, Links::Stay);
  if (about && about.value.kind == FileKind::Folder) {
    for (const fs::path& inside : entries(file)) {
      const int code = remove_all(inside);
      if (first == 0) first = code;
    }
  }
  const int code = remove(file);
  return first != 0 || code == ENOENT ? first : code;
}

fs::path absolute_path(const fs::path& path) {
  std::error_code no_working_folder;
  const fs::path out = fs::absolute(path, no_working_folder);
  return no_working_folder ? path : out;
}

std::string user_name(std::uint32_t id) {
  std::array<char, 4096> buffer{};
  passwd user{};
  passwd* found = nullptr;
  const bool known =
      getpwuid_r(id, &user, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
  return known ? fmt::format("{} (uid {})", found->pw_name, id) : fmt::format("uid {}", id);
}

std::string owner_note(const Fs& disk, const fs::path& path) {
  for (fs::path at = path;; at = at.parent_path()) {
    if (at.empty()) at = ".";
    const auto about = disk.facts(at, Links::Follow);
    if (about) {
      return fmt::format("; {} belongs to {}, mode {:04o}", at.string(),
                         user_name(about.value.owner), about.value.mode);
    }
    if (at == "." || at == at.parent_path()) return {};
  }
}

}  // namespace depthgrid
