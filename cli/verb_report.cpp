#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/compare_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/output.hpp"
#include "storage/files/publish.hpp"
#include "sweeps/page/report_page.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

PageInclusions inclusions_of(const CommandLine& line) {
  PageInclusions out;
  for (const std::string& word : line.words_of("include")) {
    if (word != "logs" && word != "tokens") {
      throw UserError(ExitCode::Usage, "--include " + word + ": logs or tokens was expected");
    }
    (word == "logs" ? out.logs : out.tokens) = true;
  }
  return out;
}

}  // namespace

int report_verb(const Arguments& arguments) {
  CommandLine line(
      "report [STORE…] -o FILE [--by NAME,…] [--metric NAME] [--margin δ]",
      "One HTML page of a sweep, to be read in a browser and to be mailed: the answer,\n"
      "effects with intervals, learning curves, costs, what is missing. It needs no\n"
      "network, and has no user, host, path or log text in it.");
  line.examples({"report results/h_mod -o h_mod.html", "report results/a results/b -o both.html"});
  line.arguments("STORE")
      .sweep_options()
      .text("store", "DIR", "store of the sweep file")
      .text("output,o", "FILE", "the page; a file that is there is replaced")
      .list("by", "NAME,...", "factors (default: each leaf that the sweep varies)")
      .text("baseline", "NAME", "arm or tag to compare with")
      .text("metric", "NAME", "a metric (default: the sweep's own)")
      .text("margin", "δ", "a difference that does not matter, in the unit of the metric")
      .list("allow", "WORD,...", "compare in spite of another order, clip, code or audit")
      .flag("all-plans", "cells of other plans of the store, too")
      .list("include", "WORD,...", "logs: why cells failed; tokens: texts of routing maps");
  if (!line.parse(arguments)) return 0;
  if (!line.has("output")) {
    throw UserError(ExitCode::Usage, "report: -o FILE is missing: where the page goes");
  }
  ComparisonQuery query;
  query.by = line.words_of("by");
  query.baseline = line.text_of("baseline");
  query.metric = line.text_of("metric");
  query.allowed = line.words_of("allow");
  if (line.has("margin")) query.margin = margin_of(line);
  Listing listing = compared_listing(line);
  require_stores(listing, "report");
  const PageData data = page_data(std::move(listing), query, inclusions_of(line));
  const std::filesystem::path file = line.text_of("output");
  const std::string page = report_page(data);
  publish_replace(file, page);
  tell(fmt::format("{}: {}, {} cells\n", file.string(),
                   short_bytes(static_cast<double>(page.size())), data.rows.size()));
  return 0;
}

}  // namespace depthgrid
