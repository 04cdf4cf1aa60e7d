#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace depthgrid {

/// A file cache of the worker's expensive answers, one file per answer, for one build and one
/// instruction set: audits check the kernels of that, and times are theirs.
///
/// Two builds of one commit may differ, for example while sources are edited, so the key contains
/// the size and time of the worker's file as well as the version. A cache that cannot be read or
/// written only costs time.
class AnswerCache {
 public:
  /// @param folder  see cache_folder(); empty = keep nothing.
  AnswerCache(const std::filesystem::path& worker, std::filesystem::path folder);

  /// @param asked  what the answer depends on besides the build.
  /// @return  nothing if there is no such answer, or if it cannot be read.
  std::optional<std::string> find(std::string_view asked) const;
  /// Replaces the answer; creates the folder.
  void keep(std::string_view asked, std::string_view answer) const;

 private:
  std::filesystem::path file_of(std::string_view asked) const;

  std::filesystem::path folder_;
  std::string build_;
};

/// $XDG_CACHE_HOME/depthgrid/NAME, or the same under ~/.cache; empty if there is neither.
std::filesystem::path cache_folder(const std::filesystem::path& name);

}  // namespace depthgrid
