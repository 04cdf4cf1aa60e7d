#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/version.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/report/provenance_notes.hpp"
#include "sweeps/report/sweep_numbers.hpp"

namespace depthgrid {

PageBlocks provenance_section(const PageData& data) {
  const Listing& listing = data.listing;
  std::set<std::string> codes, settings, audits;
  std::int64_t attempts = 0, damages = 0;
  for (const std::size_t row : data.rows) {
    const CellSummary& cell = listing.cells[row];
    if (!cell.code.empty()) codes.insert(cell.code);
    if (!cell.settings.empty()) settings.insert(cell.settings);
    if (!cell.code.empty()) audits.insert(cell.audit.empty() ? "passed" : cell.audit);
    attempts += cell.attempts;
    damages += cell.damages_met;
  }
  const SweepNumbers numbers = sweep_numbers(listing);
  Table out{{{"what"}, {"value"}}, {}};
  const auto add = [&out](const char* what, const std::string& value) {
    if (!value.empty()) out.rows.push_back({what, value});
  };
  add("sweep", listing.sweep);
  if (data.stores.size() > 1) add("stores", fmt::format("{}", fmt::join(data.stores, ", ")));
  add("cells that take part", data.query.filter);
  add("cells", std::to_string(data.rows.size()));
  add("attempts", std::to_string(attempts));
  add("trained by", fmt::format("{}", fmt::join(codes, "; ")));
  add("settings", fmt::format("{}", fmt::join(settings, "; ")));
  add("audits", fmt::format("{}", fmt::join(audits, "; ")));
  add("used", short_seconds(numbers.used));
  add("lost to interruptions", short_seconds(numbers.lost));
  if (damages > 0) add("damaged files met", std::to_string(damages));
  add("page made by", "depthgrid " + code_version());
  PageBlocks blocks = {PageTable{"provenance", std::move(out), false}};
  if (std::string notes = provenance_notes(listing, data.rows); !notes.empty()) {
    blocks.emplace_back(PageText{PageText::Kind::Note, std::move(notes)});
  }
  return blocks;
}

}  // namespace depthgrid
