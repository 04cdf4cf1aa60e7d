#include "core/data/corpus.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/config/text_format.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/self_corpus.hpp"
#include "core/data/text_splits.hpp"
#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {
namespace {

/// Corpora with a folder of known files. Without a file for valid, train is the whole text.
struct NamedCorpus {
  std::string_view name, train, valid;
};
constexpr std::array<NamedCorpus, 2> kNamed{{
    {"wikitext-2", "train.txt", "valid.txt"},
    {"tiny-shakespeare", "input.txt", ""},
}};

/// Different texts that are published under one name.
struct KnownText {
  std::string_view sha256, variant;  // of the first file read
};
constexpr std::array<KnownText, 2> kKnownTexts{{
    {"95d391461f8b518e0dbe99ddf539b93799909340b89425b45c35483d3389f122",
     "wikitext-2 as cells of a table (quotes doubled), the first study's text"},
    {"86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
     "tiny-shakespeare, 1,115,394 bytes"},
}};

struct RawText {
  std::string text;
  SourceFile source;
};

RawText as_raw(const std::filesystem::path& file, std::string bytes, bool utf8) {
  RawText raw;
  raw.text = std::move(bytes);
  raw.source = {file, static_cast<std::int64_t>(raw.text.size()), hex(sha256(raw.text))};
  const std::size_t mark = raw.text.size() - without_mark(raw.text).size();
  raw.text.erase(0, mark);
  if (mark > 0) raw.source.text_sha256 = hex(sha256(raw.text));
  if (utf8) require_utf8(raw.text, file.string());
  return raw;
}

bool is_blank(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    if (!is_white_space(next_code_point(line, at))) return false;  // not UTF-8: not blank
  }
  return true;
}

[[noreturn]] void refuse(std::string_view leaf, const std::string& why) {
  throw UserError(ExitCode::BadData, fmt::format("{}: {}", leaf, why));
}

void refuse_blank(std::string_view leaf, const std::filesystem::path& file, std::string_view text) {
  if (!is_blank(text)) return;
  refuse(leaf, fmt::format("'{}' holds no text: a split must have some", file.string()));
}

/// A file of a named corpus. @throws UserError (BadData) for contents that are no text, or none.
RawText read_raw(const std::filesystem::path& file, bool utf8) {
  std::string bytes = read_corpus_file(file);
  const std::string why = unreadable_content(file, "auto", bytes, false);
  if (!why.empty()) refuse("data.path", why);
  RawText raw = as_raw(file, std::move(bytes), utf8);
  refuse_blank("data.path", file, raw.text);
  return raw;
}

/// The `text_key` field of every line of a JSONL text, each followed by a newline.
/// @throws UserError (BadData) naming the line.
std::string jsonl_text(std::string_view jsonl, const std::string& text_key,
                       const std::string& place) {
  std::string text;
  const std::string problem = each_record(jsonl, text_key, place, is_blank,
                                          [&text](const std::string& one) { text += one + "\n"; });
  if (!problem.empty()) throw UserError(ExitCode::BadData, problem);
  return text;
}

void put(Corpus& corpus, Split split, std::string_view text, bool join) {
  corpus.texts[static_cast<std::size_t>(split)] = join ? join_published_2(text) : std::string(text);
}

/// Cuts `text` into the splits that have no file of their own: train, dev, valid, test, in this
/// order. Shares refer to the whole text.
/// @param has_valid  valid has a file of its own.
void cut_text(Corpus& corpus, std::string_view text, const DataOptions& options, bool has_valid) {
  const std::string_view whole = text;
  const auto cut_off = [&](Split split, double fraction) {
    const TextCut cut = cut_tail(text, fraction, whole);
    put(corpus, split, cut.tail, options.join_published_2);
    text = cut.head;
  };
  if (options.test.empty()) cut_off(Split::Test, options.test_fraction);
  if (!has_valid) cut_off(Split::Valid, options.valid_fraction);
  cut_off(Split::Dev, options.published_split ? 0.0 : options.dev_fraction);
  put(corpus, Split::Train, text, options.join_published_2);
}

void read_named(Corpus& corpus, const NamedCorpus& named, const DataOptions& options, bool utf8) {
  if (options.paths.size() > 1) {
    throw UserError(ExitCode::Usage,
                    fmt::format("data.path: {} folders given; corpus {} is one folder (several "
                                "files need data.corpus: file)",
                                options.paths.size(), named.name));
  }
  const std::filesystem::path given = options.paths.empty() ? "" : options.paths.front();
  std::vector<std::string> names{std::string(named.train)};
  if (!named.valid.empty()) names.emplace_back(named.valid);
  const std::filesystem::path folder =
      find_corpus(std::string(named.name), names, "data.path", given);
  const RawText train = read_raw(folder / named.train, utf8);
  corpus.files.push_back(train.source);
  if (named.valid.empty()) {
    cut_text(corpus, train.text, options, false);
    return;
  }
  const RawText valid = read_raw(folder / named.valid, utf8);
  corpus.files.push_back(valid.source);
  put(corpus, Split::Valid, valid.text, options.join_published_2);
  cut_text(corpus, train.text, options, true);
}

