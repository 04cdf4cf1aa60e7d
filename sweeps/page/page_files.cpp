#include "sweeps/page/page_files.hpp"

#include <variant>

#include "sweeps/page/html.hpp"
#include "sweeps/page/latex_page.hpp"
#include "sweeps/page/markdown_page.hpp"
#include "sweeps/picture/chart_stylesheet.hpp"

namespace depthgrid {
namespace {

/// csv_of(), every entry as mailed_text().
std::string mailed_csv(const Table& table) {
  Table out = table;
  for (TableColumn& column : out.columns) column.title = mailed_text(column.title);
  for (auto& row : out.rows) {
    for (std::string& entry : row) entry = mailed_text(entry);
  }
  return csv_of(out);
}

/// The files that belong to a block.
class BlockFiles {
 public:
  explicit BlockFiles(std::vector<PageFile>& files) : files_(files) {}

  void operator()(const PageChart& chart) const {
    files_.push_back({chart.id + ".svg", svg_file(chart.svg)});
    if (!chart.numbers.rows.empty()) {
      files_.push_back({chart.id + ".csv", mailed_csv(chart.numbers)});
    }
  }
  void operator()(const PageLive& live) const { (*this)(live.chart); }
  void operator()(const PageTable& table) const {
    if (table.csv) files_.push_back({table.id + ".csv", mailed_csv(table.numbers())});
  }
  void operator()(const PageText& /*text*/) const {}

 private:
  std::vector<PageFile>& files_;
};

}  // namespace

std::vector<PageFile> page_files(std::span<const PagePart> parts, std::string_view title,
                                 PageFormat format) {
  std::vector<PageFile> out;
  for (const PagePart& part : parts) {
    for (const PageBlock& block : part.blocks) std::visit(BlockFiles(out), block);
  }
  if (format == PageFormat::Markdown) out.push_back({"report.md", markdown_page(parts, title)});
  if (format == PageFormat::Latex) out.push_back({"report.tex", latex_page(parts, title)});
  return out;
}

}  // namespace depthgrid
