#include <algorithm>
#include <functional>
#include <unordered_map>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/data/tokenizers/tokenizer_kinds.hpp"
#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {
namespace {

template <class Use>
void each_word(std::string_view text, const Use& use) {
  std::size_t begin = 0;  // of the word that is being read
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t before = at;
    const std::int32_t code = next_code_point(text, at);
    if (code < 0) throw Error("word: the text is not UTF-8");
    if (!is_white_space(code)) continue;
    if (before > begin) use(text.substr(begin, before - begin));
    begin = at;
  }
  if (begin < text.size()) use(text.substr(begin));
}

class WordTokenizer final : public Tokenizer {
 public:
  WordTokenizer(std::string_view train_text, std::int64_t vocab_size) : vocab_size_(vocab_size) {
    if (vocab_size < 2) throw Error("word: the vocabulary needs two ids at least");
    std::unordered_map<std::string_view, std::int64_t> count;
    each_word(train_text, [&](std::string_view word) { ++count[word]; });
    std::vector<std::pair<std::string_view, std::int64_t>> ranked(count.begin(), count.end());
    std::ranges::sort(ranked, [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    ranked.resize(std::min(ranked.size(), static_cast<std::size_t>(vocab_size - 1)));
    for (const auto& [word, times] : ranked) add(word);
  }

  WordTokenizer(const std::vector<std::string>& words, std::int64_t vocab_size)
      : vocab_size_(vocab_size) {
    for (const std::string& word : words) add(word);
  }

  std::string identity() const override {
    Sha256Stream digest;
    for (const std::string& word : words_) {
      digest.update(std::as_bytes(std::span(word)));
      digest.update(std::as_bytes(std::span("\n", 1)));
    }
    return "word " + hex(digest.finish());
  }

  std::int64_t vocab_size() const override { return vocab_size_; }
  std::vector<std::string> vocabulary() const override { return words_; }

  std::vector<std::uint32_t> encode(std::string_view text) const override {
    std::vector<std::uint32_t> ids;
    each_word(text, [&](std::string_view word) {
      const auto known = id_.find(word);
      ids.push_back(known == id_.end() ? 0 : known->second);
    });
    return ids;
  }

 private:
  void add(std::string_view word) {
    words_.emplace_back(word);
    id_.emplace(word, static_cast<std::uint32_t>(words_.size()));
  }

  struct Hash {  // lets string_view look words up without a copy
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const noexcept {
      return std::hash<std::string_view>{}(word);
    }
  };

  void append(std::uint32_t id, std::string& text) const override {
    if (!text.empty()) text += ' ';
    text += id == 0 || id > words_.size() ? "<unk>" : words_[id - 1];
  }

  std::int64_t vocab_size_;
  std::vector<std::string> words_;  // of id i + 1
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> id_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_word_tokenizer(const TokenizerOptions& options,
                                               std::string_view train_text) {
  if (options.vocabulary.empty()) {
    return std::make_unique<WordTokenizer>(train_text, options.word_vocab_size);
  }
  return std::make_unique<WordTokenizer>(options.vocabulary, options.word_vocab_size);
}

}  // namespace depthgrid
