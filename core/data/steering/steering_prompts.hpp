#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

/// A text, and the words of which a signal on one axis shall make those of one set probable behind
/// it: u = +e_axis the positive ones, u = -e_axis the negative ones. Leaf
/// `train.steering.prompts`.
struct SteeringPrompt {
  std::size_t axis = 0;  // index in `model.control.names`
  bool heldout = false;  // part: not trained on
  std::string prompt;
  // Not empty, no word twice or in both. As a text goes on with them: with the blank before a word.
  std::vector<std::string> positive, negative;
};

/// The published recipe: one prompt to train on, "The movie was", for axis 0, with " " against
/// " bad". In GPT-2's encoding these are the tokens 220, a bare blank, and 2089. It was meant to be
/// " good", which is 922, and is kept as it was published, since its figures are those of 220.
/// Source: second study, 2.2.
std::vector<SteeringPrompt> published_prompts();

/// Reads JSONL with one prompt a line:
/// @code
/// {"axis": "sentiment", "part": "train", "prompt": "The movie was",
///  "positive": [" good", " great"], "negative": [" bad", " poor"]}
/// @endcode
/// `part` is train or heldout. A prompt may stand in one part more than once: it then counts as
/// often.
/// @param place  names the text: "prompts.jsonl".
/// @param names  of the axes, in their order.
/// @param others_allowed  records of other axes are passed over; else each is a mistake.
/// @return  in the order of the lines.
/// @throws UserError (BadData) with all mistakes by line: members that are missing, unknown or of
///         another type, other axes and parts, an empty prompt, word or set, a word twice in a set
///         or in both sets, a prompt of an axis in both parts; and axes that have no prompt to
///         train on; or if the text is blank.
std::vector<SteeringPrompt> read_steering_prompts(std::string_view jsonl, const std::string& place,
                                                  const std::vector<std::string>& names,
                                                  bool others_allowed);

/// The same of a user's file, whose records are all of these axes.
/// @throws UserError (NoInput) if it cannot be read, (BadData) also if it is no text.
std::vector<SteeringPrompt> read_steering_file(const std::filesystem::path& file,
                                               const std::vector<std::string>& names);

/// Text of configs/study2/steering_prompts.jsonl, compiled in: a generated source defines it.
std::string_view builtin_steering_jsonl();

/// Those of the built-in prompts that are of these axes: 60 to train on and 60 held out for each.
/// @throws UserError (Usage) for an axis that they do not have, naming those that they have.
std::vector<SteeringPrompt> builtin_prompts(const std::vector<std::string>& names);

/// A SteeringPrompt in the tokens of a model.
struct SteeringTokens {
  std::size_t axis = 0;
  bool heldout = false;
  std::vector<std::uint32_t> prompt;              // one at least
  std::vector<std::uint32_t> positive, negative;  // one at least each, distinct and disjoint
};

/// The prompts that a cell with `train.task: steering` is trained and asked by.
/// @param tokenizer  of its text; null: there is none. @throws UserError: see the readers, and
///         steering_tokens(); (Usage) without a tokeniser, and for prompts that are longer than the
///         model has positions.
std::vector<SteeringTokens> steering_tokens_of(const CellConfig& config,
                                               const Tokenizer* tokenizer);

/// A word is one token that stands for no other word: not the unknown word, nor an id that several
/// characters share. Unknown words within a prompt are allowed, as they are in the training text.
/// @param tokenizer  of the model's text.
/// @param whole_set  false: of each set, its first word only (`train.steering.mass: token`).
/// @return  in the order of `prompts`.
/// @throws UserError (BadData) with all mistakes: words that are not one known token, of one set or
///         of both the same token, prompts without tokens, and a prompt of an axis that in tokens
///         is the same in both parts.
std::vector<SteeringTokens> steering_tokens(const std::vector<SteeringPrompt>& prompts,
                                            const Tokenizer& tokenizer, bool whole_set);

/// Tokens of the longest prompt; 0 of none. A model needs as many positions.
std::int64_t longest_prompt(const std::vector<SteeringTokens>& prompts) noexcept;

}  // namespace depthgrid
