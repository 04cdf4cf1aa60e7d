#include "core/data/labels/json_records.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "core/base/printable.hpp"
#include "core/config/text_format.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {
namespace {

/// Names of members that an object of `line`, at whatever depth, has more than once: of these a
/// parser would keep one.
/// @throws nlohmann::json::exception if it is not JSON.
std::vector<std::string> repeated_members(std::string_view line) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> members;  // of the object that is open at each depth
  std::vector<std::string> repeated;
  const auto visit = [&](int depth, Event event, nlohmann::json& parsed) {
    const auto at = static_cast<std::size_t>(depth);  // of an object; its keys are one deeper
    if (event == Event::object_start) {
      if (members.size() < at + 2) members.resize(at + 2);
      members[at + 1].clear();
    } else if (event == Event::key) {
      const auto name = parsed.get<std::string>();
      if (!members[at].insert(name).second) repeated.push_back(name);
    }
    return false;  // nothing is kept
  };
  [[maybe_unused]] const nlohmann::json nothing = nlohmann::json::parse(line, visit);
  return repeated;
}

/// @param said  by the parser: "[json.exception.parse_error.101] parse error at line 1, column 7:
///              syntax error …".
std::string not_json(std::string_view line, std::string_view message) {
  constexpr std::string_view kPlace = "parse error at line 1, ";
  const std::size_t name = message.find("] ");
  if (name != std::string_view::npos) message.remove_prefix(name + 2);
  if (message.starts_with(kPlace)) message.remove_prefix(kPlace.size());
  const bool no_number =
      line.find("NaN") != std::string_view::npos || line.find("Infinity") != std::string_view::npos;
  return fmt::format("not JSON: {}{}; the line begins {}", text_opening(message, 160),
                     no_number ? " (NaN and Infinity are no numbers of JSON, nor of labels)" : "",
                     text_opening(line));
}

/// The object of one line; null if there is none.
nlohmann::json record_of_line(std::string_view line, const std::string& where,
                              RecordMistakes& mistakes) {
  std::size_t at = 0;
  while (at < line.size() && next_code_point(line, at) >= 0) {
  }
  if (at < line.size()) {
    mistakes.add(where,
                 fmt::format("not UTF-8: byte {} of the line is 0x{:02x}; expected a file in UTF-8",
                             at + 1, static_cast<unsigned char>(line[at])));
    return nullptr;
  }
  try {
    for (const std::string& name : repeated_members(line)) {
      mistakes.add(where, fmt::format("member '{}' twice in one object", text_opening(name)));
    }
    nlohmann::json record = parse_json(line);
    if (record.is_object()) return record;
    mistakes.add(where, fmt::format("{} is no JSON object", shown_value(record)));
  } catch (const nlohmann::json::exception& problem) {
    mistakes.add(where, not_json(line, problem.what()));
  }
  return nullptr;
}

}  // namespace

void RecordMistakes::add(std::string_view where, std::string_view what) {
  ++count_;
  if (named_.size() < kNamedMistakes) named_.push_back(fmt::format("{}: {}", where, what));
}

std::string RecordMistakes::text() const {
  std::string out = fmt::format("{} mistake{}:", count_, count_ == 1 ? "" : "s");
  for (const std::string& one : named_) out += "\n  " + one;
  const std::int64_t more = count_ - static_cast<std::int64_t>(named_.size());
  if (more > 0) out += fmt::format("\n  and {} more", more);
  return out;
}

std::int64_t each_json_record(std::string_view jsonl, const std::string& place,
                              const TakeRecord& take, RecordMistakes& mistakes) {
  std::int64_t number = 0, records = 0;
  for (std::size_t at = 0; at < jsonl.size();) {
    const std::size_t end = std::min(jsonl.find('\n', at), jsonl.size());
    const std::string_view line = jsonl.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ++records;
    const std::string where = fmt::format("{}:{}", place, number);
    const nlohmann::json record = record_of_line(line, where, mistakes);
    if (record.is_object()) take(where, record, mistakes);
  }
  return records;
}

std::string read_json_records(const std::filesystem::path& file, const TakeRecord& take) {
  const std::string bytes = read_corpus_file(file);
  const std::string why = unreadable_content(file, "jsonl", bytes, false);
  if (!why.empty()) throw UserError(ExitCode::BadData, why);
  RecordMistakes mistakes;
  if (each_json_record(without_mark(bytes), file.string(), take, mistakes) == 0) {
    throw UserError(ExitCode::BadData,
                    file.string() + ": holds no records: expected one JSON object a line");
  }
  if (mistakes.count() > 0) {
    throw UserError(ExitCode::BadData, fmt::format("{}: {}", file.string(), mistakes.text()));
  }
  return hex(sha256(bytes));
}

void refuse_other_members(const nlohmann::json& object, std::span<const std::string_view> known,
                          const std::string& where, RecordMistakes& mistakes) {
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, std::string_view(name)) != known.end()) continue;
    mistakes.add(where, fmt::format("unknown member '{}'; expected {}", text_opening(name),
                                    fmt::join(known, ", ")));
  }
}

bool ScoreRange::holds(double number) const noexcept {
  return std::isfinite(number) && number >= least && number <= most;
}

std::string ScoreRange::text() const {
  if (!std::isfinite(least) && !std::isfinite(most)) return "a finite number";
  return fmt::format("a number in [{:g}, {:g}]", least, most);
}

std::vector<double> named_numbers(const nlohmann::json& object, std::span<const std::string> names,
                                  const ScoreRange& range, const std::string& where,
                                  RecordMistakes& mistakes) {
  std::vector<double> out(names.size(), kNaN);
  if (!object.is_object()) {
    mistakes.add(where, fmt::format("{} is no object of numbers by name: expected {}",
                                    shown_value(object), fmt::join(names, ", ")));
    return out;
  }
  for (const auto& [name, value] : object.items()) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      mistakes.add(where, fmt::format("unknown name '{}'; known: {}", text_opening(name),
                                      fmt::join(names, ", ")));
      continue;
    }
    const double number = value.is_number() ? value.get<double>() : kNaN;
    if (!range.holds(number)) {
      mistakes.add(where + "." + name,
                   fmt::format("{} is not {}", shown_value(value), range.text()));
      continue;
    }
    out[static_cast<std::size_t>(found - names.begin())] = number;
  }
  return out;
}

std::string shown_value(const nlohmann::json& value) {
  return text_opening(json_text(value), 40);
}

std::string text_opening(std::string_view text, std::size_t most) {
  if (text.size() <= most) return printable(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return printable(text.substr(0, end)) + "…";
}

std::string quoted_opening(std::string_view text, std::size_t most) {
  return json_text(nlohmann::json(text_opening(text, most)));
}

}  // namespace depthgrid
