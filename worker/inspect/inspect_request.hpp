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
#include "sweeps/protocol/commands.hpp"

namespace depthgrid {

/// The checks, one for each word after `depthgrid check`.
enum class CheckKind : std::uint8_t { Gate, Forward, Decode, Gradients };

/// Arithmetic of a check. All three use the float32 weights.
enum class CheckDtype : std::uint8_t {
  F32,
  F64,
  Bf16  ///< float32 with the products of training under `train.precision: bf16`
};

/// One computation. Members absent from the request keep their defaults.
struct CheckCase {
  CheckDtype dtype = CheckDtype::F32;

  // gate
  at::Tensor dx, dx_hat;   // (1, B, T, C) float64; (1, 1, T, C) from a list of tokens
  bool rows_given = true;  // dx was given with three levels
  std::int64_t window = 100;
  bool exclusive = false;
  std::optional<double> gamma = {};
  std::int64_t min_k = 0;
  double o_ce = 1.025, m_cu = 1.1, beta_ce = -0.3, beta_cu = -0.6;

  // forward, decode, gradcheck
  std::optional<std::uint64_t> seed = {};  // of initial values and random tokens; none: the cell's
  std::int64_t rows = 2;
  std::optional<std::int64_t> length = {};  // T of random tokens; none: the cell's
  at::Tensor tokens = {};                   // (1, B, T) int64; undefined: random ones

  // forward, decode
  std::optional<std::string> mode = {};  // none: the default evaluation
  std::optional<Decider> decider = {};
  at::Tensor masks = {};       // bools of the D dynamic layers (D, B, T), or one for all
  at::Tensor thresholds = {};  // (D)
  std::int64_t step = 1;       // of mode training
  bool dump = false;
  std::map<std::string, at::Tensor> parameters = {};  // values that replace the model's

  // decode
  std::int64_t prefill = 0;
  std::vector<std::int64_t> chunks = {};

  // gradcheck
  std::int64_t samples = 2;  // elements per tensor
  double threshold = 1e-4;
};

/// A model to check: a cell of the sweep defined by the command line.
struct CheckCell {
  std::string alias;
  CellConfig config;
};

/// A request of `depthgrid check` to the worker.
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
/// "from": {store, cell, at} or null}. Members of `input` take precedence over those of `defaults`,
/// and those of an entry of input.cases over both.
/// @throws UserError naming the case and the member: Usage for an unknown member, BadData for an
///         unexpected value.
CheckRequest parse_check_request(std::string_view text);

}  // namespace depthgrid
