#include "sweeps/page/latex_page.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sweeps/page/html.hpp"
#include "sweeps/page/latex_text.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostTableRows = 40;  // what a page holds

// A class has defined the counter of sections where this file is read within another document.
constexpr std::string_view kLatexBegin =
    R"(% Alone: pdflatex report.tex. Within a document with booktabs, graphicx and textcomp:
% \newcommand{\depthgridfolder}{FOLDER/} and \input{FOLDER/report}.
% Pictures are SVG; for LaTeX they become PDF, for example by
%   for f in *.svg; do rsvg-convert -f pdf -o "${f%.svg}.pdf" "$f"; done
% (or inkscape --export-type=pdf *.svg; or \includesvg of the package svg).
\let\depthgridend\relax
\let\depthgridbreak\relax
\ifcsname c@section\endcsname\else
\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp,booktabs,graphicx}
\usepackage[margin=2.5cm]{geometry}
\def\depthgridend{\end{document}}
\let\depthgridbreak\clearpage
\begin{document}
\fi
\providecommand{\depthgridfolder}{}
\providecommand{\depthgridpicture}[1]{\IfFileExists{\depthgridfolder#1.pdf}%
{\includegraphics[width=\linewidth]{\depthgridfolder#1.pdf}}%
{\fbox{\texttt{#1.svg}: make it a PDF, see the head of this file}}}
\providecommand{\depthgridtable}[1]{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}
% Names of leaves and arms are long words: lines may have wider spaces.
\begingroup\emergencystretch=5em
)";

/// A command may be wider than a line, and LaTeX breaks none of its words.
std::string breakable(const std::string& escaped) {
  std::string out;
  for (const char c : escaped) {
    out += c;
    if (std::string_view(",/=_").find(c) != std::string_view::npos) out += "\\allowbreak{}";
  }
  return out;
}

std::string latex_row(const std::vector<std::string>& entries) {
  std::string out;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    out += (i == 0 ? "" : " & ") + latex_text(entries[i]);
  }
  return out + " \\\\\n";
}

/// Of one line, which a comment ends with.
std::string comment_text(std::string_view text) {
  std::string out = mailed_text(text);
  for (char& c : out) {
    if (c == '\n') c = ' ';
  }
  return out;
}

class BlockLatex {
 public:
  std::string operator()(const PageChart& chart) const {
    return fmt::format(
        "{3}\\begin{{figure}}[htbp]\n\\centering\n\\depthgridpicture{{{0}}}\n\\caption{{{1}. "
        "{2}}}\n"
        "\\label{{fig:{0}}}\n\\end{{figure}}\n\n",
        chart.id, latex_text(chart.title), latex_text(chart.alternative),
        chart.command.empty() ? "" : "% By " + comment_text(chart.command) + "\n");
  }
  std::string operator()(const PageLive& live) const { return (*this)(live.chart); }
  std::string operator()(const PageTable& table) const {
    std::vector<std::string> titles;
    std::string columns;
    for (const TableColumn& column : table.table.columns) {
      titles.push_back(column.title);
      columns += column.align == Align::Right ? 'r' : 'l';
    }
    const std::size_t shown = std::min(table.table.rows.size(), kMostTableRows);
    const std::size_t more = table.table.rows.size() - shown;
    std::string caption = latex_text(table.caption);
    if (more > 0) caption += fmt::format("; the first {} rows, {} more", shown, more);
    std::string out = fmt::format(
        "\\begin{{table}}[htbp]\n\\centering\n\\caption{{{}}}\n\\label{{tab:{}}}\n"
        "\\depthgridtable{{%\n\\begin{{tabular}}{{{}}}\n\\toprule\n{}\\midrule\n",
        caption, table.id, columns, latex_row(titles));
    for (std::size_t i = 0; i < shown; ++i) out += latex_row(table.table.rows[i]);
    return out + "\\bottomrule\n\\end{tabular}}\n\\end{table}\n\n";
  }
  std::string operator()(const PageText& text) const {
    const std::string lead = text.lead.empty() ? "" : "\\textbf{" + latex_text(text.lead) + "} ";
    const std::string words = lead + latex_text(text.text);
    switch (text.kind) {
      case PageText::Kind::Paragraph:
        break;
      case PageText::Kind::Answer:
        return "\\textbf{" + words + "}\n\n";
      case PageText::Kind::Note:
        return "{\\small\\raggedright " + words + "\\par}\n\n";
      case PageText::Kind::Item:
        return "\\item " + words + "\n";
      case PageText::Kind::Question:
      case PageText::Kind::Problem:
        return "\\begin{quote}" + words + "\\end{quote}\n\n";
      case PageText::Kind::Heading:
        return "\\subsection{" + words + "}\n\n";
      case PageText::Kind::Command:
        return "{\\small\\raggedright By \\texttt{" + breakable(words) + "}\\par}\n\n";
    }
    return words + "\n\n";
  }
};

}  // namespace

std::string latex_page(std::span<const PagePart> parts, std::string_view title) {
  std::string out(kLatexBegin);
  out += fmt::format("\n\\noindent{{\\Large {}\\par}}\n\n", latex_text(title));
  for (const PagePart& part : parts) {
    out += fmt::format("\\section{{{}}}\n\n", latex_text(part.title));
    bool list = false;
    for (const PageBlock& block : part.blocks) {
      if (is_item(block) != list) {
        out += list ? "\\end{itemize}\n\n" : "\\begin{itemize}\n";
      }
      list = is_item(block);
      out += std::visit(BlockLatex(), block);
    }
    if (list) out += "\\end{itemize}\n\n";
    out += "\\depthgridbreak\n\n";  // so many floats need a place
  }
  return out + "\\endgroup\n\\depthgridend\n";
}

}  // namespace depthgrid
