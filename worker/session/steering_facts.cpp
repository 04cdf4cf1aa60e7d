#include "worker/session/steering_facts.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "core/config/axis_labels.hpp"

namespace depthgrid {

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
