#include "storage/hdf5/h5_scratch.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Larger files do not go through memory.
constexpr std::uint64_t kLargeBytes = 512U << 20U;
/// Bytes that must stay free where small files are built.
constexpr std::uint64_t kSpareBytes = 32U << 20U;

/// A folder for a file of that size, not on the target's disk; empty if there is none.
fs::path fast_folder(std::uint64_t bytes, const Fs& disk) {
  if (bytes > kLargeBytes) return {};
  const char* tmp = std::getenv("TMPDIR");
  for (const fs::path& folder : {fs::path("/dev/shm"), fs::path(tmp == nullptr ? "" : tmp)}) {
    if (folder.empty() || disk.may_make_in(folder) != 0) continue;
    const auto space = disk.space(folder);
    if (space && space.value.bytes > 2 * bytes + kSpareBytes) return folder;
  }
  return {};
}

}  // namespace

H5Scratch::H5Scratch(const fs::path& beside, std::uint64_t expected_bytes, const Fs& disk)
    : disk_(disk) {
  h5_quiet();
  const fs::path fast = fast_folder(expected_bytes, disk);
  create(scratch_name(fast.empty() ? beside : fast));
  if (fast.empty()) return;
  disk.remove(name_);
  name_.clear();
}

H5Scratch::~H5Scratch() {
  file_.reset();
  if (named()) disk_.remove(name_);
}

void H5Scratch::create(const fs::path& file) {
  const H5Props creation(h5_check(H5Pcreate(H5P_FILE_CREATE), "H5Pcreate"));
  h5_check(H5Pset_userblock(creation.get(), kSealBytes), "H5Pset_userblock");
  h5_keep_order(creation);
  file_ = H5File(h5_check(
      H5Fcreate(file.c_str(), H5F_ACC_EXCL, creation.get(), h5_file_access().get()), "H5Fcreate"));
  name_ = file;
  auto [open, error] = disk_.adopt(file);
  if (error != 0) throw_errno(file, "cannot open", error, 0, disk_);
  open_ = std::move(open);
}

void H5Scratch::close() {
  if (!file_) return;
  // H5Fclose alone reports success after lost writes; the flush before it does not.
  h5_check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "H5Fflush");
  h5_close(file_, &H5Fclose, "H5Fclose");
}

std::vector<std::byte> H5Scratch::bytes() const {
  const auto about = open_->facts();
  if (!about) throw_errno(name_, "cannot stat", about.error, 0, disk_);
  std::vector<std::byte> out(about.value.size);
  if (read_up_to(*open_, out, 0, name_) < out.size()) {
    throw_errno(name_, "cannot read back", EIO, 0, disk_);
  }
  return out;
}

void H5Scratch::seal_in_place(std::int64_t generation) {
  SealInfo info = measure_rest(*open_, name_);
  info.generation = generation;
  const std::vector<std::byte> seal = seal_block(info);
  const auto written = open_->write_at(seal, 0);
  if (written && written.value == seal.size()) return;
  throw_errno(name_, "cannot write the seal", written ? EIO : written.error, seal.size(), disk_);
}

fs::path H5Scratch::hand_over() {
  return std::exchange(name_, {});
}

}  // namespace depthgrid
