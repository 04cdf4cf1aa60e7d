#include "storage/files/line_log.hpp"

#include <span>

#include "storage/files/loose_text.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {

void LineLog::append(std::string_view line, const Fs& disk) {
  if (!open_) {
    auto [open, error] = disk.open(file_, OpenHow::Append);
    if (error != 0) throw_errno(file_, "cannot be opened", error, 0, disk);
    open_ = std::move(open);
  }
  std::string text = torn_ ? "\n" : "";
  text += line;
  text += '\n';
  torn_ = true;
  try {
    write_all(*open_, std::as_bytes(std::span(text.data(), text.size())), file_, disk);
  } catch (...) {
    open_.reset();  // a stale one of a network filesystem stays so
    throw;
  }
  torn_ = false;
}

std::vector<std::string> whole_lines(const std::filesystem::path& file, const Fs& disk) {
  const std::string text = loose_text(file, 0, disk);
  std::vector<std::string> out;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    out.push_back(text.substr(at, end - at));
  }
  return out;
}

}  // namespace depthgrid
