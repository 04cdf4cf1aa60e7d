#include "worker/audit/audit_room.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/cost_model.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kMostRows = 8;
constexpr double kPassBytes = 256e6;  // more rows per pass would not be faster

}  // namespace

AuditRoom::AuditRoom(AuditSubject subject)
    : subject_(std::move(subject)),
      options_(subject_.options(1)),
      parameters_(layout_of(subject_, options_).size()) {}

double AuditRoom::row_bytes() const {
  const double logits = 8.0 * static_cast<double>(subject_.tokens * options_.vocabulary);
  return activation_bytes(options_, 1, subject_.tokens) / static_cast<double>(options_.layers) +
         logits;
}

std::int64_t AuditRoom::rows() const {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(kPassBytes / row_bytes()), 1,
                                  kMostRows);
}

std::string AuditRoom::too_large() const {
  const double bytes = 8.0 * static_cast<double>(parameters_) + 4 * row_bytes();
  if (bytes <= subject_.memory_bytes) return "";
  return fmt::format("at size it takes {:.2g} GB, half of the memory is {:.2g} GB", bytes / 1e9,
                     subject_.memory_bytes / 1e9);
}

AuditModel* AuditRoom::full() {
  if (!too_large().empty()) return nullptr;
  if (!full_) full_.emplace(subject_, options_, std::vector<std::uint64_t>{subject_.seed});
  return &*full_;
}

AuditModel AuditRoom::twin() const {
  return {subject_, twin_of(options_, kPassTwin), {subject_.seed}};
}

AuditModel AuditRoom::learner() const {
  return {subject_, without_noise(twin_of(options_, kLearningTwin)), {subject_.seed}};
}

AuditResult judged(bool pass, double value, double threshold, std::string note) {
  return {"", pass ? AuditVerdict::Pass : AuditVerdict::Fail, value, threshold, std::move(note)};
}

}  // namespace depthgrid
