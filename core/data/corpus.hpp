#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/axis_labels.hpp"
#include "core/data/data_options.hpp"

namespace depthgrid {

/// One raw file that a corpus was read from.
struct SourceFile {
  std::filesystem::path path;
  std::int64_t bytes = 0;
  std::string sha256;
  std::string read_as = {};      // see text_format.hpp
  std::string text_sha256 = {};  // of the text in it; empty = as sha256
};

/// The texts of a corpus, cut into splits and joined as `data.join` says.
struct Corpus {
  std::array<std::string, 4> texts;  // by Split; empty = no such split
  std::vector<SourceFile> files;     // in the order read, the test text excluded
  std::string sha256;                // of the raw files, see combined_sha256()
  std::string test_sha256;           // of the user's test text, empty if there is none
  SourceFile test;                   // that text's file
  std::string variant;               // known variant of the text by its digest, may be empty

  const std::string& text(Split split) const { return texts[static_cast<std::size_t>(split)]; }
};

/// Reads wikitext-2, tiny-shakespeare, self or the user's text files.
///
/// Published splits (wikitext-2) are kept; dev is the last `dev_fraction` of train's lines. A
/// corpus of one text is cut into train, dev, valid and test, in this order, where dev, valid and
/// test are the shares `dev_fraction`, `valid_fraction` and `test_fraction` of its lines (see
/// cut_tail()).
/// @param frozen_self_text  text of `self` as kept in a store; null = read it from the sources.
/// @param utf8              check that the texts are UTF-8.
/// @throws UserError (NoInput) for missing files, (BadData) for files that are not text, (Usage)
///         for an unknown corpus.
Corpus read_corpus(const DataOptions& options, const std::string* frozen_self_text, bool utf8);

/// The text of a file that `leaf` names; of JSONL, its text fields (options.text_key). Adds the
/// file to `files`.
/// @param utf8  check that it is UTF-8.
/// @throws UserError (NoInput) for a missing file, (BadData) for contents that are no text, blank
/// or
///         tokenised.
std::string user_text(const std::filesystem::path& file, std::string_view leaf,
                      const DataOptions& options, bool utf8, std::vector<SourceFile>& files);

/// Lines of `text` as the second study joins them: blank lines dropped, the others with their
/// newline and one more newline in between.
std::string join_published_2(std::string_view text);

/// digest_of_all() of the text_digest() of each file.
std::string combined_sha256(const std::vector<SourceFile>& files);
/// The same of their bytes alone, as stores were pinned until format 2.0.
std::string combined_bytes(const std::vector<SourceFile>& files);

}  // namespace depthgrid
