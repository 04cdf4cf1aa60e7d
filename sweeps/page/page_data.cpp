#include "sweeps/page/page_data.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/subprocess.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostFactors = 4;

std::string last_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code none;
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  if (!name.empty() && name != "." && name != "..") return name;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, none), none);
  return whole.has_filename() ? whole.filename().string() : "store";
}

/// The leaves that vary, unless there are so many that the sweep is a list of arms, no grid.
std::vector<std::string> varied_leaves(const Listing& listing,
                                       const std::vector<std::size_t>& rows) {
  std::vector<std::string> out;
  for (const std::string& name : factor_names(listing)) {
    const bool follows =
        std::ranges::find(listing.matched, name, &MatchedWidth::leaf) != listing.matched.end();
    if (follows) continue;  // the factor whose width it matches
    const Design design = design_of(listing, rows, name);
    const auto levels = std::ranges::count_if(
        design.groups, [](const ComparedGroup& group) { return group.level.has_value(); });
    if (!design.of_arms() && levels > 1) out.push_back(name);
  }
  if (out.size() > kMostFactors) out.clear();
  return out;
}

}  // namespace

std::vector<std::string> store_names(const std::vector<std::string>& folders) {
  std::vector<std::string> out;
  std::map<std::string, int> uses, used;
  for (const std::string& folder : folders) ++uses[out.emplace_back(last_folder(folder))];
  for (std::string& name : out) {
    if (uses[name] > 1) name += fmt::format(" ({})", ++used[name]);
  }
  return out;
}

PageData page_data(Listing listing, const PageQuery& asked, const PageInclusions& include,
                   const std::function<void(std::size_t, std::size_t)>& progress) {
  PageData out;
  out.query = asked;
  out.include = include;
  out.listing = listing;  // that of the argument knows where the stores are
  out.stores = store_names(listing.stores.empty() ? std::vector<std::string>{listing.store}
                                                  : listing.stores);
  out.listing.store = out.stores.front();
  if (!listing.stores.empty()) out.listing.stores = out.stores;
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    out.listing.cells[row].damage = damage_without_folders(listing, row);
  }
  out.title = listing.sweep;
  if (out.stores.size() > 1) out.title += fmt::format(": {}", fmt::join(out.stores, ", "));
  out.rows = select_cells(listing, {"", asked.filter});
  ComparisonQuery arms = asked.comparison;
  arms.by = {"arm"};
  add_time_origins(listing, out.rows, arms);
  out.by_arm = compare_cells(out.listing, out.rows, arms);
  for (std::size_t store = 0; out.stores.size() > 1 && store < out.stores.size(); ++store) {
    std::vector<std::size_t> rows = out.rows;
    std::erase_if(rows, [&](std::size_t row) { return listing.store_of_cell[row] != store; });
    out.by_store.push_back(compare_cells(out.listing, rows, arms));
  }
  out.problem = no_contrast(out.listing, out.rows, out.by_arm, asked.filter);
  out.staged = two_stage_answers(
      listing, two_stage_question(listing, out.by_arm, out.rows, asked.comparison.allowed));
  ComparisonQuery factors = asked.comparison;
  factors.times = arms.times;
  factors.baseline.clear();
  if (factors.by.empty()) factors.by = varied_leaves(out.listing, out.rows);
  std::erase(factors.by, "arm");
  if (!factors.by.empty()) out.factors = compare_cells(out.listing, out.rows, factors);
  out.curves = page_curves(listing, out.stores, out.by_arm, progress);
  if (metric_with_curve(out.by_arm.metric) == out.curves.metric) {
    out.steps =
        target_steps(out.listing, out.rows, asked.comparison, out.by_arm, out.curves.completed);
  }
  const std::vector<ComparedRow>& groups = out.by_arm.effects.front().rows;
  out.probes = probe_sights(listing, groups);
  out.seams = resume_seams(listing, out.rows);
  if (include.tokens) ask_token_texts(listing, out.probes);
  return out;
}

TokenTexts parse_token_texts(std::string_view answer) {
  try {
    const nlohmann::json json = parse_json(answer);
    TokenTexts out{json.at("probe_set_sha256"), {}};
    if (!json.at("sequences").empty()) json.at("sequences").at(0).get_to(out.tokens);
    return out;
  } catch (const nlohmann::json::exception& e) {
    throw Error(fmt::format("depthgrid-worker tokens: {}", e.what()));
  }
}

void add_token_texts(ProbeSights& sights, const TokenTexts& texts) {
  sights.no_tokens.clear();
  for (SeenMask& seen : sights.masks) {
    if (seen.mask.set_sha256 == texts.set_sha256 && texts.tokens.size() == seen.mask.positions) {
      seen.tokens = texts.tokens;
    }
    if (!seen.tokens.empty()) continue;
    sights.no_tokens =
        "the store does not say which tokens its probes saw, or its corpus has other ones now";
  }
}

void ask_token_texts(const Listing& listing, ProbeSights& sights, const Processes& processes) {
  const std::string worker = program_beside("depthgrid-worker").string();
  std::set<std::string> asked;
  for (std::size_t i = 0; i < sights.masks.size(); ++i) {
    const SeenMask& seen = sights.masks[i];
    if (!seen.tokens.empty() || !asked.insert(seen.mask.set_sha256).second) continue;
    const TokensCommand command{listing.store_of(seen.row), listing.cells[seen.row].id};
    try {
      const CommandAnswer answer =
          processes.ask(own_question({worker, "tokens", command_json(command)}), "");
      if (answer.code == 0) {
        add_token_texts(sights, parse_token_texts(answer.out));
        continue;
      }
    } catch (const Error&) {  // it could not be started, or is of another build
    }
    sights.no_tokens = "the corpus of these cells could not be read when the page was made";
    return;
  }
}

}  // namespace depthgrid
