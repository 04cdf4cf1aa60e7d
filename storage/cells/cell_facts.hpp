#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/journal.hpp"

namespace depthgrid {

/// Facts about a cell that are not in its journals, by name of the variable
/// (storage/columns/variables.hpp).
///
/// Values of a variable with axes after `cell` are row-major over those axes; the length of one
/// axis that is not fixed (depth, layer, token_position) follows from the number of values, lengths
/// of further ones and labels are in `axes`. A variable over `step` may be given too
/// (residual_scale that is not learned): it is put at the first step. NaN and -1 mean absent.
struct CellFacts {
  std::map<std::string, std::vector<double>>
      numbers;  // "n_parameters", "depth_time", "cost_flops_token"
  std::map<std::string, std::string>
      texts;                     // "tokens_sha256", "data_order_digest", "weights_sha256"
  std::vector<RowAxis> axes;     // beside those that the journals name
  std::string library_versions;  // JSON object: {"libtorch": "2.11.0", "hdf5": "1.10.8"}

  void set(const std::string& name, double value) { numbers[name] = {value}; }
  void set(const std::string& name, std::vector<double> values) {
    numbers[name] = std::move(values);
  }
  void set(const std::string& name, std::string_view text) { texts[name] = std::string(text); }
};

}  // namespace depthgrid
