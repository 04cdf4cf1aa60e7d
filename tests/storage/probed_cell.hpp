#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "storage/columns/table_writer.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {

/// A sealed `result.h5` of a cell with variables whose numbers a test makes up.
class ProbedCell {
 public:
  explicit ProbedCell(const std::string& id = "a") {
    table_.sizes["cell"] = 1;
    table_.columns.push_back(text_column("cell", {"cell"}, std::vector<std::string>{id}));
  }

  /// An axis whose entries are numbers, or 1 … n (0 … n − 1) as the table of axes has it.
  ProbedCell& axis(const std::string& name, const std::vector<double>& entries) {
    table_.sizes[name] = static_cast<std::int64_t>(entries.size());
    table_.columns.push_back(number_column(name, {name}, dimension(name).type, entries));
    return *this;
  }
  ProbedCell& names(const std::string& axis, const std::vector<std::string>& entries) {
    table_.sizes[axis] = static_cast<std::int64_t>(entries.size());
    table_.columns.push_back(text_column(axis, {axis}, entries));
    return *this;
  }
  /// A variable of the table, row-major over its axes, which are there already.
  ProbedCell& numbers(const std::string& name, const std::vector<double>& values) {
    const Variable& variable = *find_variable(name);
    table_.columns.push_back(number_column(name, axes_of(variable), variable.type, values));
    return *this;
  }
  ProbedCell& text(const std::string& name, const std::string& value) {
    const std::vector<std::string> values = {value};
    table_.columns.push_back(text_column(name, axes_of(*find_variable(name)), values));
    return *this;
  }

  const ProbedCell& publish(const std::filesystem::path& file) const {
    std::filesystem::create_directories(file.parent_path());
    TableWriter writer(file, table_bytes(table_));
    write_table(writer, table_);
    writer.replace(1);
    return *this;
  }

 private:
  ColumnTable table_;
};

}  // namespace depthgrid
