#include "core/data/steering/steering_prompts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/config/text_format.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/labels/json_records.hpp"
#include "core/data/labels/words.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 5> kPromptMembers{"axis", "part", "prompt", "positive",
                                                         "negative"};
constexpr std::array<std::string_view, 2> kPromptParts{"train", "heldout"};
constexpr const char* kBuiltinPlace = "the built-in prompts";

/// A member that is a text, not empty; nothing, and a mistake, if it is none.
std::optional<std::string> text_member(const nlohmann::json& record, const std::string& member,
                                       const std::string& where, RecordMistakes& mistakes) {
  const auto found = record.find(member);
  if (found == record.end()) {
    mistakes.add(where, fmt::format("no member '{}': expected a text", member));
    return std::nullopt;
  }
  if (!found->is_string() || found->get_ref<const std::string&>().empty()) {
    mistakes.add(where + ": " + member,
                 fmt::format("{} is no text, or an empty one", shown_value(*found)));
    return std::nullopt;
  }
  return found->get<std::string>();
}

/// A member that is a list of words, without those that are wrong.
std::vector<std::string> words_member(const nlohmann::json& record, const std::string& member,
                                      const std::string& where, RecordMistakes& mistakes) {
  std::vector<std::string> words;
  const auto found = record.find(member);
  if (found == record.end()) {
    mistakes.add(where, fmt::format("no member '{}': expected a list of words", member));
    return words;
  }
  const std::string place = where + ": " + member;
  if (!found->is_array() || found->empty()) {
    mistakes.add(place,
                 fmt::format("{} is no list of words, or an empty one", shown_value(*found)));
    return words;
  }
  for (std::size_t i = 0; i < found->size(); ++i) {
    const nlohmann::json& word = (*found)[i];
    const std::string at = fmt::format("{}[{}]", place, i);
    if (!word.is_string() || word.get_ref<const std::string&>().empty()) {
      mistakes.add(at, fmt::format("{} is no word", shown_value(word)));
    } else if (std::ranges::find(words, word.get_ref<const std::string&>()) != words.end()) {
      mistakes.add(at, fmt::format("{} twice in one set: it would count twice", shown_value(word)));
    } else {
      words.push_back(word.get<std::string>());
    }
  }
  return words;
}

/// Where each prompt of an axis stands first, to find those of both parts. @tparam Text  or ids.
template <class Text>
class PartsOfPrompts {
 public:
  /// The place in the other part that this one repeats, if it does.
  std::optional<std::string> other(std::size_t axis, const Text& text, bool heldout,
                                   const std::string& where) {
    const auto [at, fresh] =
        places_.try_emplace(std::pair(axis, text), std::array<std::optional<std::string>, 2>());
    std::array<std::optional<std::string>, 2>& parts = at->second;
    if (!parts[heldout ? 1 : 0]) parts[heldout ? 1 : 0] = where;
    return parts[heldout ? 0 : 1];
  }

 private:
  std::map<std::pair<std::size_t, Text>, std::array<std::optional<std::string>, 2>> places_;
};

/// Reads the records of a text one after another.
class PromptReader {
 public:
  PromptReader(const std::vector<std::string>& names, bool others_allowed)
      : names_(names), others_allowed_(others_allowed), trained_(names.size(), false) {}

  void take(const std::string& where, const nlohmann::json& record, RecordMistakes& mistakes) {
    const auto axis = text_member(record, "axis", where, mistakes);
    const auto at = axis ? std::ranges::find(names_, *axis) : names_.end();
    if (axis && at == names_.end()) {
      if (others_allowed_) return;
      mistakes.add(where + ": axis", fmt::format("unknown name '{}'; known: {}",
                                                 text_opening(*axis), fmt::join(names_, ", ")));
    }
    refuse_other_members(record, kPromptMembers, where, mistakes);
    const auto part = text_member(record, "part", where, mistakes);
    const bool known_part = part && std::ranges::find(kPromptParts, *part) != kPromptParts.end();
    if (part && !known_part) {
      mistakes.add(where + ": part",
                   fmt::format("unknown part '{}'; known: {}", text_opening(*part),
                               fmt::join(kPromptParts, ", ")));
    }
    const auto prompt = text_member(record, "prompt", where, mistakes);
    SteeringPrompt out;
    out.positive = words_member(record, "positive", where, mistakes);
    out.negative = words_member(record, "negative", where, mistakes);
    for (const std::string& word : out.negative) {
      if (std::ranges::find(out.positive, word) == out.positive.end()) continue;
      mistakes.add(where, fmt::format("{} is in both sets", quoted_opening(word)));
    }
    if (!known_part || at == names_.end()) return;
    out.axis = static_cast<std::size_t>(at - names_.begin());
    out.heldout = *part == kPromptParts[1];
    if (!out.heldout) trained_[out.axis] = true;
    if (!prompt) return;
    out.prompt = *prompt;
    if (const auto other = parts_.other(out.axis, out.prompt, out.heldout, where)) {
      mistakes.add(where, fmt::format("prompt {} of axis '{}' is in the other part at {}: what is "
                                      "held out is not trained on",
                                      quoted_opening(out.prompt), *at, *other));
    }
    prompts_.push_back(std::move(out));
  }

