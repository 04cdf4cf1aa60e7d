#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sweeps/report/table.hpp"

namespace depthgrid {

// What a page is made of, before it is HTML, Markdown or LaTeX. All texts are plain: whatever comes
// from a store is escaped by what writes a format, which leaves folders of this machine out, too
// (without_folders()). Texts inside a picture are already drawn: there the section leaves them out.

/// A picture, and its numbers.
struct PageChart {
  std::string id;            // of ChartText, and name of its files: "answer-effects"
  std::string title;         // what it shows, one line
  std::string alternative;   // for those who do not see it: how to read it, in sentences
  std::string svg;           // by sweeps/picture
  Table numbers = {};        // what is drawn, in full precision; shown as CSV
  std::string command = {};  // that gives the numbers; empty: page_parts() names that of the page
  /// Of one of several pictures ("probe-9-0", "probe-9-1") whose numbers are with another one of
  /// them: that one's id.
  std::string numbers_with = {};
  /// What distinguishes it from its neighbours below one heading: stands above it where titles are
  /// only heard, as in HTML.
  std::string caption = {};
};

/// A table for people.
struct PageTable {
  std::string caption;
  Table table = {};
  bool csv = true;      // offered as CSV, too
  Table exact = {};     // the CSV, where the table's own figures are rounded; no columns: the table
  std::string id = {};  // name of its file; empty: page_parts() gives it one
  bool folded = false;  // further reading: on a screen it is opened by who wants it

  const Table& numbers() const { return exact.columns.empty() ? table : exact; }
};

/// A line or a paragraph.
struct PageText {
  enum class Kind : std::uint8_t {
    Paragraph,
    Note,      // small print
    Item,      // of a list; neighbours are one list
    Question,  // of the sweep
    Answer,    // to it, in a sentence
    Problem,   // why there is no answer
    Heading,   // within a section
    Command    // that gives what stands above, and nothing else
  };
  Kind kind = Kind::Paragraph;
  std::string text = {};
  std::string lead = {};  // what stands before it, emphasised
};

/// The picture that answers to the reader: a script draws it where scripts run, else it is the
/// static one. A page has one at most.
struct PageLive {
  PageChart chart;
  std::string data;      // JSON for the script
  bool sampled = false;  // the script has a sample: the chart, which is of all, stays beside it
};

using PageBlock = std::variant<PageChart, PageTable, PageText, PageLive>;
using PageBlocks = std::vector<PageBlock>;

inline void add_blocks(PageBlocks& out, PageBlocks blocks) {
  for (PageBlock& block : blocks) out.push_back(std::move(block));
}

/// A line of a list: several of them, one after the other, are one list.
inline bool is_item(const PageBlock& block) {
  const auto* const text = std::get_if<PageText>(&block);
  return text != nullptr && text->kind == PageText::Kind::Item;
}

}  // namespace depthgrid
