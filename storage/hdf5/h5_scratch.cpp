#include "storage/hdf5/h5_scratch.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "storage/files/sealed_file.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Larger files do not go through memory.
constexpr std::uint64_t kLargeBytes = 512U << 20U;
/// Bytes that must stay free where small files are built.
constexpr std::uint64_t kSpareBytes = 32U << 20U;

/// A folder for a file of that size, not on the target's disk; empty if there is none.
fs::path fast_folder(std::uint64_t bytes) {
  if (bytes > kLargeBytes) return {};
  const char* tmp = std::getenv("TMPDIR");
  for (const fs::path& folder : {fs::path("/dev/shm"), fs::path(tmp == nullptr ? "" : tmp)}) {
    struct statvfs space{};
    if (folder.empty() || access(folder.c_str(), W_OK | X_OK) != 0 ||
        statvfs(folder.c_str(), &space) != 0) {
      continue;
    }
    if (space.f_bavail * space.f_frsize > 2 * bytes + kSpareBytes) return folder;
  }
  return {};
}

}  // namespace

H5Scratch::H5Scratch(const fs::path& beside, std::uint64_t expected_bytes) {
  h5_quiet();
  const fs::path fast = fast_folder(expected_bytes);
  create(scratch_name(fast.empty() ? beside : fast));
  if (fast.empty()) return;
  unlink(name_.c_str());
  name_.clear();
}

H5Scratch::~H5Scratch() {
  file_.reset();
  if (named()) unlink(name_.c_str());
}

void H5Scratch::create(const fs::path& file) {
  const H5Props creation(h5_check(H5Pcreate(H5P_FILE_CREATE), "H5Pcreate"));
  h5_check(H5Pset_userblock(creation.get(), kSealBytes), "H5Pset_userblock");
  h5_keep_order(creation);
  file_ = H5File(h5_check(
      H5Fcreate(file.c_str(), H5F_ACC_EXCL, creation.get(), h5_file_access().get()), "H5Fcreate"));
  name_ = file;
  fd_ = Fd(open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!fd_ || fchmod(fd_.get(), 0640) != 0) throw_errno(file, "cannot open", errno);
}

void H5Scratch::close() {
  if (!file_) return;
  // H5Fclose alone reports success after lost writes; the flush before it does not.
  h5_check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "H5Fflush");
  h5_close(file_, &H5Fclose, "H5Fclose");
}

std::vector<std::byte> H5Scratch::bytes() const {
  struct stat about{};
  if (fstat(fd_.get(), &about) != 0) throw_errno(name_, "cannot stat", errno);
  std::vector<std::byte> out(static_cast<std::size_t>(about.st_size));
  if (read_up_to(fd_.get(), out, 0, name_) < out.size())
    throw_errno(name_, "cannot read back", EIO);
  return out;
}

void H5Scratch::seal_in_place(std::int64_t generation) {
  SealInfo info = measure_rest(fd_.get(), name_);
  info.generation = generation;
  const std::vector<std::byte> seal = seal_block(info);
  if (pwrite(fd_.get(), seal.data(), seal.size(), 0) != static_cast<ssize_t>(seal.size())) {
    throw_errno(name_, "cannot write the seal", errno);
  }
}

fs::path H5Scratch::hand_over() {
  return std::exchange(name_, {});
}

}  // namespace depthgrid
