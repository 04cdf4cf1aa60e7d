#include "storage/files/publish.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/fault_point.hpp"
#include "core/base/log.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/quarantine.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// How often a file that another process removed is written again.
constexpr int kTimesAgain = 3;

enum class How : std::uint8_t { Replace, Once };

/// Result of giving a complete file its final name.
enum class Installed : std::uint8_t { Yes, NotFirst, Swept };

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

std::unique_ptr<OpenFolder> open_folder(const fs::path& folder, const Fs& disk) {
  auto [open, error] = disk.open_folder(folder);
  if (error != 0) throw_errno(folder, "cannot open the folder", error, 0, disk);
  return std::move(open);
}

/// A file that is about to get its name.
struct Publication {
  const Fs& disk;
  const fs::path& target;
  OpenFolder& folder;  // the target's
  How how;

  [[noreturn]] void fail(const std::string& what, int error, std::uint64_t bytes = 0) const {
    throw_errno(target, what, error, bytes, disk);
  }

  void require_synced(int error, std::uint64_t bytes = 0) const {
    if (error != 0) fail("cannot sync", error, bytes);
  }

  /// A disk that a test has filled, see fault_point.hpp.
  void fail_on_request(std::uint64_t bytes) const {
    if (disk_full_on_request()) fail("cannot write", ENOSPC, bytes);
  }

  [[noreturn]] void fail_swept() const {
    fail("another process has swept the unfinished file away", ENOENT);
  }
};

/// True if `name` is the open file: a rename or link that happened despite an error.
bool is_file(OpenFolder& folder, const std::string& name, OpenFile& file) {
  const auto at = folder.facts(name);
  const auto ours = at ? file.facts() : at;
  return at && ours && at.value.inode == ours.value.inode && at.value.device == ours.value.device;
}

/// True if the file has no name any more: the folder's next owner removed it.
bool is_swept(OpenFile& file) {
  const auto [ours, error] = file.facts();
  if (error != 0) return error == ESTALE;  // on a network filesystem
  return ours.links == 0;
}

/// Gives the complete file `scratch` its final name.
Installed install(const Publication& to, const std::string& scratch, OpenFile& file) {
  const std::string name = to.target.filename();
  OpenFolder& folder = to.folder;
  if (to.how == How::Replace) {
    const int error = folder.rename(scratch, name);
    if (error == 0 || is_file(folder, name, file)) return Installed::Yes;
    if (error == ENOENT && is_swept(file)) return Installed::Swept;
    if (error == EISDIR) {  // a folder in the way: only damage puts one there
      log(LogLevel::Warning, to.target.string() + ": a folder is in the way; it is now " +
                                 quarantine(to.target, to.disk).string());
      if (folder.rename(scratch, name) == 0) return Installed::Yes;
    }
    to.fail("cannot rename into place", error);
  }
  const int error = folder.link(scratch, name);
  const bool made = error == 0 || is_file(folder, name, file);
  if (!made && error == ENOENT && is_swept(file)) return Installed::Swept;
  if (!made && error != EEXIST) to.fail("cannot link into place", error);
  folder.remove(scratch);
  return made ? Installed::Yes : Installed::NotFirst;
}

Installed try_publish(const Publication& to, std::span<const std::byte> bytes) {
  const std::string scratch = scratch_name("").filename();
  const auto [file, error] = to.folder.create(scratch);
  if (error != 0) to.fail("cannot create a file beside it", error, bytes.size());
  try {
    to.fail_on_request(bytes.size());
    write_all(*file, bytes, to.target, to.disk);
    to.require_synced(file->sync(), bytes.size());
    const Installed done = install(to, scratch, *file);
    if (done == Installed::Yes) to.require_synced(to.folder.sync());
    return done;
  } catch (...) {
    to.folder.remove(scratch);
    throw;
  }
}

bool publish(const fs::path& target, std::span<const std::byte> bytes, How how, const Fs& disk) {
  const auto folder = open_folder(folder_of(target), disk);
  const Publication to{disk, target, *folder, how};
  for (int again = 0; again <= kTimesAgain; ++again) {
    const Installed done = try_publish(to, bytes);
    if (done != Installed::Swept) return done == Installed::Yes;
  }
  to.fail_swept();
}

