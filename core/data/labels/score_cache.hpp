#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// What a command has answered to texts, kept in a file.
///
/// One file for each argument vector and list of names: a line that says what it holds, with the
/// SHA-256 of the rest, then a line for each text. It is written under a temporary name and renamed
/// into place, and checked to the last byte when it is read: a damaged file counts as absent, with
/// a warning. A folder that cannot be written costs a warning and the next run's time, nothing
/// else. Of two processes that write at once, the later one's file stays.
///
/// A program that gives other answers under the same arguments is not noticed, unless what changed
/// is a file that they name (ScoreCommand::versions): remove its file, or give the program an
/// argument that says its version.
class ScoreCache {
 public:
  /// Reads what is there. @param folder  made when first needed; empty = nothing is kept.
  ScoreCache(const std::filesystem::path& folder, const std::vector<std::string>& argv,
             const std::vector<std::string>& names);

  /// SHA-256 of argument vector, names and text, in 64 hexadecimal digits.
  std::string key(std::string_view text) const;

  /// The scores (names) of a key; null if there are none.
  const std::vector<double>* find(const std::string& key) const;

  void add(const std::string& key, std::span<const double> scores);

  /// Writes the file, or warns that it cannot be written.
  void keep() const;

  /// Empty without a folder.
  const std::filesystem::path& file() const noexcept { return file_; }

 private:
  std::string head(std::string_view body) const;
  void read();

  std::vector<std::string> argv_, names_;
  std::string identity_;  // of these two
  std::filesystem::path file_;
  std::map<std::string, std::vector<double>> scores_;  // by key
};

}  // namespace depthgrid
