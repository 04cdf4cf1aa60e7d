#include "worker/audit/audit_models.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/config/facts/gathered_execution.hpp"
#include "models/cost_model.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kMostRows = 8;
constexpr double kPassBytes = 256e6;   // more rows per pass would not be faster
constexpr double kGraphBytes = 700e6;  // of a pass with its graph
constexpr std::size_t kFewestCells = 3;
constexpr double kSeveralFlops = 3e10;  // most operations of a row of several cells

// What cells beyond the structure's variety differ in.
constexpr std::array<double, 4> kScales = {1, 0.5, 1.0 / 3, 1.5};
constexpr std::array<double, 4> kCapacities = {1, 0.5, 0.75, 0.25};

std::vector<std::uint64_t> seeds_of(std::uint64_t first, const std::vector<std::size_t>& cells) {
  std::vector<std::uint64_t> seeds;
  for (const std::size_t cell : cells) seeds.push_back(first + cell);
  return seeds;
}

/// Whether a capacity leaves a choice among this many tokens.
bool chooses(double capacity, std::int64_t tokens) {
  const std::int64_t k = capacity_of(capacity, tokens);
  return k > 0 && k < tokens;
}

}  // namespace

AuditModels::AuditModels(AuditSubject subject)
    : subject_(std::move(subject)),
      options_(subject_.options({0})),
      parameters_(layout_of(subject_, options_).size()) {}

double AuditModels::row_bytes() const {
  const double logits = 8.0 * static_cast<double>(subject_.tokens * options_.vocabulary);
  return activation_bytes(options_, 1, subject_.tokens) / static_cast<double>(options_.layers) +
         logits;
}

std::int64_t AuditModels::rows() const {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(kPassBytes / row_bytes()), 1,
                                  kMostRows);
}

double AuditModels::row_flops() const {
  return flops_per_token(options_, kMostRows, subject_.tokens) *
         static_cast<double>(subject_.tokens);
}

std::int64_t AuditModels::affordable(double share) const {
  return static_cast<std::int64_t>(affordable_rows(share));
}

double AuditModels::affordable_rows(double share) const {
  return share * kAuditFlops / row_flops();
}

std::int64_t AuditModels::most_rows(const ModelOptions& o, std::int64_t tokens) const {
  const double row =
      static_cast<double>(o.cells) *
      (activation_bytes(o, 1, tokens) + 12.0 * static_cast<double>(tokens * o.vocabulary));
  const double limit = std::min(kGraphBytes, subject_.memory_bytes / 4);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(limit / row));
}

std::string AuditModels::too_large() const {
  const double bytes = 8.0 * static_cast<double>(parameters_) + 4 * row_bytes();
  if (bytes <= subject_.memory_bytes) return "";
  return fmt::format("at size it takes {:.2g} GB, half of the memory is {:.2g} GB", bytes / 1e9,
                     subject_.memory_bytes / 1e9);
}

AuditModel* AuditModels::full() {
  if (!too_large().empty()) return nullptr;
  if (!full_) full_.emplace(subject_, options_, std::vector<std::uint64_t>{subject_.seed});
  return &*full_;
}

AuditModel* AuditModels::several() {
  if (several_) return &*several_;
  if (!too_large().empty()) return nullptr;
  std::vector<std::size_t> wanted = cells();
  const auto count = static_cast<double>(wanted.size());
  const double bytes = count * (10.0 * static_cast<double>(parameters_) + 4 * row_bytes());
  const bool fits = bytes <= subject_.memory_bytes / 2 && count * row_flops() <= kSeveralFlops;
  if (!fits) wanted = {0};
  several_.emplace(subject_, various(wanted), seeds_of(subject_.seed, wanted),
                   AuditedAs{subject_.mixed ? Arithmetic::Mixed : Arithmetic::Float32, true});
  return &*several_;
}

std::vector<std::size_t> AuditModels::cells() const {
  std::vector<std::size_t> out(std::max(subject_.variety, kFewestCells));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

ModelOptions AuditModels::various(ModelOptions o, const std::vector<std::size_t>& cells,
                                  std::int64_t tokens) const {
  std::vector<double>& capacity = o.routing.capacity;
  const bool mixes = !o.routing.gathered;  // gathered layers are for cells of one capacity
  if (!mixes) std::ranges::fill(capacity, capacity.front());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] < subject_.variety) continue;
    o.residual.scale[i] *= kScales[cells[i] % kScales.size()];
    if (mixes && !capacity.empty()) capacity[i] = kCapacities[cells[i] % kCapacities.size()];
  }
  if (capacity.empty()) return o;
  const bool any = std::ranges::any_of(capacity, [&](double c) { return chooses(c, tokens); });
  const bool copies = std::ranges::adjacent_find(cells, std::ranges::not_equal_to{}) == cells.end();
  if (!any)
    std::ranges::fill(mixes && !copies ? std::span(&capacity.back(), 1) : std::span(capacity), 0.5);
  return o;
}

ModelOptions AuditModels::various(const TwinSize& size,
                                  const std::vector<std::size_t>& cells) const {
  return various(twin_of(subject_.options(cells), size), cells,
                 std::min(subject_.tokens, size.tokens));
}

ModelOptions AuditModels::various(const std::vector<std::size_t>& cells) const {
  return various(subject_.options(cells), cells, subject_.tokens);
}

ModelOptions AuditModels::one_of(std::size_t cell) const {
  const ModelOptions all = various(cells());
  ModelOptions o = subject_.options({cell});
  o.residual.scale = {all.residual.scale.at(cell)};
  if (!all.routing.capacity.empty()) o.routing.capacity = {all.routing.capacity.at(cell)};
  return o;
}

AuditModel AuditModels::built(ModelOptions o, const std::vector<std::size_t>& cells,
                              AuditedAs as) const {
  return {subject_, std::move(o), seeds_of(subject_.seed, cells), as};
}

AuditModel AuditModels::twin(const TwinSize& size, const std::vector<std::size_t>& cells,
                             AuditedAs as) const {
  return built(various(size, cells), cells, as);
}

AuditModel AuditModels::learner() const {
  return {subject_, without_noise(twin_of(subject_.options({0}), kLearningTwin)), {subject_.seed}};
}

AuditResult judged(bool pass, double value, double threshold, std::string note) {
  return {"", pass ? AuditVerdict::Pass : AuditVerdict::Fail, value, threshold, std::move(note)};
}

}  // namespace depthgrid
