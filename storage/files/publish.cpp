#include "storage/files/publish.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/fault_point.hpp"
#include "core/base/log.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/set_aside.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0640;
constexpr mode_t kFolderMode = 0750;

/// How often a file that another process removed is written again.
constexpr int kTimesAgain = 3;

enum class How : std::uint8_t { Replace, Once };

/// Result of giving a complete file its final name.
enum class Installed : std::uint8_t { Yes, NotFirst, Swept };

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

Fd open_folder(const fs::path& folder) {
  Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) throw_errno(folder, "cannot open the folder", errno);
  return fd;
}

void sync_or_throw(int fd, const fs::path& path, std::uint64_t bytes = 0) {
  if (fsync(fd) != 0) throw_errno(path, "cannot sync", errno, bytes);
}

/// A disk that a test has filled, see fault_point.hpp.
void fail_on_order(const fs::path& target, std::uint64_t bytes) {
  if (disk_full_on_order()) throw_errno(target, "cannot write", ENOSPC, bytes);
}

/// True if `name` is the file open as `fd`: a rename or link that happened despite an error.
bool is_file(int folder, const std::string& name, int fd) {
  struct stat at{};
  struct stat ours{};
  return fstatat(folder, name.c_str(), &at, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &ours) == 0 &&
         at.st_ino == ours.st_ino && at.st_dev == ours.st_dev;
}

/// True if the file has no name any more: the folder's next owner removed it.
bool is_swept(int fd) {
  struct stat ours{};
  if (fstat(fd, &ours) != 0) return errno == ESTALE;  // on a network filesystem
  return ours.st_nlink == 0;
}

/// Gives the complete file `scratch` its final name.
Installed install(int folder, const std::string& scratch, const fs::path& target, int fd, How how) {
  const std::string name = target.filename();
  if (how == How::Replace) {
    if (renameat(folder, scratch.c_str(), folder, name.c_str()) == 0) return Installed::Yes;
    const int code = errno;
    if (is_file(folder, name, fd)) return Installed::Yes;
    if (code == ENOENT && is_swept(fd)) return Installed::Swept;
    if (code == EISDIR) {  // a folder in the way: only damage puts one there
      log(LogLevel::Warning,
          target.string() + ": a folder is in the way; it is now " + set_aside(target).string());
      if (renameat(folder, scratch.c_str(), folder, name.c_str()) == 0) return Installed::Yes;
    }
    throw_errno(target, "cannot rename into place", code);
  }
  bool made = linkat(folder, scratch.c_str(), folder, name.c_str(), 0) == 0;
  if (!made) {
    const int code = errno;
    made = is_file(folder, name, fd);
    if (!made && code == ENOENT && is_swept(fd)) return Installed::Swept;
    if (!made && code != EEXIST) throw_errno(target, "cannot link into place", code);
  }
  unlinkat(folder, scratch.c_str(), 0);
  return made ? Installed::Yes : Installed::NotFirst;
}

[[noreturn]] void throw_swept(const fs::path& target) {
  throw_errno(target, "another process has swept the unfinished file away", ENOENT);
}

Installed try_publish(int folder, const fs::path& target, std::span<const std::byte> bytes,
                      How how) {
  const std::string scratch = scratch_name("").filename();
  const Fd fd(openat(folder, scratch.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     kFileMode));
  if (!fd) throw_errno(target, "cannot create a file beside it", errno, bytes.size());
  try {
    fail_on_order(target, bytes.size());
    write_all(fd.get(), bytes, target);
    sync_or_throw(fd.get(), target, bytes.size());
    const Installed done = install(folder, scratch, target, fd.get(), how);
    if (done == Installed::Yes) sync_or_throw(folder, target);
    return done;
  } catch (...) {
    unlinkat(folder, scratch.c_str(), 0);
    throw;
  }
}

bool publish(const fs::path& target, std::span<const std::byte> bytes, How how) {
  const Fd folder = open_folder(folder_of(target));
  for (int again = 0; again <= kTimesAgain; ++again) {
    const Installed done = try_publish(folder.get(), target, bytes, how);
    if (done != Installed::Swept) return done == Installed::Yes;
  }
  throw_swept(target);
}

