#include "sweeps/page/probe_sights.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>

#include "storage/cells/cell_result.hpp"
#include "storage/store.hpp"
#include "sweeps/page/probe_pictures.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostProbedArms = 16;
constexpr std::size_t kMostProbedCells = 20;  // of an arm
constexpr std::size_t kMostMaskedArms = 4;

/// Entries that all cells have, in the order of the first; and how many only some have.
struct CommonEntries {
  std::vector<std::string> names;
  std::size_t partial = 0;
};

CommonEntries common_entries(const std::vector<CellProfile>& cells,
                             std::vector<std::string> CellProfile::* entries) {
  CommonEntries out;
  std::set<std::string> any;
  for (const CellProfile& cell : cells) any.insert((cell.*entries).begin(), (cell.*entries).end());
  for (const std::string& name : cells.front().*entries) {
    const bool in_all = std::ranges::all_of(cells, [&](const CellProfile& cell) {
      return std::ranges::find(cell.*entries, name) != (cell.*entries).end();
    });
    if (in_all) out.names.push_back(name);
  }
  out.partial = any.size() - out.names.size();
  return out;
}

std::size_t index_in(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

/// Adds the mean and the range over the cells at one place.
void add_place(ArmSight& out, const std::vector<CellProfile>& cells, const std::string& line,
               const std::string& name) {
  double sum = 0, low = kNaN, high = kNaN;
  for (const CellProfile& cell : cells) {
    const std::size_t at =
        index_in(cell.lines, line) * cell.names.size() + index_in(cell.names, name);
    const double value = cell.values[at];
    sum += value;
    low = std::isnan(low) ? value : std::min(low, value);
    high = std::isnan(high) ? value : std::max(high, value);
  }
  const bool whole = std::isfinite(sum);
  out.mean.push_back(whole ? sum / static_cast<double>(cells.size()) : kNaN);
  out.low.push_back(whole ? low : kNaN);
  out.high.push_back(whole ? high : kNaN);
}

/// The completed cells of an arm that are read, in the order of the listing.
std::vector<std::size_t> probed_cells(const Listing& listing, const ComparedGroup& group,
                                      std::size_t& unread) {
  std::vector<std::size_t> out;
  for (const std::size_t row : group.cells) {
    if (listing.cells[row].status != CellStatus::Completed) continue;
    if (out.size() < kMostProbedCells) {
      out.push_back(row);
    } else {
      ++unread;
    }
  }
  return out;
}

std::optional<TokenMask> mask_of(const TableReader& result) {
  auto out = read_token_mask(result, "routing_mask", 0);
  return out ? out : read_token_mask(result, "routing_capacity_mask", 0);
}

}  // namespace

ArmSight sight_of(std::size_t arm, const std::vector<CellProfile>& cells) {
  ArmSight out;
  out.arm = arm;
  out.seeds = cells.size();
  for (const CellProfile& cell : cells) {
    out.first_step = std::fmin(out.first_step, cell.step);
    out.last_step = std::fmax(out.last_step, cell.step);
  }
  CommonEntries names = common_entries(cells, &CellProfile::names);
  out.partial = names.partial;
  out.names = std::move(names.names);
  out.lines = common_entries(cells, &CellProfile::lines).names;
  const CellProfile& first = cells.front();
  for (const std::string& name : out.names) out.at.push_back(first.at[index_in(first.names, name)]);
  for (const std::string& line : out.lines) {
    for (const std::string& name : out.names) add_place(out, cells, line, name);
  }
  return out;
}

ProbeSights probe_sights(const Listing& listing, const std::vector<ComparedRow>& groups) {
  const std::span<const ProbePicture> pictures = probe_pictures();
  std::vector<ProfileRequest> requests;
  for (const ProbePicture& picture : pictures) requests.push_back(picture.of);
  ProbeSights out;
  out.pictures.resize(pictures.size());
  out.arms = groups.size();
  out.arms_read = std::min(groups.size(), kMostProbedArms);
  out.most_cells = kMostProbedCells;
  for (std::size_t arm = 0; arm < out.arms_read; ++arm) {
    std::vector<std::vector<CellProfile>> found(pictures.size());
    bool masked = out.masks.size() == kMostMaskedArms;
    for (const std::size_t row : probed_cells(listing, groups[arm].group, out.unread_cells)) {
      const CellId& id = listing.cells[row].id;
      try {
        const Store store = Store::open(listing.store_of(row));
        const TableReader result =
            open_cell_file(store.cell_path(id) / "result.h5", id, "", store.fs());
        auto profiles = read_cell_profiles(result, requests);
        for (std::size_t p = 0; p < profiles.size(); ++p) {
          if (profiles[p]) found[p].push_back(*std::move(profiles[p]));
        }
        if (masked) continue;
        auto mask = mask_of(result);
        masked = mask.has_value();
        if (mask) out.masks.push_back({arm, row, *std::move(mask)});
      } catch (const StorageError&) {
        continue;  // its damage is named where the cell is
      }
    }
    for (std::size_t p = 0; p < found.size(); ++p) {
      if (!found[p].empty()) out.pictures[p].push_back(sight_of(arm, found[p]));
    }
  }
  return out;
}

}  // namespace depthgrid
