#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/data/labels/label_table.hpp"
#include "core/data/labels/sentence_labels.hpp"

namespace depthgrid {

/// What a corpus is labelled by: leaves `model.control.names` and `train.control.labels`.
struct LabelOptions {
  std::vector<std::string> names;   // (c)
  std::string source = "rules";     // word of the leaf
  std::filesystem::path file = {};  // of `file` or `scores`
  std::vector<std::string> command = {};
  double timeout_s = 3600;
  Terminator terminator = Terminator::Spaced;
  bool sentences = true;             // segments end with sentences; else spans are segments
  std::optional<LabelMap> map = {};  // none: as the kind of each attribute says
};
LabelOptions label_options(const CellConfig& config);

/// Of a user's classifier, what the process that asks it knows.
struct CommandPlace {
  std::filesystem::path cache = {};  // folder of its answers
  std::function<bool()> stop = {};   // see ScoreCommand
};

/// A text, and the beginning of it that is used: `data.train_tokens` leaves out the rest.
struct UsedText {
  std::string_view used, whole;
};

/// Scores the segments of texts.
class LabelSource {
 public:
  virtual ~LabelSource() = default;

  /// One for what is used of each text, in their order; the first is the training text.
  /// @param warnings  what a user should know is added to.
  /// @throws UserError with all that is wrong with the user's labels.
  virtual std::vector<ScoredText> scored(std::span<const UsedText> texts,
                                         std::vector<std::string>& warnings) const = 0;

  /// An attribute, from the scores of the training text.
  virtual Attribute fitted(std::size_t axis, RankTable ranks) const = 0;

  /// How its scores become u unless `train.control.labels.map` says so.
  virtual LabelMap map_of(AttributeKind kind) const { return default_map(kind); }
};

/// @throws UserError (NoInput) or (BadData) for files that cannot be used.
std::unique_ptr<LabelSource> label_source(const LabelOptions& options, const CommandPlace& place);

/// Number of segments of a text that rules can label.
std::int64_t labelled_segments(std::string_view text, Terminator kind);

}  // namespace depthgrid
