#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sweeps/compare/arms_notes.hpp"
#include "sweeps/page/page_sections.hpp"

namespace depthgrid {

namespace {

/// Why a cell has no figure, in numbers of the store; texts of logs only if the page may have them.
std::string missing_reason(const CellSummary& cell, bool logs) {
  if (cell.status == CellStatus::Diverged) {
    const auto loss = cell.metrics.find("train_loss");  // one that is not finite is absent
    return loss == cell.metrics.end()
               ? fmt::format("loss not finite at step {}", cell.step)
               : fmt::format("diverged at step {}, training loss {:.6g}", cell.step, loss->second);
  }
  return logs ? cell.problem : std::string();
}

}  // namespace

PageBlocks missing_section(const PageData& data) {
  Table out{{{"cell"}, {"state"}, {"step", Align::Right}, {"of", Align::Right}, {"reason"}}, {}};
  bool hidden = false;  // a reason
  std::array<std::size_t, 7> counts{};
  constexpr std::size_t kMost = 200;
  std::size_t more = 0;
  for (const std::size_t row : data.rows) {
    const CellSummary& cell = data.listing.cells[row];
    ++counts[static_cast<std::size_t>(cell.status)];
    if (cell.status == CellStatus::Completed) continue;
    if (out.rows.size() == kMost) {
      ++more;
      continue;
    }
    std::vector<std::string> line = {cell.alias, std::string(name_of(cell.status)),
                                     std::to_string(cell.step), std::to_string(cell.steps),
                                     missing_reason(cell, data.include.logs)};
    hidden = hidden || (!data.include.logs && !cell.problem.empty());
    out.rows.push_back(std::move(line));
  }
  const auto text = [](PageText::Kind kind, std::string words) {
    return PageText{kind, std::move(words)};
  };
  using enum PageText::Kind;
  if (out.rows.empty()) return {text(Paragraph, "Nothing: every cell has completed.")};
  PageBlocks blocks = {text(Paragraph, fmt::format("Not in any mean: {}.", missing_text(counts))),
                       PageTable{"cells without a result", std::move(out), false}};
  if (more > 0) blocks.emplace_back(text(Note, fmt::format("And {} more.", more)));
  if (hidden) {
    blocks.emplace_back(
        text(Note, "Reasons of failures are text of logs: --include logs shows them here."));
  }
  return blocks;
}

}  // namespace depthgrid
