#include "models/options/regulariser_options.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace depthgrid {

std::optional<std::size_t> RegulariserOptions::place(Regulariser kind) const {
  const auto term = std::ranges::find(terms, kind, &Term::kind);
  if (term == terms.end()) return std::nullopt;
  return static_cast<std::size_t>(term - terms.begin());
}

std::vector<Regulariser> RegulariserOptions::directed() const {
  std::vector<Regulariser> out;
  for (const Term& term : terms) {
    const bool follows =
        term.kind == Regulariser::SpectralNorm || term.kind == Regulariser::LogNorm;
    if (follows) out.push_back(term.kind);
  }
  return out;
}

bool RegulariserOptions::of_depth() const {
  return std::ranges::any_of(
      terms, [](const Term& term) { return term.kind != Regulariser::ControlSmoothness; });
}

bool RegulariserOptions::of_jacobian() const {
  return has(Regulariser::JacobianFrobenius) || !directed().empty();
}

RegulariserOptions regulariser_options(const CellConfigs& cells) {
  const CellConfig& first = *cells.at(0);
  RegulariserOptions o;
  for (std::size_t i = 0; i < kRegulariserNames.size(); ++i) {
    std::vector<double> weight = reals(cells, "regularisers." + std::string(kRegulariserNames[i]));
    if (std::ranges::all_of(weight, [](double w) { return w == 0; })) continue;
    o.terms.push_back({static_cast<Regulariser>(i), std::move(weight)});
  }
  if (o.terms.empty()) return o;
  o.gaussian = first.word("regularisers.jacobian_noise") == "gaussian";
  o.iterations = first.integer("regularisers.iterations");
  o.margin = reals(cells, "regularisers.log_norm_margin");
  o.delta = reals(cells, "regularisers.control_delta");
  for (const CellConfig* cell : cells) {
    const std::vector<double> band = numbers(cell->at("regularisers.control_band"));
    o.band_low.push_back(band.empty() ? 0 : band.at(0));
    o.band_high.push_back(band.empty() ? 0 : band.at(1));
  }
  return o;
}

}  // namespace depthgrid
