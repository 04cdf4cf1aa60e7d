#include "sweeps/report/failure_report.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "storage/plan_sequence.hpp"

namespace depthgrid {

namespace fs = std::filesystem;

std::string failure_json(const Store& store, const CellId& id, const FailureReport& report) {
  const std::int64_t plan = plan_with(store, id);
  const bool earlier = plan > 0 && plan < newest_plan(store);
  const fs::path sweep = earlier ? store.sweep_yaml(plan) : store.sweep_yaml();
  const nlohmann::json json = {
      {"class", report.kind},
      {"message", report.message},
      {"job", report.job},
      {"host", report.host},
      {"plan", plan},
      {"repeat",
       fmt::format("depthgrid run '{}' --store '{}' --only id={}", fs::absolute(sweep).string(),
                   fs::absolute(store.root() / "repeat").string(), id)},
      {"last_words", report.last_words}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string current_repeat(const Store& store, const std::string& repeat, std::int64_t plan) {
  const std::string newest = fs::absolute(store.sweep_yaml()).string();
  const fs::path own = fs::absolute(store.sweep_yaml(plan));
  const std::size_t at = repeat.find(newest);
  std::error_code unknown;
  if (at == repeat.npos || !fs::exists(own, unknown)) return repeat;
  return std::string(repeat).replace(at, newest.size(), own.string());
}

}  // namespace depthgrid
