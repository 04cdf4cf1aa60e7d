#include "core/train/control_batches.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/data/random_words.hpp"

namespace depthgrid {
namespace {

// Places of the draws of a window in its stream.
constexpr std::uint32_t kNeutral = 0, kOnset = 1, kBoundary = 2, kAsked = 3, kSign = 4;
constexpr std::uint32_t kKeep = 1024;      // + attempt * axes + axis
constexpr std::uint32_t kNoise = 1 << 20;  // + 2 * (segment in the window * axes + axis)
constexpr std::uint32_t kAttempts = 64;    // to keep an axis

std::vector<std::uint64_t> seeds_of(const std::vector<ControlBatches::Cell>& cells) {
  std::vector<std::uint64_t> out;
  for (const auto& cell : cells) out.push_back(cell.seed);
  return out;
}

std::vector<std::int64_t> first_steps_of(const std::vector<ControlBatches::Cell>& cells) {
  std::vector<std::int64_t> out;
  for (const auto& cell : cells) out.push_back(cell.first_step);
  return out;
}

/// Draws of one window.
class WindowDraw {
 public:
  WindowDraw(std::uint64_t seed, std::int64_t step, std::int64_t row)
      : random_(seed, "control"),
        step_(static_cast<std::uint32_t>(step)),
        row_(static_cast<std::uint32_t>(row)) {}

  double unit(std::uint32_t place) const { return random_.unit(place, row_, step_); }
  std::int64_t below(std::int64_t n, std::uint32_t place) const {
    return static_cast<std::int64_t>(
        random_.below(static_cast<std::uint64_t>(n), place, row_, step_));
  }
  /// Standard normal. Source: Box & Muller (1958).
  double normal(std::uint32_t place) const {
    const double radius = std::sqrt(-2 * std::log1p(-unit(place)));
    return radius * std::cos(2 * std::numbers::pi * unit(place + 1));
  }

 private:
  RandomWords random_;
  std::uint32_t step_, row_;
};

/// Which axes a window keeps: at least one.
std::vector<bool> kept_axes(const WindowDraw& draw, double keep, std::size_t axes) {
  std::vector<bool> kept(axes, false);
  for (std::uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    const auto first = kKeep + attempt * static_cast<std::uint32_t>(axes);
    for (std::size_t k = 0; k < axes; ++k) {
      kept[k] = draw.unit(first + static_cast<std::uint32_t>(k)) < keep;
    }
    if (std::ranges::find(kept, true) != kept.end()) return kept;
  }
  kept[static_cast<std::size_t>(draw.below(std::ssize(kept), kKeep - 1))] = true;
  return kept;
}

/// First input of the window whose u counts: behind one of the ends of segments in it, or the first
/// of all.
std::int64_t onset_of(const WindowDraw& draw, std::span<const std::int32_t> segment) {
  std::vector<std::int64_t> begins;  // inputs at which another segment is predicted
  for (std::size_t i = 2; i < segment.size(); ++i) {
    if (segment[i] != segment[i - 1]) begins.push_back(static_cast<std::int64_t>(i) - 1);
  }
  if (begins.empty()) return 0;
  return begins[static_cast<std::size_t>(draw.below(std::ssize(begins), kBoundary))];
}

}  // namespace

ControlDraws control_draws(const CellConfig& config) {
  const std::string& span = config.word("train.control.labels.span");
  const bool prefix = config.word("model.control.sites") == "token";
  return {.neutral = config.real("train.control.neutral"),
          .onset = config.real("train.control.onset"),
          .keep = config.real("train.control.keep"),
          .noise = config.real("train.control.noise"),
          .ternary = config.word("train.control.values") == "ternary",
          .window = span == "window" || prefix,
          .whole = prefix && span == "document"};
}

void draw_control(const ControlDraws& draws, const SentenceLabels& labels,
                  std::span<const AttributeKind> kinds, std::int64_t start, std::int64_t tokens,
                  std::uint64_t seed, std::int64_t step, std::int64_t row, std::span<float> out) {
  const auto axes = static_cast<std::size_t>(labels.axes);
  std::ranges::fill(out, 0.0F);
  const WindowDraw draw(seed, step, row);
  if (draw.unit(kNeutral) < draws.neutral) return;
  const std::vector<bool> kept = kept_axes(draw, draws.keep, axes);
  const std::span segment =
      std::span(labels.segment)
          .subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(tokens) + 1);
  const bool onset = !draws.window && draw.unit(kOnset) < draws.onset;
  const std::int64_t first = onset ? onset_of(draw, segment) : 0;
  const std::int32_t base = segment[1];
  const auto value = [&](float label, std::size_t k, std::int32_t at) {
    double u = label;
    if (draws.noise > 0 && kinds[k] == AttributeKind::Ordinal) {
      const auto place =
          kNoise + 2 * (static_cast<std::uint32_t>(at - base) * static_cast<std::uint32_t>(axes) +
                        static_cast<std::uint32_t>(k));
      u = std::clamp(u + draws.noise * draw.normal(place), -1.0, 1.0);
    }
    return static_cast<float>(draws.ternary ? std::round(u) : u);
  };
  const auto label = [&](std::int32_t at, std::size_t k) {
    return labels.u[static_cast<std::size_t>(at) * axes + k];
  };
  if (draws.whole && segment[1] != segment.back()) return;
  if (draws.window) {
    for (std::size_t k = 0; k < axes; ++k) {
      double sum = 0;
      for (std::size_t i = 1; i < segment.size(); ++i) {
        const float one = label(segment[i], k);
        sum += std::isnan(one) ? 0 : one;
      }
      const auto mean = static_cast<float>(sum / static_cast<double>(tokens));
      if (kept[k] && mean != 0) out[k] = value(mean, k, base);
    }
    return;
  }
  for (std::int64_t i = first; i < tokens; ++i) {
    const std::int32_t at = segment[static_cast<std::size_t>(i) + 1];
    const auto here = out.subspan(static_cast<std::size_t>(i) * axes, axes);
    if (i > first && at == segment[static_cast<std::size_t>(i)]) {  // of the same segment
      std::ranges::copy(out.subspan(static_cast<std::size_t>(i - 1) * axes, axes), here.begin());
      continue;
    }
    for (std::size_t k = 0; k < axes; ++k) {
      const float one = label(at, k);
      if (kept[k] && !std::isnan(one)) here[k] = value(one, k, at);
    }
  }
}

