#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/analyse/compare_argument.hpp"
#include "cli/analyse/page_output.hpp"
#include "cli/arguments/command_line.hpp"
#include "cli/arguments/slow_progress.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/output.hpp"
#include "storage/files/publish.hpp"
#include "sweeps/page/page_files.hpp"
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
      "report [STORE…] -o FILE [--format WORD] [--by NAME,…] [--metric NAME] [--margin δ]\n"
      "                        [--goal WORD] [--filter EXPRESSION]",
      "One HTML page of a sweep, to be read in a browser and to be mailed: the answer,\n"
      "effects with intervals, learning curves, costs, what is missing. It needs no\n"
      "network, and has no user, host, path or log text in it. For papers, --format\n"
      "markdown or latex writes a folder: the text, each picture as SVG, its numbers as CSV.");
  line.examples({"report results/h_mod -o h_mod.html", "report results/a results/b -o both.html",
                 "report results/h_mod --format latex -o paper/h_mod"});
  comparison_options(
      line.text("output,o", "FILE", "the page, or a folder (--format); what is there is replaced")
          .text("format", "WORD", "html (default); markdown, latex or svg: files in a folder")
          .list("by", "NAME,...", "factors (default: each leaf that the sweep varies)"))
      .list("include", "WORD,...", "logs: why cells failed; tokens: texts of routing maps");
  if (!line.parse(arguments)) return 0;
  if (!line.has("output")) {
    throw UserError(ExitCode::Usage, "report: -o FILE is missing: where the page goes");
  }
  const std::optional<PageFormat> format = page_format_of(line.text_of("format"));
  const std::filesystem::path target = line.text_of("output");
  check_page_target(target, format);
  const PageQuery query{comparison_query(line), line.text_of("filter"), line.has("all-plans")};
  Listing listing = compared_listing(line);
  require_stores(listing, "report");
  const PageData data = page_data(std::move(listing), query, inclusions_of(line),
                                  SlowProgress("report", "cells read"));
  std::uint64_t bytes = 0;
  if (format) {
    const std::vector<PagePart> parts = page_parts(data);
    bytes = publish_page_files(target, page_files(parts, data.title, *format));
  } else {
    const std::string page = report_page(data);
    publish_replace(target, page);
    bytes = page.size();
  }
  print_to_stderr(fmt::format("{}: {}, {} cells\n", target.string(),
                              short_bytes(static_cast<double>(bytes)), data.rows.size()));
  if (data.problem) log(LogLevel::Warning, data.problem->sentence);
  return 0;
}

}  // namespace depthgrid
