#include "sweeps/report/csv_reader.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/printable.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Goes over the text once, and counts lines and columns.
class CsvScanner {
 public:
  CsvScanner(std::string_view text, std::string_view name) : text_(text), name_(name) {
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
    if (!is_utf8(text_)) {
      throw UserError(ExitCode::BadData, std::string(name_) +
                                             ": is not UTF-8: save it as CSV in UTF-8, with commas "
                                             "between the fields");
    }
  }

  std::vector<CsvRecord> records() {
    std::vector<CsvRecord> out;
    while (at_ < text_.size()) {
      CsvRecord record = next();
      if (record.size() == 1 && record[0].text.empty() && !quoted_) continue;  // a blank line
      if (!out.empty() && record.size() != out.front().size()) wrong_length(record, out.front());
      out.push_back(std::move(record));
    }
    return out;
  }

 private:
  /// A line of the table, with its end.
  CsvRecord next() {
    CsvRecord out;
    do {
      out.push_back(field());
    } while (take(','));
    take('\r');
    if (!take('\n') && at_ < text_.size()) {
      fail({"", line_, column_}, text_[at_ - 1] == '\r'
                                     ? "a carriage return ends no line: \\n or \\r\\n was expected"
                                     : "a comma or the end of the line was expected here, behind "
                                       "the closing quote");
    }
    return out;
  }

  CsvField field() {
    while (take(' ') || take('\t')) {
    }
    CsvField out{"", line_, column_};
    quoted_ = take('"');
    if (quoted_) {
      in_quotes(out);
      while (take(' ') || take('\t')) {
      }
      return out;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r') {
      if (text_[at_] == '"') {
        fail({"", line_, column_},
             "a quote inside of a field: a field that holds quotes is in quotes as a whole, and "
             "each of its own is written twice");
      }
      step();
    }
    out.text = text_.substr(begin, at_ - begin);
    out.text.erase(out.text.find_last_not_of(" \t") + 1);
    return out;
  }

  /// Up to the closing quote.
  void in_quotes(CsvField& out) {
    while (at_ < text_.size()) {
      if (take('"')) {
        if (!take('"')) return;
        out.text += '"';
      } else {
        out.text += text_[at_];
        step();
      }
    }
    fail(out, "this quote is never closed: a quote was expected before the end of the file");
  }

  [[noreturn]] void wrong_length(const CsvRecord& record, const CsvRecord& titles) const {
    const bool more = record.size() > titles.size();
    fail(more ? record[titles.size()] : record.back(),
         fmt::format("this line has {} field{}, and the first has {}: as many were expected{}",
                     record.size(), record.size() == 1 ? "" : "s", titles.size(),
                     more ? "; a field that holds a comma is written in quotes" : ""));
  }

  [[noreturn]] void fail(const CsvField& at, const std::string& what) const {
    throw UserError(ExitCode::BadData, csv_place(name_, at) + what);
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    step();
    return true;
  }

  void step() {
    const bool ends_line = text_[at_++] == '\n';
    if (ends_line) {
      ++line_;
      column_ = 1;
    } else if (at_ == text_.size() || !continues(text_[at_])) {
      ++column_;
    }
  }

  /// Of UTF-8: not the first byte of a code point.
  static bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

  std::string_view text_, name_;
  std::size_t at_ = 0, line_ = 1, column_ = 1;
  bool quoted_ = false;  // the field read last
};

}  // namespace

std::vector<CsvRecord> read_csv(std::string_view text, std::string_view name) {
  return CsvScanner(text, name).records();
}

std::string csv_place(std::string_view name, const CsvField& at) {
  return fmt::format("{}:{}:{}: ", name, at.line, at.column);
}

}  // namespace depthgrid
