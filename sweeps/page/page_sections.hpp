#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/page/page_block.hpp"
#include "sweeps/page/page_data.hpp"

namespace depthgrid {

/// A part of the page. A new kind of result brings its picture as a row of the table.
struct PageSection {
  std::string_view id, title;
  /// Empty: the store has nothing of the kind, and there is no such section.
  PageBlocks (*content)(const PageData& data);
};

/// All sections, in the order of the page: the answer first.
std::span<const PageSection> page_sections();

/// A section with its content.
struct PagePart {
  std::string_view id, title;
  PageBlocks blocks;
};

/// The sections that have a content. Their tables have names ("missing-table-1"), their pictures a
/// command.
std::vector<PagePart> page_parts(const PageData& data);

PageBlocks answer_section(const PageData& data);
PageBlocks stores_section(const PageData& data);
PageBlocks factors_section(const PageData& data);
PageBlocks curves_section(const PageData& data);
PageBlocks steps_section(const PageData& data);
PageBlocks depth_section(const PageData& data);
PageBlocks training_section(const PageData& data);
PageBlocks routing_section(const PageData& data);
PageBlocks control_section(const PageData& data);
PageBlocks cost_section(const PageData& data);
PageBlocks missing_section(const PageData& data);
PageBlocks provenance_section(const PageData& data);

/// The curves of single cells for the script of the page, as JSON.
std::string curves_json(const PageData& data);

}  // namespace depthgrid
