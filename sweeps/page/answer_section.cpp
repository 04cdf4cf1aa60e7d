#include <string>
#include <utility>

#include <fmt/format.h>

#include "sweeps/page/effects_blocks.hpp"
#include "sweeps/page/page_sections.hpp"

namespace depthgrid {
namespace {

PageText command_line(const PageData& data, const std::string& options) {
  return {PageText::Kind::Command, "depthgrid compare " + data.listing.sweep + options};
}

void append(PageBlocks& out, PageBlocks blocks) {
  for (PageBlock& block : blocks) out.push_back(std::move(block));
}

}  // namespace

PageBlocks answer_section(const PageData& data) {
  const Comparison& arms = data.by_arm;
  PageBlocks out;
  if (!data.listing.description.empty()) {
    out.emplace_back(PageText{PageText::Kind::Question, data.listing.description});
  }
  out.emplace_back(PageText{
      PageText::Kind::Paragraph,
      fmt::format("{}{}: {} is better.{}", arms.metric, arms.unit.empty() ? "" : " in " + arms.unit,
                  arms.goal == "maximize" ? "higher" : "lower",
                  arms.sees_future
                      ? " It is of a pass that sees later tokens: no figure of a language model."
                      : "")});
  if (data.problem) {
    out.emplace_back(
        PageText{PageText::Kind::Problem, data.problem->sentence + ".", "No verdict:"});
  }
  if (arms.effects.empty() || arms.effects.front().rows.empty()) return out;
  const EffectTable& effects = arms.effects.front();
  out.emplace_back(means_chart(arms, effects, "answer-means"));
  append(out, effects_blocks(arms, effects, "answer"));
  out.emplace_back(command_line(data, ""));
  return out;
}

PageBlocks factors_section(const PageData& data) {
  PageBlocks out;
  for (std::size_t i = 0; i < data.by_factor.size(); ++i) {
    const Comparison& one = data.by_factor[i];
    const EffectTable& effects = one.effects.front();
    out.emplace_back(PageText{PageText::Kind::Heading, effects.factor});
    append(out, effects_blocks(one, effects, fmt::format("factor-{}", i)));
    for (const VarianceTable& variance : one.variance) {
      if (!variance.refused.empty()) continue;
      out.emplace_back(
          PageText{PageText::Kind::Paragraph,
                   fmt::format("Share of variance, the seed as block: η² {:.3g}, ω² {:.3g}.",
                               variance.effects.a.eta2, variance.effects.a.omega2)});
    }
    out.emplace_back(command_line(data, " --by " + effects.factor));
  }
  return out;
}

}  // namespace depthgrid
