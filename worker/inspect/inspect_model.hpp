#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/cell_config.hpp"
#include "core/train/optimizer/arena.hpp"
#include "models/context/forward_context.hpp"
#include "models/model.hpp"
#include "worker/inspect/inspect_request.hpp"
#include "worker/model/stored_model.hpp"

namespace depthgrid {

/// One cell in one arithmetic, E = 1.
struct CheckModel {
  /// @param values  (1, P) weights; undefined: initial values from `seed`.
  CheckModel(const ModelOptions& options, std::uint64_t seed, CheckDtype dtype,
             const at::Tensor& values = {});

  std::vector<std::uint64_t> seeds;  // (1)
  Arena arena;
  Model model;
};

/// A cell under check, untrained or with the weights of a checkpoint, in the arithmetic and with
/// the seed that a case asks for.
class CheckSubject {
 public:
  /// An untrained cell.
  explicit CheckSubject(CheckCell cell);
  /// A cell of a store with the weights of a checkpoint. @throws UserError as StoredModel
  explicit CheckSubject(const CellChoice& choice);

  const std::string& alias() const noexcept { return cell_.alias; }
  const ModelOptions& options() const noexcept { return options_; }
  bool stored() const noexcept { return stored_ != nullptr; }

  /// The model of a case, with the case's parameter values.
  /// @throws UserError if one of these is unknown or has the wrong shape.
  const CheckModel& model(const CheckCase& c);

  /// Sequences of a case: its own, or drawn from its seed. @return (1, B, T)
  /// @throws UserError (BadData) for tokens outside the vocabulary, or more tokens than positions.
  at::Tensor tokens(const CheckCase& c) const;

  /// Seed of a case's initial values: that of the cell if the case names none.
  std::uint64_t seed(const CheckCase& c) const;

 private:
  CheckCell cell_;
  std::unique_ptr<StoredModel> stored_;  // none: untrained
  ModelOptions options_;
  std::map<std::pair<CheckDtype, std::uint64_t>, std::unique_ptr<CheckModel>> models_;
  std::unique_ptr<CheckModel> changed_;  // the last one with parameters of a case
};

}  // namespace depthgrid
