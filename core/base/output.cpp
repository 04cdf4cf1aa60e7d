#include "core/base/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/printable.hpp"

namespace depthgrid {

void keep_standard_streams() noexcept {
  for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY)) {
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    return;
  }
}

void print(std::string_view result) {
  const std::string text = isatty(STDOUT_FILENO) == 1 ? printable(result) : std::string(result);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw StorageError("stdout", std::strerror(errno));
  }
}

void tell(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace depthgrid
