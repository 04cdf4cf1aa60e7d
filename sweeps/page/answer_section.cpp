#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/json_text.hpp"
#include "sweeps/compare/compare_notes.hpp"
#include "sweeps/compare/two_stage_report.hpp"
#include "sweeps/page/answer_sentence.hpp"
#include "sweeps/page/effects_blocks.hpp"
#include "sweeps/page/effects_charts.hpp"
#include "sweeps/page/page_commands.hpp"
#include "sweeps/page/page_sections.hpp"

namespace depthgrid {
namespace {

PageText answer_text(PageText::Kind kind, std::string text, std::string lead = {}) {
  return {kind, std::move(text), std::move(lead)};
}

/// What the figures are, and what does not matter.
std::string metric_words(const Comparison& arms) {
  const std::string unit = arms.unit.empty() ? "" : " in " + arms.unit;
  std::string out = fmt::format("{}{}: {} is better.", arms.metric, unit,
                                arms.goal == "maximize" ? "higher" : "lower");
  if (arms.margin) {
    out += fmt::format(" A difference within δ = ± {}{} does not matter.", shortest(*arms.margin),
                       arms.unit.empty() ? "" : " " + arms.unit);
  }
  if (arms.sees_future) {
    out += " It is of a pass that sees later tokens: no figure of a language model.";
  }
  return out;
}

/// Over what the figures of several stores are averaged.
std::string pooled_words(const Comparison& arms) {
  const bool averaged = !arms.effects.empty() && !arms.effects.front().others.empty();
  return averaged ? fmt::format(
                        "The answer is of all together, seed by seed a mean over the "
                        "combinations of {}; below stands each store by itself.",
                        fmt::join(arms.effects.front().others, ", "))
                  : "Below stands each store by itself, too.";
}

/// Intervals by the rule that has chosen the number of seeds. A damaged record has a place in what
/// it says, so that only `compare` says it.
void add_staged(PageBlocks& out, const PageData& data) {
  for (const TwoStageAnswer& answer : data.staged) {
    if (!answer.damage.empty()) {
      out.emplace_back(answer_text(PageText::Kind::Note,
                                   "The record of --until-ci is damaged: depthgrid compare says "
                                   "how, and what to do."));
      continue;
    }
    out.emplace_back(answer_text(PageText::Kind::Note, two_stage_headline(answer.record) + "."));
    if (!answer.not_shown.empty()) {
      out.emplace_back(answer_text(PageText::Kind::Note, answer.not_shown));
      continue;
    }
    out.emplace_back(
        PageTable{"intervals by the rule of two stages", two_stage_table(data.listing, answer)});
    if (const std::string closing = two_stage_closing(answer); !closing.empty()) {
      out.emplace_back(answer_text(PageText::Kind::Note, closing + "."));
    }
  }
}

}  // namespace

PageBlocks answer_section(const PageData& data) {
  const Comparison& arms = data.by_arm;
  PageBlocks out;
  if (!data.listing.description.empty() && data.stores.size() == 1) {
    out.emplace_back(answer_text(PageText::Kind::Question, data.listing.description));
  }
  const bool groups = !arms.effects.empty() && !arms.effects.front().rows.empty();
  if (data.problem) {
    out.emplace_back(
        answer_text(PageText::Kind::Problem, data.problem->sentence + ".", "No verdict:"));
  } else if (groups) {
    out.emplace_back(
        answer_text(PageText::Kind::Answer, answer_sentence(arms, arms.effects.front())));
  }
  out.emplace_back(answer_text(PageText::Kind::Paragraph, metric_words(arms)));
  add_notes(out, other_questions_note(data.listing, arms));
  if (data.stores.size() > 1) {
    out.emplace_back(
        answer_text(PageText::Kind::Paragraph,
                    fmt::format("Cells of the stores {}: a cell that several have is one. {}",
                                fmt::join(data.stores, ", "), pooled_words(arms))));
  }
  if (!groups) return out;
  const EffectTable& effects = arms.effects.front();
  const std::string command = compare_command(data, {});
  out.emplace_back(means_chart(arms, effects, "answer-means", command));
  add_blocks(out, effects_blocks(arms, effects, "answer", command));
  add_notes(out, without_figure_note(arms) + common_notes(arms, false));
  add_staged(out, data);
  out.emplace_back(answer_text(PageText::Kind::Command, command));
  return out;
}

}  // namespace depthgrid
