#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/digest.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

// Parts of a page that is one file and is mailed: whatever comes from a store is text, never
// markup.

/// mailed_text() inside an element or a quoted attribute: & < > " ' are entities.
std::string html_text(std::string_view text);

/// The text with the folders of each absolute path replaced by an ellipsis: "/home/me/x.txt" and
/// "~/x.txt" become "…/x.txt". A slash within a word ("loss/token", "1/L") is no path.
std::string without_folders(std::string_view text);

/// What a text of a store may say where it is mailed, in any format: without folders, control
/// characters and characters that reorder a line as visible escapes (\u202e).
std::string mailed_text(std::string_view text);

/// A table; numbers (columns that are aligned to the right) get the class "number", and words of a
/// column "verdict" the class of their verdict. It scrolls within a focusable frame. @param caption
/// for those who hear it.
std::string html_table(const Table& table, std::string_view caption);

/// A picture in a frame that scrolls where the screen is narrower, also by the keyboard.
/// @param title  for those who hear it. @param caption  that all see, above it; may be empty.
std::string html_chart(std::string_view svg, std::string_view title, std::string_view caption = {});

/// The numbers of a picture, folded away: "numbers as CSV", and the command that gives them.
std::string html_csv(const Table& table, std::string_view command = {});

/// HTML that a reader unfolds. @param summary  a line of text.
std::string html_folded(std::string_view summary, std::string_view html);

/// JSON as the content of a <script type="application/json">: `<` and the like are escapes, so that
/// nothing in it can end the element.
std::string script_json(std::string_view json);

/// RFC 4648, with padding.
std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace depthgrid
