#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sweeps/page/page_data.hpp"

namespace depthgrid {

/// A part of the page. A new kind of result brings its picture as a row of the table.
struct PageSection {
  std::string_view id, title;
  /// Its content as HTML; empty: the store has nothing of the kind, and there is no such section.
  std::string (*content)(const PageData& data);
};

/// All sections, in the order of the page: the answer first.
std::span<const PageSection> page_sections();

std::string answer_section(const PageData& data);
std::string factors_section(const PageData& data);
std::string curves_section(const PageData& data);
std::string depth_section(const PageData& data);
std::string cost_section(const PageData& data);
std::string missing_section(const PageData& data);
std::string provenance_section(const PageData& data);

/// The curves of single cells for the script of the page, as JSON.
std::string curves_json(const PageData& data);

}  // namespace depthgrid
