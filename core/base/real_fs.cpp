#include "core/base/real_fs.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/log.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// What is made for these, and where the umask must not count, the mode that it gets afterwards.
struct Modes {
  mode_t file, folder, umask;
  bool whole;  // set again after making: the umask takes bits away, and mkdir the group's
};

const Modes& modes_of(FileAccess access) {
  static constexpr std::array<Modes, 2> kModes = {
      {{0640, 0750, 027, false}, {0660, 02770, 007, true}}};
  return kModes[static_cast<std::size_t>(access)];
}

/// By OpenHow.
constexpr int kMade = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
constexpr std::array<int, 7> kOpenFlags = {
    O_RDONLY | O_NOFOLLOW | O_NONBLOCK,  // Read
    O_RDONLY | O_NONBLOCK,               // ReadLinked
    kMade,                               // Overwrite
    kMade | O_TRUNC,                     // Emptied
    kMade | O_APPEND,                    // Append
    kMade | O_EXCL,                      // New
    kMade | O_EXCL | O_APPEND,           // NewLog
};

int errno_if(bool failed) {
  return failed ? errno : 0;
}

Tried<std::size_t> moved(ssize_t bytes) {
  if (bytes < 0) return {0, errno};
  return {static_cast<std::size_t>(bytes), 0};
}

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::File;
  if (S_ISDIR(mode)) return FileKind::Folder;
  return S_ISLNK(mode) ? FileKind::Link : FileKind::Other;
}

FileTime time_of(const timespec& at) {
  return FileTime(std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec));
}

Tried<FileFacts> facts_of(int failed, const struct stat& about) {
  if (failed != 0) return {{}, errno};
  return {{.kind = kind_of(about.st_mode),
           .size = static_cast<std::uint64_t>(about.st_size),
           .device = about.st_dev,
           .inode = about.st_ino,
           .links = about.st_nlink,
           .owner = about.st_uid,
           .group = about.st_gid,
           .mode = about.st_mode & 07777U,
           .modified = time_of(about.st_mtim),
           .changed = time_of(about.st_ctim)},
          0};
}

class RealFile final : public OpenFile {
 public:
  explicit RealFile(Fd fd) : fd_(std::move(fd)) {}

  Tried<std::size_t> write(std::span<const std::byte> bytes) override {
    return moved(::write(fd_.get(), bytes.data(), bytes.size()));
  }
  Tried<std::size_t> write_at(std::span<const std::byte> bytes, std::uint64_t at) override {
    return moved(pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)));
  }
  Tried<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t at) override {
    return moved(pread(fd_.get(), buffer.data(), buffer.size(), static_cast<off_t>(at)));
  }
  int sync() override { return errno_if(fsync(fd_.get()) != 0); }
  int sync_data() override { return errno_if(fdatasync(fd_.get()) != 0); }
  Tried<FileFacts> facts() override {
    struct stat about{};
    const int failed = fstat(fd_.get(), &about);
    return facts_of(failed, about);
  }

 private:
  Fd fd_;
};

/// A file that open() or openat() has given, with its errno.
Tried<std::unique_ptr<OpenFile>> real_file_of(int handle, int flags, const Modes& modes) {
  if (handle < 0) return {nullptr, errno};
  Fd fd(handle);
  // Of a file that was there and is another user's the mode stays: he has given it.
  if (modes.whole && (flags & O_CREAT) != 0 && fchmod(handle, modes.file) != 0 && errno != EPERM) {
    return {nullptr, errno};
  }
  return {std::make_unique<RealFile>(std::move(fd)), 0};
}

class RealFolder final : public OpenFolder {
 public:
  RealFolder(Fd fd, const Modes& modes) : fd_(std::move(fd)), modes_(modes) {}

  Tried<std::unique_ptr<OpenFile>> create(const std::string& name) override {
    constexpr int kFlags = kMade | O_EXCL | O_CLOEXEC;
    return real_file_of(openat(fd_.get(), name.c_str(), kFlags, modes_.file), kFlags, modes_);
  }
  int rename(const std::string& from, const std::string& to) override {
    return errno_if(renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()) != 0);
  }
  int link(const std::string& from, const std::string& to) override {
    return errno_if(linkat(fd_.get(), from.c_str(), fd_.get(), to.c_str(), 0) != 0);
  }
  int remove(const std::string& name) override {
    return errno_if(unlinkat(fd_.get(), name.c_str(), 0) != 0);
  }
  Tried<FileFacts> facts(const std::string& name) override {
    struct stat about{};
    const int failed = fstatat(fd_.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW);
    return facts_of(failed, about);
  }
  int sync() override { return errno_if(fsync(fd_.get()) != 0); }

 private:
  Fd fd_;
  const Modes& modes_;
};