bool install_file(const fs::path& target, const fs::path& scratch, How how) {
  const Fd folder = open_folder(folder_of(target));
  const Fd fd(open(scratch.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) throw_errno(scratch, "cannot open", errno);
  try {
    std::error_code unknown;
    fail_on_order(target, fs::file_size(scratch, unknown));
    sync_or_throw(fd.get(), scratch);
    const Installed done = install(folder.get(), scratch.filename(), target, fd.get(), how);
    if (done == Installed::Swept) throw_swept(target);
    if (done == Installed::Yes) sync_or_throw(folder.get(), target);
    return done == Installed::Yes;
  } catch (...) {
    unlink(scratch.c_str());
    throw;
  }
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

void FdTraits::release(Handle fd) noexcept {
  if (close(fd) != 0) log(LogLevel::Warning, std::string("close: ") + std::strerror(errno));
}

void publish_replace(const fs::path& target, std::span<const std::byte> bytes) {
  publish(target, bytes, How::Replace);
}

bool publish_once(const fs::path& target, std::span<const std::byte> bytes) {
  return publish(target, bytes, How::Once);
}

void publish_replace(const fs::path& target, std::string_view text) {
  publish(target, bytes_of(text), How::Replace);
}

bool publish_once(const fs::path& target, std::string_view text) {
  return publish(target, bytes_of(text), How::Once);
}

void install_replace(const fs::path& target, const fs::path& scratch) {
  install_file(target, scratch, How::Replace);
}

bool install_once(const fs::path& target, const fs::path& scratch) {
  return install_file(target, scratch, How::Once);
}

fs::path scratch_name(const fs::path& folder) {
  std::random_device random;
  return folder / fmt::format("{}{}-{:08x}", kScratchPrefix, process_tag(), random());
}

void remove_scratch(const fs::path& folder) noexcept {
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    std::error_code gone;
    if (it->path().filename().string().starts_with(kScratchPrefix)) fs::remove(it->path(), gone);
  }
}

void remove_dead_scratch(const fs::path& folder) noexcept {
  constexpr auto kForgotten = std::chrono::hours(24);  // older than any file that is being written
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    const std::string name = it->path().filename();
    if (!name.starts_with(kScratchPrefix)) continue;
    std::error_code gone;
    const auto age = fs::file_time_type::clock::now() - it->last_write_time(gone);
    const bool forgotten = !gone && age > kForgotten;
    if (forgotten || surely_dead_tag(name.substr(kScratchPrefix.size()))) {
      fs::remove(it->path(), gone);
    }
  }
}

void write_all(int fd, std::span<const std::byte> bytes, const fs::path& file) {
  const std::uint64_t needed = bytes.size();
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno(file, "cannot write", errno, needed);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void sync_folder(const fs::path& folder) {
  sync_or_throw(open_folder(folder).get(), folder);
}

void make_folders(const fs::path& folder) {
  const fs::path name = folder.has_filename() ? folder : folder.parent_path();
  if (name.empty()) return;
  constexpr int kTries = 8;  // another process may remove the parent as often as it is made
  int code = mkdir(name.c_str(), kFolderMode) == 0 ? 0 : errno;
  for (int i = 0; i < kTries && code == ENOENT && name.has_parent_path(); ++i) {
    make_folders(name.parent_path());  // no error if another process was faster
    code = mkdir(name.c_str(), kFolderMode) == 0 ? 0 : errno;
  }
  if (code == 0) return sync_folder(folder_of(name));
  std::error_code unreadable;
  if (code != EEXIST || !fs::is_directory(name, unreadable)) {
    throw_errno(name, "cannot make the folder", code);
  }
}

void throw_errno(const fs::path& path, const std::string& what, int code,
                 std::uint64_t needed_bytes) {
  std::string message = fmt::format("{}: {} (errno {})", what, std::strerror(code), code);
  if (code == ENOSPC || code == EDQUOT) {
    struct statvfs space{};
    const bool known = statvfs(folder_of(path).c_str(), &space) == 0;
    const bool inodes = known && code == ENOSPC && space.f_files > 0 && space.f_favail == 0;
    message += fmt::format("; needed {} bytes, free {}", needed_bytes,
                           known ? std::to_string(space.f_bavail * space.f_frsize) : "unknown");
    if (inodes) message += " and no inode: the filesystem cannot hold another file";
    message += code == EDQUOT ? "; free some of your quota"
               : inodes       ? "; remove some files"
                              : "; free some space";
    message += " and run the same command again";
  }
  throw StorageError(path, message);
}

}  // namespace depthgrid
