#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/cell_config.hpp"
#include "models/context/execution_mode.hpp"
#include "sweeps/orders/cell_orders.hpp"

namespace depthgrid {

enum class CheckKind : std::uint8_t { Gate, Forward, Decode, Gradients };

/// Arithmetic of a check. The weights are those of float32 in all three.
enum class CheckDtype : std::uint8_t {
  F32,
  F64,
  Bf16  ///< float32 with the products of training under `train.precision: bf16`
};

/// One thing to compute. What the request leaves out stays at its default.
struct CheckCase {
  CheckDtype dtype = CheckDtype::F32;

  // gate
  at::Tensor dx, dx_hat;   // (1, B, T, C) float64; (1, 1, T, C) from a list of tokens
  bool rows_given = true;  // dx has had three levels
  std::int64_t window = 100;
  bool exclusive = false;
  std::optional<double> gamma = {};
  std::int64_t min_k = 0;
  double o_ce = 1.025, m_cu = 1.1, beta_ce = -0.3, beta_cu = -0.6;

  // forward, decode, gradcheck
  std::optional<std::uint64_t> seed = {};  // of start values and random tokens; none: the cell's
  std::int64_t rows = 2;
  std::optional<std::int64_t> length = {};  // T of random tokens; none: the cell's
  at::Tensor tokens = {};                   // (1, B, T) int64; undefined: random ones

  // forward, decode
  std::optional<std::string> mode = {};  // none: as the model runs by itself
  std::optional<Decider> decider = {};
  at::Tensor masks = {};       // (B, T) bools of each dynamic layer (D, B, T), or one for all
  at::Tensor thresholds = {};  // (D)
  std::int64_t step = 1;       // of mode training
  bool dump = false;
  std::map<std::string, at::Tensor> parameters = {};  // values put into the model first

  // decode
  std::int64_t prefill = 0;
  std::vector<std::int64_t> chunks = {};

  // gradcheck
  std::int64_t samples = 2;  // elements a tensor
  double threshold = 1e-4;
};

/// A model to check: a cell of the sweep that the command line stands for.
struct CheckCell {
  std::string alias;
  CellConfig config;
};

/// What `depthgrid check` asks of the worker.
struct CheckRequest {
  CheckKind kind = CheckKind::Gate;
  std::vector<CheckCase> cases = {};
  std::vector<CheckCell> cells = {};    // untrained
  std::optional<CellChoice> from = {};  // or one with its weights
};

/// Words of `mode`: those of eval.modes, `forced`, and `training` for a pass as it trains.
constexpr std::string_view kTrainingMode = "training";

std::string_view name_of(CheckDtype dtype);
std::string_view name_of(CheckKind kind);

/// Reads {"schema": 1, "what": KIND, "defaults": {}, "input": {}, "cells": [{alias, config}],
/// "from": {store, cell, at} or null}. Members of `input` come before those of `defaults`, and
/// those of an entry of input.cases before both.
/// @throws UserError naming the case and the member: Usage for one that is not known, BadData for a
///         value that is not what is expected.
CheckRequest parse_check_request(std::string_view text);

}  // namespace depthgrid
