#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/context/execution_mode.hpp"
#include "models/options/leaf_readers.hpp"

namespace depthgrid {

/// Layers that may skip tokens, how many they execute, and how a student decides.
struct RoutingOptions {
  std::vector<std::int64_t> layers = {};  // 0-based, ascending
  std::vector<double> capacity = {};      // (E) γ
  std::vector<std::int64_t> min_k = {};   // (E) fewest executed tokens of a sequence
  Decider decider = Decider::Threshold;
  std::vector<double> threshold = {};  // (E) τ, strict >
  std::int64_t calibration_tokens = 65536;
  bool always_first = false;         // token 1 is never skipped
  bool gathered = false;             // only tokens chosen by a TopK pass through a block
  std::int64_t gathered_length = 0;  // T at which they do, if cells of equal k may differ in γ;
                                     // 0: every T

  /// Default mode at inference: the student's, if there are dynamic layers.
  ExecutionMode own_mode() const noexcept {
    return layers.empty() ? ExecutionMode::Dense : ExecutionMode::Student;
  }

  /// Index of a layer among the dynamic ones; none for an ordinary layer.
  std::optional<std::int64_t> index(std::int64_t layer) const;
};

/// What the blocks of a temporal dynamic transformer compute in training.
enum class TrainPath : std::uint8_t {
  Dense,      ///< x + Δx for all tokens; the gate only teaches the router
  GatedSoft,  ///< selected tokens: x + g Δx
  GatedSt     ///< selected tokens: x + Δx, with the gradient of g (straight through)
};

/// Initial values of the last matrix of a transition network.
enum class TpnStart : std::uint8_t {
  Normal,  ///< N(0, 0.02²)
  Xavier,
  Zero  ///< it predicts no change
};

/// `model.tdt.*` besides the options common to routing families.
struct TdtOptions {
  TrainPath path = TrainPath::GatedSt;
  std::vector<std::int64_t> dense_steps = {};  // (E) first training steps that execute every token
  std::int64_t window = 100;                   // W
  bool exclusive = false;                      // the average leaves out the token itself
  std::vector<double> o_ce = {}, m_cu = {};    // (E) initial effective values
  std::vector<double> beta_ce = {}, beta_cu = {};  // (E) initial, before softplus
  bool positive_scalars = true;                    // o_ce and m_cu are softplus of a parameter
  bool layer_rms = false;                          // D is divided by its layer's average
  bool gate_grad_to_trunk = false;                 // Δx and its prediction attached inside the gate
  std::int64_t tpn_width = 8;                      // hidden width of the transition network
  bool tpn_norm = true;
  TpnStart tpn_start = TpnStart::Normal;
  bool tpn_detach_input = true;
  bool router_norm = true;
  bool router_bias = true;
  std::vector<double> router_bias_init = {};  // (E)
  bool router_detach_input = true;
  std::vector<double> lambda_tpn = {}, lambda_causal = {};  // (E)
};

/// `model.mod.*` besides the options common to routing families.
struct ModOptions {
  std::int64_t predictor_hidden = 0;
  std::vector<double> lambda_predictor = {};  // (E)
};

/// Even hidden width of a transition network: ratio · width, at least `least`.
std::int64_t transition_width(double ratio, std::int64_t least, std::int64_t width);

/// Layers and capacities of families that skip tokens (`tdt`, `mod`); empty for others.
RoutingOptions routing_options(const CellConfigs& cells);
TdtOptions tdt_options(const CellConfigs& cells);
ModOptions mod_options(const CellConfigs& cells);

}  // namespace depthgrid
