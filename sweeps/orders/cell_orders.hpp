#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// A cell's weights in a store.
struct CellChoice {
  std::string store;         // its folder
  std::string cell;          // id
  std::string at = "final";  // final, best, or the number of a step
};

/// What `depthgrid export` asks of the worker; passed as one JSON argument, like all orders.
struct ExportOrder {
  CellChoice from;
  std::string layout = "native";  // or hf-gpt2
  std::string out;
  bool json = false;
};

/// `depthgrid eval`.
struct EvalOrder {
  CellChoice from;
  std::string data{};           // a named corpus or a text file; empty = the cell's own
  std::string split = "valid";  // of a corpus
  std::int64_t windows = 0;     // evenly spaced; 0 = all
  bool by_position = false;
  bool json = false;
  std::vector<std::string> modes{};     // words of eval.modes, or "all"; empty = the cell's own
  std::vector<std::string> deciders{};  // for mode student; empty = the cell's, or all for "all"
};

/// `depthgrid generate`.
struct GenerateOrder {
  CellChoice from;
  std::string prompt;
  std::int64_t tokens = 100;
  double temperature = 1;
  std::int64_t top_k = 0;  // 0 = all
  double top_p = 1;
  std::int64_t seed = 0;
  std::vector<double> control{};  // one number per axis; empty = no signal
  bool json = false;
};

std::string order_text(const ExportOrder& order);
std::string order_text(const EvalOrder& order);
std::string order_text(const GenerateOrder& order);

/// @throws Error if the text is not such an order.
ExportOrder parse_export_order(std::string_view json);
EvalOrder parse_eval_order(std::string_view json);
GenerateOrder parse_generate_order(std::string_view json);

}  // namespace depthgrid
