#include "core/probe/lyapunov/sequence_moments.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/nan.hpp"

namespace depthgrid {

SequenceMoments::SequenceMoments(const at::Tensor& values) {
  const at::Tensor rows = (values.dim() == 1 ? values.unsqueeze(1) : values).contiguous();
  const auto entries = rows.accessor<double, 2>();
  for (std::int64_t i = 0; i < rows.size(1); ++i) {
    std::vector<double> present;
    for (std::int64_t b = 0; b < rows.size(0); ++b) {
      if (!std::isnan(entries[b][i])) present.push_back(entries[b][i]);
    }
    const auto n = static_cast<double>(present.size());
    double sum = 0, squares = 0;
    for (const double v : present) sum += v;
    const double centre = present.empty() ? kNaN : sum / n;
    for (const double v : present) squares += (v - centre) * (v - centre);
    mean.push_back(centre);
    spread.push_back(n < 2 ? kNaN : std::sqrt(squares / (n - 1)));
    most.push_back(present.empty() ? kNaN : *std::ranges::max_element(present));
    count.push_back(static_cast<std::int64_t>(present.size()));
  }
}

}  // namespace depthgrid
