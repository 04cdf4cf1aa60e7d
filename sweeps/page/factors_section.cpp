#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/compare/compare_notes.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "sweeps/page/effects_blocks.hpp"
#include "sweeps/page/effects_charts.hpp"
#include "sweeps/page/page_commands.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/page/variance_blocks.hpp"

namespace depthgrid {
namespace {

/// One factor; where no contrast has a number, the reason.
void add_factor(PageBlocks& out, const PageData& data, const EffectTable& effects,
                const std::string& id, const std::string& command) {
  out.emplace_back(PageText{PageText::Kind::Heading, effects.title()});
  Comparison alone = data.factors;
  alone.effects = {effects};
  const bool unpaired = std::ranges::any_of(
      effects.rows, [](const ComparedRow& row) { return row.evidence && row.evidence->unpaired; });
  const auto problem = no_contrast(data.listing, data.rows, alone);
  if (problem && !unpaired) {
    out.emplace_back(PageText{PageText::Kind::Problem, problem->sentence + ".", "No contrast:"});
    add_notes(out, left_out_notes(effects));
    return;
  }
  add_blocks(out, effects_blocks(data.factors, effects, id, command));
}

}  // namespace

PageBlocks factors_section(const PageData& data) {
  const Comparison& all = data.factors;
  std::vector<const EffectTable*> tables;
  std::vector<std::string> titles, factors;
  for (const EffectTable& effects : all.effects) {
    if (effects.exploratory) continue;
    tables.push_back(&effects);
    titles.push_back(effects.title());
    factors.push_back(effects.factor);
  }
  if (tables.empty()) return {};
  const std::string command = compare_command(data, factors);
  PageBlocks out;
  if (all.family > 0) {
    out.emplace_back(PageText{
        PageText::Kind::Paragraph,
        fmt::format("One family: the {} contrast{} of {}. Holm's p and the intervals for all at "
                    "once are of all of them together; the arms above are a family of their own.",
                    all.family, all.family == 1 ? "" : "s", fmt::join(titles, ", "))});
  }
  if (tables.size() > 1) {
    if (auto chart = family_chart(all, "factors-family", command)) {
      out.emplace_back(std::move(*chart));
    }
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    add_factor(out, data, *tables[i], fmt::format("factor-{}", i), command);
  }
  for (std::size_t i = 0; i < all.variance.size(); ++i) {
    const VarianceTable& variance = all.variance[i];
    PageBlocks blocks = variance_blocks(all, variance, fmt::format("factors-{}", i), command);
    if (blocks.empty()) continue;
    if (!variance.b.empty()) {
      out.emplace_back(
          PageText{PageText::Kind::Heading, fmt::format("{} × {}", variance.a, variance.b)});
    }
    add_blocks(out, std::move(blocks));
  }
  add_blocks(out, single_level_blocks(all));
  add_notes(out, without_figure_note(all) + common_notes(all, false));
  out.emplace_back(PageText{PageText::Kind::Command, command});
  return out;
}

}  // namespace depthgrid
