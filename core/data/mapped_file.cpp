#include "core/data/mapped_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/unique_handle.hpp"

namespace depthgrid {
namespace {

struct DescriptorTraits {
  using Handle = int;
  static constexpr Handle null() noexcept { return -1; }
  static void release(Handle h) noexcept { ::close(h); }
};

[[noreturn]] void fail(const std::filesystem::path& file, const char* what) {
  throw StorageError(file.string(), std::string(what) + ": " + std::strerror(errno),
                     ExitCode::NoInput);
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& file) {
  const UniqueHandle<DescriptorTraits> descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor) fail(file, "cannot be opened");
  struct stat status = {};
  if (::fstat(descriptor.get(), &status) != 0) fail(file, "cannot be examined");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile({}));
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (memory == MAP_FAILED) fail(file, "cannot be mapped");
  return std::shared_ptr<const MappedFile>(
      new MappedFile({static_cast<const std::byte*>(memory), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace depthgrid
