#include "core/data/tokenizers/word_tokenizer.hpp"

#include <algorithm>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

template <class Use>
void each_word(std::string_view text, const Use& use) {
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    use(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
}

}  // namespace

WordTokenizer::WordTokenizer(std::string_view train_text, std::int64_t vocab_size)
    : vocab_size_(vocab_size) {
  if (vocab_size < 2) throw Error("word: the vocabulary needs two ids at least");
  std::unordered_map<std::string_view, std::int64_t> count;
  each_word(train_text, [&](std::string_view word) { ++count[word]; });
  std::vector<std::pair<std::string_view, std::int64_t>> ranked(count.begin(), count.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (ranked.size() > static_cast<std::size_t>(vocab_size - 1)) {
    ranked.resize(static_cast<std::size_t>(vocab_size - 1));
  }
  for (const auto& [word, times] : ranked) {
    words_.emplace_back(word);
    id_.emplace(word, static_cast<std::uint32_t>(words_.size()));
  }
}

std::string WordTokenizer::identity() const {
  Sha256Stream digest;
  for (const std::string& word : words_) {
    digest.update(std::as_bytes(std::span(word)));
    digest.update(std::as_bytes(std::span("\n", 1)));
  }
  return "word " + hex(digest.finish());
}

void WordTokenizer::encode(std::string_view text, std::vector<std::uint32_t>& out) const {
  each_word(text, [&](std::string_view word) {
    const auto known = id_.find(word);
    out.push_back(known == id_.end() ? 0 : known->second);
  });
}

std::string WordTokenizer::decode(std::span<const std::uint32_t> ids) const {
  std::string text;
  for (const std::uint32_t id : ids) {
    if (id >= vocab_size_) {
      throw Error("word: id " + std::to_string(id) + " is not below " +
                  std::to_string(vocab_size_));
    }
    if (!text.empty()) text += ' ';
    text += id == 0 || id > words_.size() ? "<unk>" : words_[id - 1];
  }
  return text;
}

}  // namespace depthgrid