bool install_file(const fs::path& target, const fs::path& scratch, How how, const Fs& disk) {
  const auto folder = open_folder(folder_of(target), disk);
  const Publication to{disk, target, *folder, how};
  const auto [file, error] = disk.open(scratch, OpenHow::Read);
  if (error != 0) throw_errno(scratch, "cannot open", error, 0, disk);
  try {
    to.fail_on_request(file->facts().value.size);
    if (const int code = file->sync(); code != 0) {
      throw_errno(scratch, "cannot sync", code, 0, disk);
    }
    const Installed done = install(to, scratch.filename(), *file);
    if (done == Installed::Swept) to.fail_swept();
    if (done == Installed::Yes) to.require_synced(folder->sync());
    return done == Installed::Yes;
  } catch (...) {
    disk.remove(scratch);
    throw;
  }
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

void publish_replace(const fs::path& target, std::span<const std::byte> bytes, const Fs& disk) {
  publish(target, bytes, How::Replace, disk);
}

bool publish_once(const fs::path& target, std::span<const std::byte> bytes, const Fs& disk) {
  return publish(target, bytes, How::Once, disk);
}

void publish_replace(const fs::path& target, std::string_view text, const Fs& disk) {
  publish(target, bytes_of(text), How::Replace, disk);
}

bool publish_once(const fs::path& target, std::string_view text, const Fs& disk) {
  return publish(target, bytes_of(text), How::Once, disk);
}

void install_replace(const fs::path& target, const fs::path& scratch, const Fs& disk) {
  install_file(target, scratch, How::Replace, disk);
}

bool install_once(const fs::path& target, const fs::path& scratch, const Fs& disk) {
  return install_file(target, scratch, How::Once, disk);
}

fs::path scratch_name(const fs::path& folder) {
  std::random_device random;
  return folder / fmt::format("{}{}-{:08x}", kScratchPrefix, process_tag(), random());
}

void remove_scratch(const fs::path& folder, const Fs& disk) noexcept {
  for (const fs::path& file : disk.entries(folder)) {
    if (file.filename().string().starts_with(kScratchPrefix)) disk.remove(file);
  }
}

void remove_dead_scratch(const fs::path& folder, const Fs& disk) noexcept {
  constexpr auto kForgotten = std::chrono::hours(24);  // older than any file that is being written
  for (const fs::path& file : disk.entries(folder)) {
    const std::string name = file.filename();
    if (!name.starts_with(kScratchPrefix)) continue;
    const auto about = disk.facts(file, Links::Follow);
    const auto age = std::chrono::system_clock::now() - about.value.modified;
    const bool forgotten = about && age > kForgotten;
    if (forgotten || surely_dead_tag(name.substr(kScratchPrefix.size()))) disk.remove(file);
  }
}

void write_all(OpenFile& file, std::span<const std::byte> bytes, const fs::path& path,
               const Fs& disk) {
  const std::uint64_t needed = bytes.size();
  while (!bytes.empty()) {
    const auto [written, error] = file.write(bytes);
    if (error == EINTR) continue;
    if (error != 0) throw_errno(path, "cannot write", error, needed, disk);
    bytes = bytes.subspan(written);
  }
}

void sync_folder(const fs::path& folder, const Fs& disk) {
  const int error = open_folder(folder, disk)->sync();
  if (error != 0) throw_errno(folder, "cannot sync", error, 0, disk);
}

void make_folders(const fs::path& folder, const Fs& disk) {
  const fs::path name = folder.has_filename() ? folder : folder.parent_path();
  if (name.empty()) return;
  constexpr int kTries = 8;  // another process may remove the parent as often as it is made
  int error = disk.make_folder(name);
  for (int i = 0; i < kTries && error == ENOENT && name.has_parent_path(); ++i) {
    make_folders(name.parent_path(), disk);  // no error if another process was faster
    error = disk.make_folder(name);
  }
  if (error == 0) return sync_folder(folder_of(name), disk);
  if (error != EEXIST || !disk.is_folder(name)) {
    throw_errno(name, "cannot make the folder", error, 0, disk);
  }
}

namespace {

/// What a full disk lacks, and what to do.
std::string space_note(const Fs& disk, const fs::path& path, int code, std::uint64_t needed_bytes) {
  const auto space = disk.space(folder_of(path));
  const bool inodes = space && code == ENOSPC && space.value.counts_files && space.value.files == 0;
  std::string message;
  message += fmt::format("; needed {} bytes, free {}", needed_bytes,
                         space ? std::to_string(space.value.bytes) : "unknown");
  if (inodes) message += " and no inode: the filesystem cannot hold another file";
  message += code == EDQUOT ? "; free some of your quota"
             : inodes       ? "; remove some files"
                            : "; free some space";
  return message + " and run the same command again";
}

}  // namespace

void throw_errno(const fs::path& path, const std::string& what, int code,
                 std::uint64_t needed_bytes, const Fs& disk) {
  std::string message = fmt::format("{}: {} (errno {})", what, std::strerror(code), code);
  if (code == ENOSPC || code == EDQUOT) message += space_note(disk, path, code, needed_bytes);
  if (code == EACCES || code == EPERM) {
    message += owner_note(disk, path) + "; ask its owner for access, or choose another place";
  }
  if (code == EROFS) message += "; it can only be read there: choose another place";
  if (code == EIO || code == ESTALE) {
    message +=
        "; a fault of the disk or of the server that it is on: once that is mended, run the "
        "same command again";
  }
  throw StorageError(path, message);
}

}  // namespace depthgrid
