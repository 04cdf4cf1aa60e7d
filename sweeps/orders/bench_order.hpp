#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// What `depthgrid bench` asks of the worker.
struct BenchOrder {
  std::string what = "step";  // or "optimiser"
  std::string family = "time_indexed";
  std::int64_t cells = 1;
  std::int64_t parameters = 1000000;  // per cell, for optimiser
  std::int64_t steps = 50;            // timed, after the warm-up
  std::string dump;  // folder for initial weights, batches and losses; empty = none
  std::vector<std::string> set;
  bool json = false;
};

std::string order_text(const BenchOrder& order);

/// @throws Error if the text is not such an order.
BenchOrder parse_bench_order(std::string_view json);

}  // namespace depthgrid
