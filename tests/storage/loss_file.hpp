#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "storage/columns/table_writer.hpp"

namespace depthgrid {

/// A sealed file of one cell: a loss at each step.
inline void publish_losses(const std::filesystem::path& file, std::int64_t generation,
                           const std::vector<std::int64_t>& steps,
                           const std::vector<double>& losses) {
  ColumnTable table;
  table.sizes = {{"cell", 1}, {"step", static_cast<std::int64_t>(steps.size())}};
  table.columns = {text_column("cell", {"cell"}, std::vector<std::string>{"a"}),
                   integer_column("step", {"step"}, DataType::Int64, steps),
                   number_column("train_loss", {"cell", "step"}, DataType::Float32, losses)};
  TableWriter writer(file, table_bytes(table));
  write_table(writer, table);
  writer.replace(generation);
}

}  // namespace depthgrid
