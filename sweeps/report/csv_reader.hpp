#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// An entry of a CSV file and where it begins, both from 1; columns count code points.
struct CsvField {
  std::string text;
  std::size_t line = 0, column = 0;
};
using CsvRecord = std::vector<CsvField>;

/// The records of a CSV file: what csv_of() of table.hpp writes, and what spreadsheets do.
///
/// RFC 4180: fields are separated by commas; a field in quotes may hold commas, line ends and
/// quotes, which are doubled. Lines end in LF or CRLF, the last one may lack its end. UTF-8, with a
/// byte order mark or without. Blanks around a field that has no quotes are dropped, and lines of
/// nothing but blanks are passed over, as people write both.
/// @param name  of the file, for messages.
/// @return the records; all have as many fields as the first. None for a text without one.
/// @throws UserError (BadData) "name:line:column: what is wrong and what was expected".
std::vector<CsvRecord> read_csv(std::string_view text, std::string_view name);

/// "name:line:column: text", as every message about a CSV file begins.
std::string csv_place(std::string_view name, const CsvField& at);

}  // namespace depthgrid