  void refuse_untrained(const std::string& place, RecordMistakes& mistakes) const {
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (trained_[k]) continue;
      mistakes.add(place, fmt::format("no prompt of part train for axis '{}'", names_[k]));
    }
  }

  std::vector<SteeringPrompt> prompts() && { return std::move(prompts_); }

 private:
  const std::vector<std::string>& names_;
  bool others_allowed_;
  std::vector<bool> trained_;  // (axes)
  PartsOfPrompts<std::string> parts_;
  std::vector<SteeringPrompt> prompts_;
};

/// Axes of the built-in prompts, in the order of their first ones.
std::vector<std::string> builtin_axes() {
  std::vector<std::string> names;
  RecordMistakes mistakes;
  each_json_record(
      builtin_steering_jsonl(), kBuiltinPlace,
      [&](const std::string& where, const nlohmann::json& record, RecordMistakes& wrong) {
        const auto axis = text_member(record, "axis", where, wrong);
        if (axis && std::ranges::find(names, *axis) == names.end()) names.push_back(*axis);
      },
      mistakes);
  return names;
}

/// The id of each word, reported once for each that has none.
class WordIds {
 public:
  WordIds(const Tokenizer& tokenizer, RecordMistakes& mistakes)
      : tokenizer_(tokenizer), mistakes_(mistakes) {}

  std::optional<std::uint32_t> id(const std::string& word) {
    const auto [at, fresh] = ids_.try_emplace(word);
    if (fresh) at->second = found(word);
    return at->second;
  }

 private:
  std::optional<std::uint32_t> found(const std::string& word) {
    const std::string where = "word " + quoted_opening(word);
    const std::vector<std::uint32_t> ids = tokenizer_.encode(word);
    if (ids.size() != 1) {
      mistakes_.add(where, fmt::format("{} tokens: expected one", ids.size()));
      return std::nullopt;
    }
    // Tokenisers give what they do not know an id of its own, which decodes to another text. Those
    // of words drop the white space around one.
    std::string_view inner;
    each_word_of(word, [&](std::size_t begin, std::size_t end) {
      inner = std::string_view(word).substr(begin, end - begin);
    });
    const std::string meant = tokenizer_.decode(ids);
    if (meant == word || meant == inner) return ids.front();
    mistakes_.add(where, fmt::format("not in the vocabulary: its token stands for {}",
                                     quoted_opening(meant)));
    return std::nullopt;
  }

  const Tokenizer& tokenizer_;
  RecordMistakes& mistakes_;
  std::map<std::string, std::optional<std::uint32_t>> ids_;
};

/// The ids of words. @param seen  the words of the prompt's ids so far: two words
/// of one id would count its probability twice, or for both signs.
std::vector<std::uint32_t> ids_of_words(std::span<const std::string> words, WordIds& ids,
                                        std::map<std::uint32_t, std::string>& seen,
                                        const std::string& where, RecordMistakes& mistakes) {
  std::vector<std::uint32_t> out;
  for (const std::string& word : words) {
    const auto id = ids.id(word);
    if (!id) continue;
    const auto [at, fresh] = seen.try_emplace(*id, word);
    if (fresh) {
      out.push_back(*id);
    } else {
      mistakes.add(where, fmt::format("the words {} and {} are one token",
                                      quoted_opening(at->second), quoted_opening(word)));
    }
  }
  return out;
}

}  // namespace

std::vector<SteeringPrompt> published_prompts() {
  return {{.axis = 0,
           .heldout = false,
           .prompt = "The movie was",
           .positive = {" "},
           .negative = {" bad"}}};
}

std::vector<SteeringPrompt> read_steering_prompts(std::string_view jsonl, const std::string& place,
                                                  const std::vector<std::string>& names,
                                                  bool others_allowed) {
  RecordMistakes mistakes;
  PromptReader reader(names, others_allowed);
  const std::int64_t records = each_json_record(
      jsonl, place,
      [&](const std::string& where, const nlohmann::json& record, RecordMistakes& wrong) {
        reader.take(where, record, wrong);
      },
      mistakes);
  if (records == 0) {
    throw UserError(ExitCode::BadData,
                    place + ": holds no prompts: expected one JSON object a line");
  }
  reader.refuse_untrained(place, mistakes);
  if (mistakes.count() > 0) {
    throw UserError(ExitCode::BadData, fmt::format("{}: {}", place, mistakes.text()));
  }
  return std::move(reader).prompts();
}