/// The name alone decides; a file system that does not say is asked.
FileKind kind_of(const fs::directory_entry& entry) {
  std::error_code unknown;
  switch (entry.symlink_status(unknown).type()) {
    case fs::file_type::regular:
      return FileKind::File;
    case fs::file_type::directory:
      return FileKind::Folder;
    case fs::file_type::symlink:
      return FileKind::Link;
    default:
      return FileKind::Other;
  }
}

class RealFs final : public Fs {
 public:
  explicit RealFs(FileAccess access) : access_(access), modes_(modes_of(access)) {}

  FileAccess access() const override { return access_; }
  const Fs& with(FileAccess access) const override {
    static const RealFs for_owner(FileAccess::Owner), for_group(FileAccess::Group);
    return access == FileAccess::Owner ? for_owner : for_group;
  }
  void set_umask() const override { umask(modes_.umask); }
  std::uint32_t user() const override { return geteuid(); }

  Tried<std::unique_ptr<OpenFile>> open(const fs::path& file, OpenHow how) const override {
    const int flags = kOpenFlags[static_cast<std::size_t>(how)] | O_CLOEXEC;
    return real_file_of(::open(file.c_str(), flags, modes_.file), flags, modes_);
  }
  Tried<std::unique_ptr<OpenFolder>> open_folder(const fs::path& folder) const override {
    Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return {nullptr, errno};
    return {std::make_unique<RealFolder>(std::move(fd), modes_), 0};
  }
  Tried<std::unique_ptr<OpenFile>> adopt(const fs::path& file) const override {
    Fd fd(::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!fd || fchmod(fd.get(), modes_.file) != 0) return {nullptr, errno};
    return {std::make_unique<RealFile>(std::move(fd)), 0};
  }

  Tried<FileFacts> facts(const fs::path& file, Links links) const override {
    struct stat about{};
    const int failed =
        links == Links::Follow ? stat(file.c_str(), &about) : lstat(file.c_str(), &about);
    return facts_of(failed, about);
  }
  Tried<std::vector<FolderEntry>> list(const fs::path& folder) const override {
    Tried<std::vector<FolderEntry>> out;
    std::error_code problem;
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
         at.increment(problem)) {
      out.value.push_back({at->path().filename().string(), kind_of(*at)});
    }
    out.error = problem.value();
    return out;
  }
  Tried<DiskSpace> space(const fs::path& folder) const override {
    struct statfs about{};
    if (statfs(folder.c_str(), &about) != 0) return {{}, errno};
    const long unit = about.f_frsize > 0 ? about.f_frsize : about.f_bsize;
    return {{.bytes = about.f_bavail * static_cast<std::uint64_t>(unit),
             .files = about.f_ffree,
             .counts_files = about.f_files > 0,
             .file_system = about.f_type},
            0};
  }
  int may_make_in(const fs::path& folder) const override {
    return errno_if(::access(folder.c_str(), W_OK | X_OK) != 0);
  }

  int make_folder(const fs::path& folder) const override {
    if (mkdir(folder.c_str(), modes_.folder) != 0) return errno;
    return modes_.whole ? set_mode(folder, FileKind::Folder) : 0;
  }
  int rename(const fs::path& from, const fs::path& to) const override {
    return errno_if(::rename(from.c_str(), to.c_str()) != 0);
  }
  int rename_to_new(const fs::path& from, const fs::path& to) const override {
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // File systems without that flag are examined first.
    return facts(to, Links::Stay) ? EEXIST : rename(from, to);
  }
  int link(const fs::path& from, const fs::path& to) const override {
    return errno_if(::link(from.c_str(), to.c_str()) != 0);
  }
  int remove(const fs::path& file) const override { return errno_if(::remove(file.c_str()) != 0); }
  int set_mode(const fs::path& file, FileKind kind) const override {
    const mode_t mode = kind == FileKind::Folder ? modes_.folder : modes_.file;
    const auto [about, error] = facts(file, Links::Stay);
    if (error != 0) return error;
    return errno_if(chmod(file.c_str(), about.mode | mode) != 0);
  }

 private:
  FileAccess access_;
  const Modes& modes_;
};

}  // namespace

void FdTraits::release(Handle fd) noexcept {
  if (close(fd) != 0) log(LogLevel::Warning, std::string("close: ") + std::strerror(errno));
}

const Fs& real_fs() {
  static const RealFs disk(FileAccess::Owner);
  return disk;
}

}  // namespace depthgrid