void read_user_files(Corpus& corpus, const DataOptions& options, bool utf8) {
  if (options.paths.empty()) {
    throw UserError(ExitCode::Usage,
                    "data.corpus: file needs data.path: the text's file or a list of files");
  }
  std::string text;
  for (const std::filesystem::path& file : options.paths) {
    text += user_text(file, "data.path", options, utf8, corpus.files);
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  if (!options.valid.empty()) {
    put(corpus, Split::Valid, user_text(options.valid, "data.valid", options, utf8, corpus.files),
        options.join_published_2);
  }
  cut_text(corpus, text, options, !options.valid.empty());
}

void read_self(Corpus& corpus, const DataOptions& options, const std::string* frozen) {
  std::string loaded;
  if (frozen == nullptr) {
    loaded = load_self_text(options.paths.empty() ? "" : options.paths.front());
    frozen = &loaded;
  }
  require_utf8(*frozen, "the text of corpus 'self'");
  corpus.files.push_back({"self", static_cast<std::int64_t>(frozen->size()), hex(sha256(*frozen))});
  cut_text(corpus, *frozen, options, false);
}

template <class Digest>
std::string combined(const std::vector<SourceFile>& files, Digest digest) {
  std::vector<std::string> digests;
  for (const SourceFile& file : files) digests.push_back(digest(file));
  return digest_of_all(digests);
}

}  // namespace

std::string user_text(const std::filesystem::path& file, std::string_view leaf,
                      const DataOptions& options, bool utf8, std::vector<SourceFile>& files) {
  if (text_format(file, options.format) == TextFormat::Tokens) {
    refuse(leaf, "'" + file.string() + "' is tokenised: a text is needed here");
  }
  std::string bytes = read_corpus_file(file);
  const std::string why = unreadable_content(file, options.format, bytes, !utf8);
  if (!why.empty()) refuse(leaf, why);
  const std::string as(read_as(file, options.format, bytes));
  const RawText raw = as_raw(file, std::move(bytes), utf8);
  files.push_back(raw.source);
  files.back().read_as = as;
  std::string text = raw.text;
  if (text_format(file, options.format) == TextFormat::Jsonl) {
    text = jsonl_text(raw.text, options.text_key, file.string());
    files.back().text_sha256 = hex(sha256(text));
  }
  refuse_blank(leaf, file, text);
  return text;
}

std::string join_published_2(std::string_view text) {
  std::string joined;
  joined.reserve(text.size() + text.size() / 16);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = text.find('\n', at);
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    const std::string_view line = text.substr(at, end - at);
    at = end;
    if (is_blank(line)) continue;
    if (!joined.empty()) joined += '\n';
    joined += line;
  }
  return joined;
}

std::string combined_sha256(const std::vector<SourceFile>& files) {
  return combined(files,
                  [](const SourceFile& file) { return text_digest(file.sha256, file.read_as); });
}

std::string combined_bytes(const std::vector<SourceFile>& files) {
  return combined(files, [](const SourceFile& file) { return file.sha256; });
}

Corpus read_corpus(const DataOptions& options, const std::string* frozen_self_text, bool utf8) {
  Corpus corpus;
  const auto* const named =
      std::find_if(kNamed.begin(), kNamed.end(),
                   [&](const NamedCorpus& known) { return known.name == options.corpus; });
  if (named != kNamed.end()) {
    read_named(corpus, *named, options, utf8);
  } else if (options.corpus == "self") {
    read_self(corpus, options, frozen_self_text);
  } else if (options.corpus == "file" || options.corpus.starts_with("file:")) {
    read_user_files(corpus, options, utf8);
  } else {
    throw UserError(ExitCode::Usage,
                    fmt::format("data.corpus: unknown corpus '{}'; known: wikitext-2, "
                                "tiny-shakespeare, self, file, synthetic:markov, synthetic:copy, "
                                "synthetic:induction",
                                options.corpus));
  }
  if (!options.test.empty()) {
    std::vector<SourceFile> files;
    put(corpus, Split::Test, user_text(options.test, "data.test", options, utf8, files),
        options.join_published_2);
    corpus.test_sha256 = combined_sha256(files);
    corpus.test = files.front();
  }
  corpus.sha256 = combined_sha256(corpus.files);
  for (const KnownText& known : kKnownTexts) {
    if (known.sha256 == corpus.files.front().sha256) corpus.variant = known.variant;
  }
  return corpus;
}

}  // namespace depthgrid
