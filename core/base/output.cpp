#include "core/base/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/printable.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kColour = "\x1b[";

/// Length of the colour (ESC [ one or two digits m) that `text` begins with, 0 if with none.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with(kColour)) return 0;
  const std::size_t end = text.find_first_not_of("0123456789", kColour.size());
  const bool one = end != std::string_view::npos && text[end] == 'm' && end > kColour.size() &&
                   end <= kColour.size() + 2;
  return one ? end + 1 : 0;
}

/// printable(), but colours stay, which tables use. In a name they can do no harm.
std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t escape = std::min(text.find(kColour), text.size());
    out += printable(text.substr(0, escape));
    text.remove_prefix(escape);
    const std::size_t colour = colour_length(text);
    const std::size_t taken = colour > 0 ? colour : std::min<std::size_t>(1, text.size());
    out += colour > 0 ? std::string(text.substr(0, taken)) : printable(text.substr(0, taken));
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace

void keep_standard_streams() noexcept {
  for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY)) {
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    return;
  }
}

void print(std::string_view result) {
  const std::string text = isatty(STDOUT_FILENO) == 1 ? shown(result) : std::string(result);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw StorageError("stdout", std::strerror(errno));
  }
}

void print_to_stderr(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace depthgrid
