#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/processes.hpp"
#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "sweeps/compare/two_stage_intervals.hpp"
#include "sweeps/page/page_curves.hpp"
#include "sweeps/page/probe_sights.hpp"
#include "sweeps/page/resume_seams.hpp"
#include "sweeps/page/target_steps.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// What a page is asked of a sweep.
struct PageQuery {
  ComparisonQuery comparison = {};  // `by`: the factors; empty: each leaf that varies
  std::string filter = {};          // which cells take part, as in `results`; empty: all
  bool all_plans = false;           // the listing has cells of other plans, too: said by commands
};

/// What a page may say beyond numbers: words of `--include`.
struct PageInclusions {
  bool logs = false;    // texts of failures, as they were logged
  bool tokens = false;  // texts of tokens of a corpus
};

/// Everything that the sections of a page are made of.
struct PageData {
  PageQuery query;
  std::string title;                // of the page: the sweep, and the stores if there are several
  std::vector<std::string> stores;  // last folder of each, made unique: as a page names them
  Listing listing;                  // whose stores are these
  std::vector<std::size_t> rows;
  Comparison by_arm;                   // arms beside the baseline
  std::vector<Comparison> by_store;    // the same within each store; empty if there is one alone
  std::optional<NoContrast> problem;   // of by_arm
  std::vector<TwoStageAnswer> staged;  // by stores whose seeds --until-ci has chosen
  /// Each leaf that varies, at most a few, as one family; no effects if there is none.
  Comparison factors;
  PageCurves curves;
  std::optional<TargetSteps> steps;  // to what every completed cell has reached
  ProbeSights probes;
  std::vector<LossSeam> seams;  // of the cells that were interrupted
  PageInclusions include;
};

/// Names for stores that say nothing of where they are: the last folder of each; of several of one
/// name, "name (1)", "name (2)".
std::vector<std::string> store_names(const std::vector<std::string>& folders);

/// Reads what a page needs. @param progress  called with (cells read, cells), often.
/// @throws UserError as compare_cells(); StorageError.
PageData page_data(Listing listing, const PageQuery& query, const PageInclusions& include,
                   const std::function<void(std::size_t, std::size_t)>& progress = {});

/// The worker's answer on which texts probes measure a cell.
struct TokenTexts {
  std::string set_sha256;           // of the whole probe set
  std::vector<std::string> tokens;  // of its first sequence
};

/// @throws Error if it is no such answer.
TokenTexts parse_token_texts(std::string_view answer);

/// Gives masks of the same probe set the texts of their tokens; of another set they keep none, and
/// ProbeSights::no_tokens says so.
void add_token_texts(ProbeSights& sights, const TokenTexts& texts);

/// Asks the worker beside this program, once for each probe set. Where it cannot answer, its
/// message is on stderr and ProbeSights::no_tokens says what is missing.
void ask_token_texts(const Listing& listing, ProbeSights& sights,
                     const Processes& processes = real_processes());

}  // namespace depthgrid
