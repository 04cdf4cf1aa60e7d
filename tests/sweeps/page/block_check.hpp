#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "sweeps/page/page_block.hpp"

namespace depthgrid {

/// Null without a picture of that id.
inline const PageChart* chart_named(const PageBlocks& blocks, std::string_view id) {
  for (const PageBlock& block : blocks) {
    const auto* const chart = std::get_if<PageChart>(&block);
    if (chart != nullptr && chart->id == id) return chart;
    const auto* const live = std::get_if<PageLive>(&block);
    if (live != nullptr && live->chart.id == id) return &live->chart;
  }
  return nullptr;
}

/// Null without a table whose caption begins so.
inline const PageTable* table_named(const PageBlocks& blocks, std::string_view caption) {
  for (const PageBlock& block : blocks) {
    const auto* const table = std::get_if<PageTable>(&block);
    if (table != nullptr && table->caption.starts_with(caption)) return table;
  }
  return nullptr;
}

/// The texts, each on a line behind its lead.
inline std::string words_of(const PageBlocks& blocks) {
  std::string out;
  for (const PageBlock& block : blocks) {
    const auto* const text = std::get_if<PageText>(&block);
    if (text != nullptr) out += text->lead + (text->lead.empty() ? "" : " ") + text->text + "\n";
  }
  return out;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace depthgrid