ControlBatches::ControlBatches(TokenStream stream, Sampler sampler, std::vector<Cell> cells,
                               std::vector<AttributeKind> kinds, ContrastedRows contrasted)
    : text_(stream, sampler, seeds_of(cells), first_steps_of(cells)),
      sampler_(sampler),
      cells_(std::move(cells)),
      kinds_(std::move(kinds)),
      contrasted_(std::move(contrasted)) {
  for (const Cell& cell : cells_) {
    if (std::ssize(cell.labels->segment) != stream.size()) {
      throw Error("labels of another text than the training tokens");
    }
  }
}

Batch ControlBatches::batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const {
  Batch out = text_.batch(step, first_row, rows);
  const auto axes = std::ssize(kinds_);
  const std::int64_t tokens = sampler_.seq_len();
  const std::int64_t each = cells_.front().draws.window ? 1 : tokens;
  const at::Tensor u = at::zeros({std::ssize(cells_), rows, each, axes});
  auto* to = u.data_ptr<float>();
  std::vector<std::int64_t> starts(static_cast<std::size_t>(rows));
  const auto length = static_cast<std::size_t>(each * axes);
  for (const Cell& cell : cells_) {
    const std::int64_t turn = cell.first_step + step - 1;
    sampler_.starts(cell.seed, turn, first_row, starts);
    for (std::int64_t r = 0; r < rows; ++r, to += length) {
      draw_control(cell.draws, *cell.labels, kinds_, starts[static_cast<std::size_t>(r)], tokens,
                   cell.seed, turn, first_row + r, {to, length});
    }
  }
  out.control.u = u;
  const std::int64_t asked = std::clamp<std::int64_t>(contrasted_.rows - first_row, 0, rows);
  if (asked > 0) out.contrast = contrast(step, first_row, asked);
  return out;
}

Contrast ControlBatches::contrast(std::int64_t step, std::int64_t first_row,
                                  std::int64_t rows) const {
  const std::int64_t cells = std::ssize(cells_), tokens = sampler_.seq_len();
  const auto axes = kinds_.size();
  Contrast out{at::zeros({cells, rows, tokens}, at::kLong), at::full({cells, rows, tokens}, -1.0F),
               at::zeros({cells, rows}, at::kLong), at::zeros({cells, rows})};
  auto* sentence = out.sentence.data_ptr<std::int64_t>();
  auto* axis = out.axis.data_ptr<std::int64_t>();
  float *label = out.label.data_ptr<float>(), *wanted = out.wanted.data_ptr<float>();
  std::vector<std::int64_t> starts(static_cast<std::size_t>(rows));
  for (std::size_t e = 0; e < cells_.size(); ++e) {
    const Cell& cell = cells_[e];
    const std::vector<std::size_t>& own = contrasted_.axes[contrasted_.axes.size() > 1 ? e : 0];
    const std::int64_t turn = cell.first_step + step - 1;
    sampler_.starts(cell.seed, turn, first_row, starts);
    for (std::int64_t r = 0; r < rows; ++r, sentence += tokens, label += tokens) {
      const WindowDraw draw(cell.seed, turn, first_row + r);
      const bool labelled = !own.empty();
      const std::size_t k =
          labelled ? own[static_cast<std::size_t>(draw.below(std::ssize(own), kAsked))] : 0;
      *axis++ = static_cast<std::int64_t>(k);
      *wanted++ = draw.unit(kSign) < 0.5 ? 1.0F : -1.0F;
      const std::int32_t* of =
          cell.labels->segment.data() + starts[static_cast<std::size_t>(r)] + 1;
      std::int64_t number = 0;
      for (std::int64_t t = 0; t < tokens; ++t) {
        number += t > 0 && of[t] != of[t - 1] ? 1 : 0;  // segments without a token have none
        sentence[t] = number;
        if (!labelled) continue;
        label[number] = cell.labels->positive[static_cast<std::size_t>(of[t]) * axes + k];
      }
    }
  }
  return out;
}

std::int64_t contrasted_rows(const CellConfig& config) {
  bool any = false;
  for (const char* term : {"contrastive", "attribute", "anchor"}) {
    any = any || config.real(std::string("train.control.") + term) > 0;
  }
  if (!any) return 0;
  const auto batch = static_cast<double>(config.integer("train.batch_size"));
  const double share = config.real("train.control.contrastive_rows");
  return std::max<std::int64_t>(1, std::llround(share * batch));
}

}  // namespace depthgrid
