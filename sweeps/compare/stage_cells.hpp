#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// The cells of one store's plan by arm and seed, with their figures in one metric; the listing
/// must outlive it. Of cells with one arm and seed the first counts.
class StageCells {
 public:
  /// @param store  one of the listing's.
  StageCells(const Listing& listing, const std::string& store, std::string metric);

  /// The row of a cell; nothing if the plan has none.
  std::optional<std::size_t> row(const std::string& arm, std::int64_t seed) const;
  /// Of a completed cell; else NaN.
  double figure(const std::string& arm, std::int64_t seed) const;
  std::vector<double> figures(const std::string& arm, const std::vector<std::int64_t>& seeds) const;
  /// arm − baseline, seed by seed; NaN where one is missing.
  std::vector<double> differences(const std::string& arm, const std::string& baseline,
                                  const std::vector<std::int64_t>& seeds) const;

 private:
  const Listing& listing_;
  std::string metric_;
  std::map<std::string, std::map<std::int64_t, std::size_t>> rows_;
};

}  // namespace depthgrid
