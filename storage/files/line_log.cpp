#include "storage/files/line_log.hpp"

#include <cerrno>
#include <span>

#include <fcntl.h>

#include "storage/files/loose_text.hpp"

namespace depthgrid {

void LineLog::append(std::string_view line) {
  if (!fd_) {
    fd_ = Fd(open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0640));
    if (!fd_) throw_errno(file_, "cannot be opened", errno);
  }
  std::string text = torn_ ? "\n" : "";
  text += line;
  text += '\n';
  torn_ = true;
  try {
    write_all(fd_.get(), std::as_bytes(std::span(text.data(), text.size())), file_);
  } catch (...) {
    fd_.reset();  // a stale one of a network filesystem stays so
    throw;
  }
  torn_ = false;
}

std::vector<std::string> whole_lines(const std::filesystem::path& file) {
  const std::string text = loose_text(file);
  std::vector<std::string> out;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    out.push_back(text.substr(at, end - at));
  }
  return out;
}

}  // namespace depthgrid
