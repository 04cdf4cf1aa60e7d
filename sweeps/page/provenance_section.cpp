#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/version.hpp"
#include "core/config/cell_config.hpp"
#include "core/config/schema.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/report/provenance_notes.hpp"
#include "sweeps/report/sweep_numbers.hpp"

namespace depthgrid {
namespace {

/// What a reader asks of any model and its training, also where it is the default.
constexpr std::array<std::string_view, 12> kAlwaysListed = {
    "data.corpus",     "data.seq_len",  "model.family",     "model.d_model",
    "model.n_layers",  "model.n_heads", "model.d_ff",       "model.vocab_size",
    "train.optimizer", "train.lr",      "train.batch_size", "train.steps"};

/// The leaves that all cells share: these, and all others that are no defaults. Folders of files
/// are left out, and so is what says how a run was made and not what.
Table shared_settings(const ValueMap& constant) {
  Table out{{{"setting of all cells"}, {"value"}}, {}};
  for (std::size_t leaf = 0; leaf < schema().size(); ++leaf) {
    const std::string path(schema()[leaf].path);
    const Value* const value = find_key(constant, path);
    if (value == nullptr || value->is_null()) continue;
    const bool always = std::ranges::find(kAlwaysListed, path) != kAlwaysListed.end();
    const bool listed = schema()[leaf].leaf_class != LeafClass::Execution &&
                        default_value(leaf) != *value && !default_value(leaf).is_null();
    if (always || listed || schema()[leaf].names_file)
      out.rows.push_back({path, without_folders(plain_text(*value))});
  }
  return out;
}

}  // namespace

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
  if (Table shared = shared_settings(listing.constant); !shared.rows.empty())
    blocks.emplace_back(PageTable{"settings of all cells", std::move(shared), false});
  if (std::string notes = provenance_notes(listing, data.rows); !notes.empty()) {
    blocks.emplace_back(PageText{PageText::Kind::Note, std::move(notes)});
  }
  add_blocks(blocks, seam_blocks(listing, data.seams));
  return blocks;
}

}  // namespace depthgrid
