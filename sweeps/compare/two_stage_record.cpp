#include "sweeps/compare/two_stage_record.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/printable.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {
namespace {

using RecordJson = nlohmann::ordered_json;

constexpr int kRecordVersion = 1;

std::filesystem::path record_file(const std::filesystem::path& store) {
  return store / kTwoStageFile;
}

std::vector<std::int64_t> seeds_of(const Sweep& sweep) {
  std::vector<std::int64_t> out;
  for (const CellPlan& cell : sweep.cells) {
    const std::int64_t seed = cell.config.integer("seed");
    if (std::ranges::find(out, seed) == out.end()) out.push_back(seed);
  }
  return out;
}

RecordJson record_json(const TwoStageRecord& record) {
  RecordJson contrasts = RecordJson::array();
  for (const TwoStageContrast& one : record.contrasts) {
    contrasts.push_back({{"arm", one.arm}, {"sd", one.sd}, {"half_width", one.half_width}});
  }
  return {{"version", kRecordVersion},
          {"metric", record.metric},
          {"baseline", record.baseline},
          {"asked", record.asked},
          {"half_width", record.half_width},
          {"max_seeds", record.max_seeds},
          {"first_seeds", record.first_seeds},
          {"seeds", record.seeds},
          {"met", record.met},
          {"contrasts", contrasts}};
}

/// Of all members but itself, whatever blanks stand between them.
std::string record_digest(const RecordJson& json) {
  return hex(sha256(json_text(json)));
}

TwoStageRecord record_of(RecordJson json) {
  if (const int version = json.at("version").get<int>(); version != kRecordVersion) {
    throw Error(fmt::format("version {}, {} was expected", version, kRecordVersion));
  }
  const std::string digest = json.at("sha256").get<std::string>();
  json.erase("sha256");
  if (record_digest(json) != digest) throw Error("its sha256 is not that of its other members");
  TwoStageRecord out;
  out.metric = json.at("metric").get<std::string>();
  out.baseline = json.at("baseline").get<std::string>();
  out.asked = json.at("asked").get<std::string>();
  out.half_width = json.at("half_width").get<double>();
  out.max_seeds = json.at("max_seeds").get<std::int64_t>();
  out.first_seeds = json.at("first_seeds").get<std::vector<std::int64_t>>();
  out.seeds = json.at("seeds").get<std::vector<std::int64_t>>();
  out.met = json.at("met").get<bool>();
  for (const auto& one : json.at("contrasts")) {
    out.contrasts.push_back({one.at("arm").get<std::string>(), one.at("sd").get<double>(),
                             one.at("half_width").get<double>()});
  }
  return out;
}

}  // namespace

SteinRule stein_rule(const TwoStageRecord& record) {
  return {.first_seeds = record.first_seeds.size(),
          .half_width = record.half_width,
          .max_seeds = static_cast<std::size_t>(record.max_seeds)};
}

double seeds_asked_for(const TwoStageRecord& record) {
  auto out = static_cast<double>(record.first_seeds.size());
  for (const TwoStageContrast& one : record.contrasts) {
    out = std::max(out, stein_seeds(one.sd, stein_rule(record)));
  }
  return out;
}

double widest_of(const TwoStageRecord& record) {
  double out = 0;
  for (const TwoStageContrast& one : record.contrasts) out = std::max(out, one.half_width);
  return out;
}

std::optional<TwoStageRecord> read_two_stage(const std::filesystem::path& store, const Fs& disk) {
  const std::filesystem::path file = record_file(store);
  if (!something_at(file, disk)) return std::nullopt;
  const std::string text = read_text_file(file, disk);
  try {
    return record_of(parse_ordered_json(text));
  } catch (const std::exception& error) {
    std::filesystem::path moved;
    for (int n = 1; moved.empty() || something_at(moved, disk); ++n) {
      moved = file.string() + fmt::format(".damaged-{}", n);
    }
    throw StorageError(
        file.string(),
        fmt::format("is damaged ({}): it says which seeds --until-ci has added; no cell is lost. "
                    "Move it away (mv {} {}) and type the command with --until-ci and --max-seeds "
                    "as before: the cells of stage one are there, and decide the same again",
                    error.what(), shell_word(file.string()), shell_word(moved.string())),
        ExitCode::BadData);
  }
}

void publish_two_stage(const std::filesystem::path& store, const TwoStageRecord& record,
                       const Fs& disk) {
  RecordJson json = record_json(record);
  json["sha256"] = record_digest(json);
  publish_once(record_file(store), json_text(json, 2) + "\n", disk);
}

std::string seeds_setting(const Sweep& sweep) {
  return fmt::format("seeds=[{}]", fmt::join(seeds_of(sweep), ", "));
}

std::optional<std::string> added_seeds(const TwoStageRecord& record, const Sweep& sweep) {
  std::vector<std::int64_t> all = seeds_of(sweep);
  const std::size_t own = all.size();
  for (const std::int64_t seed : record.seeds) {
    if (std::ranges::find(all, seed) == all.end()) all.push_back(seed);
  }
  if (all.size() == own) return std::nullopt;
  return fmt::format("seeds=[{}]", fmt::join(all, ", "));
}

}  // namespace depthgrid
