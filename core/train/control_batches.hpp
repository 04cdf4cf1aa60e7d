#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/data/labels/sentence_labels.hpp"
#include "core/train/batch_source.hpp"

namespace depthgrid {

/// How the windows of a cell get their signal: leaves `train.control`.
struct ControlDraws {
  double neutral = 0.3;  // share of windows with u = 0
  double onset = 0.5;    // of the others: u = 0 before the end of a sentence in them
  double keep = 0.5;     // chance of an axis to be kept
  double noise = 0.05;   // standard deviation, of ordinal attributes
  bool ternary = false;  // u is the nearest of -1, 0 and 1
  bool window = false;   // one u for a window, the mean over its tokens
  bool whole = false;    // with `window`: only of one that lies in one segment; others are neutral
};
ControlDraws control_draws(const CellConfig& config);

/// The signal of one window: a pure function of its place in the text and of (seed, step, row).
///
/// u at input i belongs to the segment of token i + 1, the one that is predicted there, as decided
/// from the tokens up to i. Unlabelled segments and axes that are not kept have u = 0.
/// @param kinds   (c); noise is for ordinal attributes.
/// @param start   index of the window's first token in the text.
/// @param tokens  T.
/// @param seed    of the data order. @param step  of that order. @param row  global row.
/// @param out     (T, c), or (c) if `draws.window`.
/// Source: second study, 3.2; guidance without a condition: Ho & Salimans (2022), arXiv 2207.12598.
void draw_control(const ControlDraws& draws, const SentenceLabels& labels,
                  std::span<const AttributeKind> kinds, std::int64_t start, std::int64_t tokens,
                  std::uint64_t seed, std::int64_t step, std::int64_t row, std::span<float> out);

/// The rows of a global batch whose sentences are distinguished: see Contrast.
struct ContrastedRows {
  std::int64_t rows = 0;  // the first of them; 0: none
  /// (E), or (1) for all cells: which are asked about. Of a cell without any no label is given.
  std::vector<std::vector<std::size_t>> axes;
};

/// Windows of a text, each under a signal made of the labels of its sentences.
class ControlBatches final : public BatchSource {
 public:
  struct Cell {
    ControlDraws draws;
    std::shared_ptr<const SentenceLabels> labels;  // of the training tokens
    std::uint64_t seed = 0;                        // data seed
    std::int64_t first_step = 0;                   // of the order of windows
  };

  /// @param cells  (E). @param kinds  (c).
  ControlBatches(TokenStream stream, Sampler sampler, std::vector<Cell> cells,
                 std::vector<AttributeKind> kinds, ContrastedRows contrasted = {});

  /// Windows as of TextBatches; u (E, rows, T, c), or (E, rows, 1, c) if it covers a window.
  Batch batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const override;
  std::int64_t tokens() const override { return sampler_.seq_len(); }

 private:
  /// Of rows [first_row, ...) as far as they are contrasted.
  Contrast contrast(std::int64_t step, std::int64_t first_row, std::int64_t rows) const;

  TextBatches text_;
  Sampler sampler_;
  std::vector<Cell> cells_;
  std::vector<AttributeKind> kinds_;
  ContrastedRows contrasted_;
};

/// Rows of a global batch on which the further terms of `train.control` are computed: the share
/// `train.control.contrastive_rows`, one at least; 0 if no such term has a weight.
std::int64_t contrasted_rows(const CellConfig& config);

}  // namespace depthgrid
