#include "sweeps/page/page_sections.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sweeps/page/page_commands.hpp"

namespace depthgrid {
namespace {

constexpr std::array kSections = {
    PageSection{"answer", "The answer", answer_section},
    PageSection{"stores", "Each store by itself", stores_section},
    PageSection{"factors", "Factors", factors_section},
    PageSection{"curves", "Learning curves", curves_section},
    PageSection{"steps", "Steps to a target", steps_section},
    PageSection{"cost", "What it costs", cost_section},
    PageSection{"depth", "Along depth", depth_section},
    PageSection{"training", "Along training", training_section},
    PageSection{"routing", "Which tokens are executed", routing_section},
    PageSection{"control", "The control signal", control_section},
    PageSection{"missing", "What is missing, and why", missing_section},
    PageSection{"provenance", "Where it comes from", provenance_section},
};

}  // namespace

std::span<const PageSection> page_sections() {
  return kSections;
}

std::vector<PagePart> page_parts(const PageData& data) {
  std::vector<PagePart> out;
  for (const PageSection& section : kSections) {
    PageBlocks blocks = section.content(data);
    std::size_t tables = 0;
    for (PageBlock& block : blocks) {
      if (auto* const chart = std::get_if<PageChart>(&block)) {
        if (chart->command.empty()) chart->command = picture_command(data);
      }
      if (auto* const table = std::get_if<PageTable>(&block)) {
        const std::size_t number = ++tables;
        if (table->id.empty()) table->id = fmt::format("{}-table-{}", section.id, number);
      }
    }
    if (!blocks.empty()) out.push_back({section.id, section.title, std::move(blocks)});
  }
  return out;
}

}  // namespace depthgrid