std::vector<SteeringPrompt> read_steering_file(const std::filesystem::path& file,
                                               const std::vector<std::string>& names) {
  const std::string bytes = read_corpus_file(file);
  const std::string why = unreadable_content(file, "jsonl", bytes, false);
  if (!why.empty()) throw UserError(ExitCode::BadData, why);
  return read_steering_prompts(without_mark(bytes), file.string(), names, false);
}

std::vector<SteeringPrompt> builtin_prompts(const std::vector<std::string>& names) {
  const std::vector<std::string> known = builtin_axes();
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) unknown.push_back("'" + name + "'");
  }
  if (!unknown.empty()) {
    throw UserError(ExitCode::Usage,
                    fmt::format("model.control.names: {} have no axis {}; known: {}: name these, "
                                "or give prompts of your own by train.steering.file",
                                kBuiltinPlace, fmt::join(unknown, ", "), fmt::join(known, ", ")));
  }
  return read_steering_prompts(builtin_steering_jsonl(), kBuiltinPlace, names, true);
}

std::vector<SteeringTokens> steering_tokens(const std::vector<SteeringPrompt>& prompts,
                                            const Tokenizer& tokenizer, bool whole_set) {
  RecordMistakes mistakes;
  WordIds ids(tokenizer, mistakes);
  PartsOfPrompts<std::vector<std::uint32_t>> parts;
  std::vector<SteeringTokens> out;
  for (const SteeringPrompt& one : prompts) {
    const std::string quoted = quoted_opening(one.prompt);
    const std::string where = "prompt " + quoted;
    std::map<std::uint32_t, std::string> seen;
    const auto set = [&](const std::vector<std::string>& words) {
      const std::size_t used = whole_set ? words.size() : std::min<std::size_t>(words.size(), 1);
      return ids_of_words(std::span(words).first(used), ids, seen, where, mistakes);
    };
    SteeringTokens tokens{.axis = one.axis,
                          .heldout = one.heldout,
                          .prompt = tokenizer.encode(one.prompt),
                          .positive = set(one.positive),
                          .negative = set(one.negative)};
    if (tokens.prompt.empty()) {
      mistakes.add(where, "no token");
    } else if (const auto other = parts.other(one.axis, tokens.prompt, one.heldout, quoted)) {
      mistakes.add(where, fmt::format("in tokens it is {} of the other part: what is held out is "
                                      "not trained on",
                                      *other));
    }
    out.push_back(std::move(tokens));
  }
  if (mistakes.count() > 0) {
    const std::string kind = tokenizer.identity();
    throw UserError(ExitCode::BadData,
                    fmt::format("train.steering.prompts: these prompts do not suit data.tokenizer: "
                                "{}; use gpt2, or words that are one token each: {}",
                                kind.substr(0, kind.find(' ')), mistakes.text()));
  }
  return out;
}

std::int64_t longest_prompt(const std::vector<SteeringTokens>& prompts) noexcept {
  std::int64_t longest = 0;
  for (const SteeringTokens& one : prompts) longest = std::max(longest, std::ssize(one.prompt));
  return longest;
}

std::vector<SteeringTokens> steering_tokens_of(const CellConfig& config,
                                               const Tokenizer* tokenizer) {
  if (tokenizer == nullptr) {
    throw UserError(ExitCode::Usage,
                    fmt::format("corpus {}: train.task: steering needs a text, whose tokens its "
                                "prompts are made of; this corpus has tokens alone",
                                config.word("data.corpus")));
  }
  const std::string& source = config.word("train.steering.prompts");
  const std::vector<std::string> names = config.names("model.control.names");
  const std::vector<SteeringPrompt> prompts =
      source == "published" ? published_prompts()
      : source == "file"    ? read_steering_file(config.word("train.steering.file"), names)
                            : builtin_prompts(names);
  auto tokens = steering_tokens(prompts, *tokenizer, config.word("train.steering.mass") == "set");
  // As many positions as a window of text has, or more.
  const std::int64_t positions =
      config.integer_if("model.max_seq_len").value_or(config.integer("data.seq_len"));
  if (longest_prompt(tokens) > positions) {
    throw UserError(ExitCode::Usage,
                    fmt::format("train.steering.prompts: the longest prompt has {} tokens, the "
                                "model {} positions: set data.seq_len to {} or more",
                                longest_prompt(tokens), positions, longest_prompt(tokens)));
  }
  return tokens;
}

}  // namespace depthgrid
