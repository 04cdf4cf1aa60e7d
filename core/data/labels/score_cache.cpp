#include "core/data/labels/score_cache.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/log.hpp"
#include "core/data/corpus_search.hpp"

namespace depthgrid {
namespace {

using CachedScores = std::map<std::string, std::vector<double>>;

/// A digest that no other pair of lists has: arguments and names hold no zero byte.
std::string identity_of(const std::vector<std::string>& argv,
                        const std::vector<std::string>& names) {
  std::string all = std::to_string(argv.size());
  for (const auto* const list : {&argv, &names}) {
    for (const std::string& word : *list) (all += '\0') += word;
  }
  return hex(sha256(all));
}

std::string body_of(const CachedScores& scores) {
  std::string out;
  for (const auto& [key, row] : scores) {
    out += fmt::format("{{\"key\":\"{}\",\"scores\":{}}}\n", key, json_text(nlohmann::json(row)));
  }
  return out;
}

/// Nothing if it is no body with so many scores a line.
std::optional<CachedScores> scores_in(std::string_view body, std::size_t names) {
  CachedScores out;
  try {
    for (std::size_t at = 0; at < body.size();) {
      const std::size_t end = std::min(body.find('\n', at), body.size());
      const nlohmann::json line = parse_json(body.substr(at, end - at));
      at = end + 1;
      auto row = line.at("scores").get<std::vector<double>>();
      if (row.size() != names) return std::nullopt;
      out.insert_or_assign(line.at("key").get<std::string>(), std::move(row));
    }
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return out;
}

/// @throws std::ios_base::failure or std::filesystem::filesystem_error.
void publish_cache(const std::filesystem::path& file, const std::string& head,
                   const std::string& body) {
  std::filesystem::create_directories(file.parent_path());
  const std::filesystem::path temporary = fmt::format("{}.{}.tmp", file.string(), ::getpid());
  try {
    std::ofstream out(temporary, std::ios::binary);
    out.exceptions(std::ios::failbit | std::ios::badbit);
    out << head << body;
    out.close();
    std::filesystem::rename(temporary, file);
  } catch (...) {
    std::error_code none;
    std::filesystem::remove(temporary, none);
    throw;
  }
}

}  // namespace

ScoreCache::ScoreCache(const std::filesystem::path& folder, const std::vector<std::string>& argv,
                       const std::vector<std::string>& names)
    : argv_(argv), names_(names), identity_(identity_of(argv, names)) {
  if (folder.empty()) return;
  file_ = folder / (identity_ + ".scores");
  read();
}

std::string ScoreCache::key(std::string_view text) const {
  return hex(sha256(identity_ + "\n" + std::string(text)));
}

const std::vector<double>* ScoreCache::find(const std::string& key) const {
  const auto found = scores_.find(key);
  return found == scores_.end() ? nullptr : &found->second;
}

void ScoreCache::add(const std::string& key, std::span<const double> scores) {
  scores_[key].assign(scores.begin(), scores.end());
}

void ScoreCache::keep() const {
  if (file_.empty()) return;
  std::string trouble;
  const std::string body = body_of(scores_);
  try {
    publish_cache(file_, head(body), body);
    return;
  } catch (const std::ios_base::failure& error) {
    trouble = fmt::format("{}: {}", file_.string(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    trouble = error.what();
  }
  log(LogLevel::Warning, "scores of a command are not kept: " + trouble);
}

std::string ScoreCache::head(std::string_view body) const {
  nlohmann::ordered_json out;
  out["holds"] = "depthgrid: scores of a command, format 1";
  out["argv"] = argv_;
  out["names"] = names_;
  out["identity"] = identity_;
  out["sha256"] = hex(sha256(body));
  return json_text(out) + "\n";
}

void ScoreCache::read() {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file_, none)) return;
  std::string trouble = "damaged file of scores";
  try {
    const std::string bytes = read_corpus_file(file_);
    const std::size_t first = bytes.find('\n');
    if (first != std::string::npos) {
      const std::string_view body = std::string_view(bytes).substr(first + 1);
      auto found = bytes.starts_with(head(body)) ? scores_in(body, names_.size()) : std::nullopt;
      if (found) {
        scores_ = std::move(*found);
        return;
      }
    }
  } catch (const UserError& problem) {
    trouble = problem.what();
  }
  log(LogLevel::Warning,
      file_.string() + ": " + trouble + ": the command is asked again and the file written anew");
}

}  // namespace depthgrid
