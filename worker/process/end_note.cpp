#include "worker/process/end_note.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/machine.hpp"

namespace depthgrid {
namespace {

// A signal handler can reach only globals.
std::array<char, 4096> note_path{};
std::array<char, 256> node{};  // with the end of its line
std::size_t node_bytes = 0;

}  // namespace

void note_ends_in(const std::filesystem::path& file) {
  const std::string path = file.string();
  if (path.size() < note_path.size()) std::memcpy(note_path.data(), path.c_str(), path.size() + 1);
  const std::string line = node_name() + '\n';
  node_bytes = line.size() <= node.size() ? line.size() : 0;
  std::memcpy(node.data(), line.data(), node_bytes);
}

void note_end(int code, bool here, const char* cause) noexcept {
  if (note_path.front() == '\0' || code < 0 || code > 999) return;
  const int file = open(note_path.data(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0640);
  if (file < 0) return;  // another rank was first
  const std::array<char, 4> text = {static_cast<char>('0' + code / 100),
                                    static_cast<char>('0' + code / 10 % 10),
                                    static_cast<char>('0' + code % 10), '\n'};
  [[maybe_unused]] auto written = write(file, text.data(), text.size());
  if (here) written = write(file, node.data(), node_bytes);
  if (here && *cause != '\0') {
    written = write(file, cause, std::strlen(cause));
    written = write(file, "\n", 1);
  }
  close(file);
}

}  // namespace depthgrid
