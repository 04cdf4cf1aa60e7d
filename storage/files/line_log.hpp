#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/real_fs.hpp"

namespace depthgrid {

/// A text file to which one process appends whole lines, while others read it.
///
/// A line is written by one call, so that whoever is killed leaves at most a torn last line, which
/// readers pass over. It survives a crash of the process; of the machine, the last seconds may be
/// lost.
class LineLog {
 public:
  /// Nothing is written before the first line. @param file  of this process alone.
  explicit LineLog(std::filesystem::path file) : file_(std::move(file)) {}

  /// @param line  without its end. Behind a line that could not be written whole, the next one
  ///              begins anew.
  /// @throws StorageError (CantCreate)
  void append(std::string_view line, const Fs& disk = real_fs());

 private:
  std::filesystem::path file_;
  std::unique_ptr<OpenFile> open_;
  bool torn_ = false;
};

/// The whole lines of such a file, without their ends; a torn last one is left out. None if there
/// is no file or it cannot be read.
std::vector<std::string> whole_lines(const std::filesystem::path& file, const Fs& disk = real_fs());

}  // namespace depthgrid
