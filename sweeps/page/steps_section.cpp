#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_text.hpp"
#include "sweeps/page/answer_sentence.hpp"
#include "sweeps/page/effects_blocks.hpp"
#include "sweeps/page/effects_charts.hpp"
#include "sweeps/page/page_commands.hpp"
#include "sweeps/page/page_sections.hpp"

namespace depthgrid {

PageBlocks steps_section(const PageData& data) {
  if (!data.steps) return {};
  const Comparison& steps = data.steps->comparison;
  const EffectTable& effects = steps.effects.front();
  const std::string command = compare_command(data, {}, "--target " + shortest(data.steps->target));
  PageBlocks out;
  out.emplace_back(PageText{
      PageText::Kind::Paragraph,
      fmt::format("How many steps each arm needs until {} is {}, which every completed cell of "
                  "the arms that are compared has reached. This is exploratory: the target is "
                  "chosen from these very curves, and the same cells are asked once more. Its "
                  "contrasts are no part of the answer's family; Holm's p is of this section "
                  "alone.",
                  data.curves.metric, shortest(data.steps->target))});
  if (std::string sentence = answer_sentence(steps, effects); !sentence.empty()) {
    out.emplace_back(PageText{PageText::Kind::Paragraph, std::move(sentence)});
  }
  out.emplace_back(means_chart(steps, effects, "steps-means", command));
  add_blocks(out, effects_blocks(steps, effects, "steps", command));
  add_notes(out, steps.note);
  add_notes(out, steps.lacking);
  out.emplace_back(PageText{PageText::Kind::Command, command});
  return out;
}

}  // namespace depthgrid
