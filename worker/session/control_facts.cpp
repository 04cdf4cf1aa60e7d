#include "worker/session/control_facts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"

namespace depthgrid {
namespace {

/// Flags of control_leak.
enum class Leak : std::uint8_t { None, Leaks, Unknown };

/// A gain of more nats than the signal can carry is a leak of the text into its signal.
Leak leak_of(const ControlFigures& figures, double entropy) {
  constexpr double kQuantile = 1.96;
  if (std::isnan(figures.gain_error)) return Leak::Unknown;
  return figures.gain - kQuantile * figures.gain_error > entropy ? Leak::Leaks : Leak::None;
}

}  // namespace

void set_labels(CellFacts& facts, const CorpusLabels& labels, const CellConfig& config) {
  std::vector<std::string> names;
  for (const Attribute& attribute : labels.attributes) names.push_back(attribute.name);
  const auto axes = std::ssize(names);
  facts.axes.push_back({.name = "control_axis", .length = axes, .labels = names, .values = {}});
  facts.axes.push_back({.name = "control_axis_b", .length = axes, .labels = names, .values = {}});
  const LabelStatistics& of = labels.statistics;
  facts.set("control_label_rate", of.rate);
  facts.set("control_label_threshold", of.threshold);
  facts.set("control_label_entropy", of.total_entropy());
  std::vector<double> phi;
  for (const std::vector<double>& row : of.phi) phi.insert(phi.end(), row.begin(), row.end());
  facts.set("control_label_phi", std::move(phi));
  facts.set("control_label_sentences", static_cast<double>(of.sentences));
  facts.set("control_signal_entropy", labels.signal_entropy);
  const bool moves = config.integer("train.steps") > 0 && config.real("train.control.neutral") < 1;
  const bool constant = config.word("train.control.labels.shuffle") == "constant";  // u = 1 always
  std::vector<double> trained;
  for (const bool varies : labels.trained) trained.push_back(moves && (varies || constant) ? 1 : 0);
  facts.set("control_axis_trained", std::move(trained));
}

void set_control(CellFacts& facts, const CorpusLabels& labels,
                 const std::array<std::vector<ControlFigures>, 4>& figures, std::size_t e) {
  const auto column = [&](const char* name, const auto& of) {
    std::vector<double> out;
    for (const std::vector<ControlFigures>& split : figures) {
      out.push_back(split.empty() ? kNaN : of(split[e]));
    }
    facts.set(name, std::move(out));
  };
  using F = ControlFigures;
  column("control_nll_neutral", [](const F& f) { return f.neutral; });
  column("control_nll_previous", [](const F& f) { return f.previous; });
  column("control_nll_matched", [](const F& f) { return f.matched; });
  column("control_nll_mismatched", [](const F& f) { return f.mismatched; });
  column("control_gain_sentence", [](const F& f) { return f.gain; });
  column("control_gain_error", [](const F& f) { return f.gain_error; });
  const double entropy =
      std::accumulate(labels.signal_entropy.begin(), labels.signal_entropy.end(), 0.0);
  std::vector<double> leaks;
  for (const std::vector<F>& split : figures) {
    leaks.push_back(split.empty() ? -1 : static_cast<double>(leak_of(split[e], entropy)));
  }
  facts.set("control_leak", std::move(leaks));
  // The matrix of the text that was kept for the end: valid, or the first that was evaluated.
  const auto valid = static_cast<std::size_t>(Split::Valid);
  const auto* const any = std::ranges::find_if(figures, [](const auto& s) { return !s.empty(); });
  if (any == figures.end()) return;
  const std::vector<F>& shown = figures[valid].empty() ? *any : figures[valid];
  const auto matrix = [&](const char* name, double AreaUnderCurve::* member) {
    std::vector<double> out;
    for (const AreaUnderCurve& area : shown[e].auc) out.push_back(area.*member);
    facts.set(name, std::move(out));
  };
  matrix("control_auc", &AreaUnderCurve::auc);
  matrix("control_auc_low", &AreaUnderCurve::low);
  matrix("control_auc_high", &AreaUnderCurve::high);
}

void set_steering(CellFacts& facts, const std::vector<std::string>& axis_names,
                  const std::vector<SteeringFigures>& figures, std::size_t e, std::int64_t steps) {
  if (figures.empty()) return;
  using F = SteeringFigures;
  const auto axis = [&](const char* name, const auto& names) {
    std::vector<std::string> labels(names.begin(), names.end());
    const auto length = std::ssize(labels);
    facts.axes.push_back(
        {.name = name, .length = length, .labels = std::move(labels), .values = {}});
  };
  axis("control_axis", axis_names);
  axis("steering_part", kSteeringPartNames);
  axis("steering_signal", kSteeringSignalNames);
  // One number of each axis and part; or one for each signal too.
  const auto column = [&](const char* name, const auto& of) {
    std::vector<double> out;
    for (const std::array<F::Entry, 3>& parts : figures[e].axes) {
      for (const F::Entry& entry : parts) out.push_back(of(entry));
    }
    facts.set(name, std::move(out));
  };
  const auto masses = [&](const char* name, std::array<double, 3> F::Entry::* of) {
    std::vector<double> out;
    for (const std::array<F::Entry, 3>& parts : figures[e].axes) {
      for (const F::Entry& entry : parts) {
        out.insert(out.end(), (entry.*of).begin(), (entry.*of).end());
      }
    }
    facts.set(name, std::move(out));
  };
  masses("steering_positive_mass", &F::Entry::positive);
  masses("steering_negative_mass", &F::Entry::negative);
  column("steering_accuracy", [](const F::Entry& entry) { return entry.accuracy; });
  column("steering_neutral_share", [](const F::Entry& entry) { return entry.neutral_share; });
  column("steering_prompts",
         [](const F::Entry& entry) { return static_cast<double>(entry.prompts); });
  std::vector<double> trained;
  for (const std::array<F::Entry, 3>& parts : figures[e].axes) {
    trained.push_back(steps > 0 && parts[F::Train].prompts > 0 ? 1 : 0);
  }
  facts.set("control_axis_trained", std::move(trained));
}

}  // namespace depthgrid
