#include "core/data/equal_splits.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace depthgrid {
namespace {

struct OwnFile {
  std::string_view leaf;
  std::string sha256;
};

/// Digests of the files of valid and test, where the user named some.
std::vector<OwnFile> held_out_files(const Dataset& data, const DataOptions& options) {
  std::vector<OwnFile> out;
  if (!options.valid.empty() && data.files.size() > options.paths.size()) {
    out.push_back({"data.valid", data.files.back().sha256});
  }
  if (!data.test_sha256.empty()) out.push_back({"data.test", data.test_sha256});
  return out;
}

}  // namespace

std::vector<std::string> equal_splits(const Dataset& data, const DataOptions& options) {
  std::vector<std::string> out;
  constexpr std::array kSplits = {Split::Train, Split::Dev, Split::Valid, Split::Test};
  const std::array<std::string, 4>& digests = data.split_sha256;
  for (std::size_t later = 1; later < kSplits.size(); ++later) {
    for (std::size_t i = 0; i < later; ++i) {
      if (digests[later].empty() || digests[later] != digests[i]) continue;
      out.push_back(fmt::format(
          "corpus {}: the splits '{}' and '{}' have the same tokens (SHA-256 "
          "{}): figures of one say nothing beyond the other",
          data.corpus, name_of(kSplits[i]), name_of(kSplits[later]), digests[i].substr(0, 12)));
    }
  }
  if (options.is_synthetic()) return out;
  for (const OwnFile& own : held_out_files(data, options)) {
    const std::size_t own_texts = options.corpus.starts_with("file") ? options.paths.size() : 1;
    const std::size_t trained = std::min(own_texts, data.files.size());
    for (std::size_t i = 0; i < trained; ++i) {
      if (data.files[i].sha256 != own.sha256) continue;
      out.push_back(fmt::format(
          "corpus {}: {} is also trained on: its file has the contents of "
          "'{}' (SHA-256 {})",
          data.corpus, own.leaf, data.files[i].path.string(), own.sha256.substr(0, 12)));
    }
  }
  return out;
}

}  // namespace depthgrid
