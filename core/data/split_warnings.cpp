#include "core/data/split_warnings.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace depthgrid {
namespace {

struct OwnFile {
  std::string leaf;
  std::string sha256;
};

/// Of a text, in whatever format its file is.
const std::string& digest_of_text(const SourceFile& file) {
  return file.text_sha256.empty() ? file.sha256 : file.text_sha256;
}

/// Digests of the files of valid and test, where there are such.
std::vector<OwnFile> held_out_files(const Dataset& data, const DataOptions& options) {
  std::vector<OwnFile> out;
  const bool own = options.corpus.starts_with("file");
  if (own && !options.valid.empty() && data.files.size() > options.paths.size()) {
    out.push_back({"data.valid", digest_of_text(data.files.back())});
  } else if (!own && data.files.size() > 1) {
    out.push_back({data.files.back().path.filename().string(), digest_of_text(data.files.back())});
  }
  if (!data.test_file.sha256.empty()) out.push_back({"data.test", digest_of_text(data.test_file)});
  return out;
}

void add_equal_splits(const Dataset& data, const DataOptions& options,
                      std::vector<std::string>& out) {
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
  if (options.is_synthetic()) return;
  const std::size_t parts = std::min(options.paths.size(), data.files.size());
  for (std::size_t later = 1; options.corpus.starts_with("file") && later < parts; ++later) {
    for (std::size_t i = 0; i < later; ++i) {
      if (digest_of_text(data.files[later]) != digest_of_text(data.files[i])) continue;
      out.push_back(fmt::format(
          "corpus {}: '{}' and '{}' of data.path have the same contents (SHA-256 {}): a split that "
          "is cut from one is trained on in the other",
          data.corpus, data.files[i].path.string(), data.files[later].path.string(),
          digest_of_text(data.files[i]).substr(0, 12)));
    }
  }
  for (const OwnFile& own : held_out_files(data, options)) {
    const std::size_t own_texts = options.corpus.starts_with("file") ? options.paths.size() : 1;
    const std::size_t trained = std::min(own_texts, data.files.size());
    for (std::size_t i = 0; i < trained; ++i) {
      if (digest_of_text(data.files[i]) != own.sha256) continue;
      out.push_back(fmt::format(
          "corpus {}: {} is also trained on: its file has the contents of "
          "'{}' (SHA-256 {})",
          data.corpus, own.leaf, data.files[i].path.string(), own.sha256.substr(0, 12)));
    }
  }
}

/// Losses of a split that is shorter than one window are means over few tokens with little context.
void add_short_splits(const Dataset& data, const DataOptions& options,
                      std::vector<std::string>& out) {
  for (const Split split : {Split::Dev, Split::Valid, Split::Test}) {
    const std::int64_t size = data.split(split).size();
    if (size == 0 || size > options.seq_len) continue;
    out.push_back(fmt::format(
        "corpus {}: the split '{}' has {} tokens, fewer than one window of data.seq_len + 1 = {}: "
        "it is evaluated on this short window alone; use a longer text, larger shares of it "
        "(data.{}_fraction) or a smaller data.seq_len",
        options.corpus, name_of(split), size, options.seq_len + 1, name_of(split)));
  }
}

}  // namespace

std::vector<std::string> split_warnings(const Dataset& data, const DataOptions& options) {
  std::vector<std::string> out;
  add_equal_splits(data, options, out);
  add_short_splits(data, options, out);
  return out;
}

}  // namespace depthgrid
