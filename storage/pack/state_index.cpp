#include "storage/pack/state_index.hpp"

#include <cstdint>
#include <utility>

#include "core/base/digest.hpp"

namespace depthgrid {

ColumnTable state_index(const Store& store, const StoredPlan& plan,
                        const std::vector<std::vector<StateFile>>& files) {
  std::vector<std::string> cells, names, digests;
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const StateFile& file : files[i]) {
      cells.push_back(plan.cells[i].id);
      steps.push_back(file.step);
      names.push_back(file.path.lexically_relative(store.root()).generic_string());
      digests.push_back(file.sha256);
    }
  }
  ColumnTable out;
  if (cells.empty()) return out;
  out.sizes["state_record"] = static_cast<std::int64_t>(cells.size());
  const std::vector<std::string> axis = {"state_record"};
  out.columns = {text_column("state_cell", axis, cells),
                 integer_column("state_step", axis, DataType::Int64, steps),
                 text_column("state_file", axis, names),
                 text_column("state_sha256", axis, digests)};
  for (VariableColumn& column : out.columns) describe(column);
  return out;
}

std::string states_digest(const std::vector<StateFile>& files) {
  if (files.empty()) return {};
  std::string all;
  for (const StateFile& file : files) all += file.path.filename().string() + file.sha256 + "\n";
  return hex(sha256(all));
}

}  // namespace depthgrid
