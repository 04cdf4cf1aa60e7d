#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace depthgrid {

/// What a call gave, or the errno with which it failed; 0 = it worked. Callers who can go on decide
/// by it; the others turn it into a StorageError (storage/files/publish.hpp, throw_errno()).
template <class T>
struct Tried {
  T value{};
  int error = 0;
  explicit operator bool() const noexcept { return error == 0; }
};

/// Whether a failed access says that nothing is there. Any other errno (EACCES, EIO, ESTALE) says
/// that it is not known.
bool means_absent(int error);

/// By the clock of the file system.
using FileTime = std::chrono::sys_time<std::chrono::nanoseconds>;
/// Since 1970.
double unix_seconds(FileTime time);

enum class FileKind : std::uint8_t { File, Folder, Link, Other };

/// What stat(2) says of a file.
struct FileFacts {
  FileKind kind = FileKind::Other;
  std::uint64_t size = 0;  // bytes
  std::uint64_t device = 0, inode = 0, links = 0;
  std::uint32_t owner = 0, group = 0;  // ids
  std::uint32_t mode = 0;              // permissions, 07777 at most
  FileTime modified{}, changed{};      // mtime, ctime
};

struct FolderEntry {
  std::string name;
  FileKind kind = FileKind::Other;
};

/// What statfs(2) says of a file system.
struct DiskSpace {
  std::uint64_t bytes = 0;       // free, for this user
  std::uint64_t files = 0;       // that can still be made
  bool counts_files = false;     // else `files` says nothing
  std::int64_t file_system = 0;  // its kind, as in linux/magic.h; 0 = unknown
};

/// Who may use what is made. Owner: one user writes, the group reads; files 0640 and folders 0750,
/// less the process's umask. Group: it reads and writes, whatever the umask is; files 0660, folders
/// 2770, so that what is made in them belongs to the same group.
enum class FileAccess : std::uint8_t { Owner, Group };

/// How Fs::open() opens. Only ReadLinked follows a link that is the last part of the path; the
/// others fail with ELOOP. No opening waits for the other end of a pipe.
enum class OpenHow : std::uint8_t {
  Read,
  ReadLinked,
  Overwrite,  // for writing, made if it is absent; what is there stays
  Emptied,    // for writing, made if it is absent; what is there goes
  Append,     // for writing at the end, made if it is absent
  New,        // for writing; EEXIST if it is there
  NewLog      // New, for writing at the end
};

/// Whether a link that is the last part of a path is followed.
enum class Links : std::uint8_t { Stay, Follow };

/// An open file, closed by its destructor. Each function is one system call.
class OpenFile {
 public:
  virtual ~OpenFile() = default;
  /// At the place reached so far, or at the end. @return bytes written, perhaps fewer than given.
  virtual Tried<std::size_t> write(std::span<const std::byte> bytes) = 0;
  virtual Tried<std::size_t> write_at(std::span<const std::byte> bytes, std::uint64_t at) = 0;
  /// @return bytes read, perhaps fewer than fit; 0 at the end.
  virtual Tried<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t at) = 0;
  virtual int sync() = 0;       // fsync
  virtual int sync_data() = 0;  // fdatasync
  virtual Tried<FileFacts> facts() = 0;
};

/// An open folder: its files by their names, wherever the folder is moved meanwhile.
class OpenFolder {
 public:
  virtual ~OpenFolder() = default;
  /// A new file for writing; EEXIST if the name is taken.
  virtual Tried<std::unique_ptr<OpenFile>> create(const std::string& name) = 0;
  virtual int rename(const std::string& from, const std::string& to) = 0;  // replaces
  virtual int link(const std::string& from, const std::string& to) = 0;    // EEXIST if it is there
  virtual int remove(const std::string& name) = 0;                         // a file
  virtual Tried<FileFacts> facts(const std::string& name) = 0;             // links stay
  virtual int sync() = 0;
};

/// The file system, as far as stores and sweeps need it: one system call a function, its errno as a
/// value. They go by it and by nothing else (cmake/check_seams.cmake), so that a test may stand in
/// for a disk (tests/storage/pretended_fs.hpp). HDF5 alone opens paths by itself.
///
/// May be used by several threads.
class Fs {
 public:
  virtual ~Fs() = default;

  /// Whom what is made is for.
  virtual FileAccess access() const = 0;
  /// The same files; what is made is for these. It lives as long as this one.
  virtual const Fs& with(FileAccess access) const = 0;
  /// Sets the process's umask, so that what libraries make (logs, HDF5) is for the same.
  virtual void set_umask() const = 0;
  /// Id of the user of this process.
  virtual std::uint32_t user() const = 0;

  virtual Tried<std::unique_ptr<OpenFile>> open(const std::filesystem::path& file,
                                                OpenHow how) const = 0;
  virtual Tried<std::unique_ptr<OpenFolder>> open_folder(
      const std::filesystem::path& folder) const = 0;
  /// For reading and writing; gives a file that a library has made the mode of files made here.
  virtual Tried<std::unique_ptr<OpenFile>> adopt(const std::filesystem::path& file) const = 0;

  virtual Tried<FileFacts> facts(const std::filesystem::path& file, Links links) const = 0;
  /// In no order. What was read before an error is there.
  virtual Tried<std::vector<FolderEntry>> list(const std::filesystem::path& folder) const = 0;
  virtual Tried<DiskSpace> space(const std::filesystem::path& folder) const = 0;
  /// 0 if this user may make files in the folder.
  virtual int may_make_in(const std::filesystem::path& folder) const = 0;

  virtual int make_folder(const std::filesystem::path& folder) const = 0;
  virtual int rename(const std::filesystem::path& from, const std::filesystem::path& to) const = 0;
  /// EEXIST if `to` is there.
  virtual int rename_to_new(const std::filesystem::path& from,
                            const std::filesystem::path& to) const = 0;
  virtual int link(const std::filesystem::path& from, const std::filesystem::path& to) const = 0;
  /// A file or an empty folder.
  virtual int remove(const std::filesystem::path& file) const = 0;
  /// Gives a file or folder what the mode of those made here has more.
  virtual int set_mode(const std::filesystem::path& file, FileKind kind) const = 0;

  // What follows is built of these.

  /// The bytes of a regular file from `offset` on, links followed; what is no regular file (a
  /// folder, a pipe) is absent.
  Tried<std::string> read(const std::filesystem::path& file, std::uint64_t offset = 0) const;
  /// Its last bytes, `most` at most.
  Tried<std::string> read_end(const std::filesystem::path& file, std::uint64_t most) const;
  /// Whether a folder is there, links followed; false also if that is not known.
  bool is_folder(const std::filesystem::path& folder) const;
  /// Likewise of a regular file.
  bool is_file(const std::filesystem::path& file) const;
  /// Paths of what is in a folder, in no order; nothing that cannot be read.
  std::vector<std::filesystem::path> entries(const std::filesystem::path& folder) const;
  /// Whole trees too. @return the first errno, 0 if nothing is left. What is not there is no error.
  int remove_all(const std::filesystem::path& file) const;
};

/// Why a path is closed to this user: "; DIR belongs to alice (uid 1001), mode 0750": of the last
/// part of the path that can be examined. Empty if there is none.
std::string owner_note(const Fs& disk, const std::filesystem::path& path);

/// From the root; the path itself where the working folder is gone.
std::filesystem::path absolute_path(const std::filesystem::path& path);

/// "alice (uid 1001)"; "uid 1001" where the machine knows no name.
std::string user_name(std::uint32_t id);

}  // namespace depthgrid
