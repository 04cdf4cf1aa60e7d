#include <limits>

#include "models/closed_form.hpp"
#include "worker/audit/audit_checks.hpp"

namespace depthgrid {

AuditResult check_parameter_count(AuditRoom& room) {
  const auto stored = static_cast<double>(layout_of(room.subject(), room.options()).size());
  const auto formula = closed_form_parameters(room.options());
  if (!formula) {
    return unjudged(AuditVerdict::Undecided, stored, std::numeric_limits<double>::quiet_NaN(),
                    "no closed form is known for family " + room.options().family);
  }
  return judged(stored == static_cast<double>(*formula), stored, static_cast<double>(*formula),
                "parameters of a cell, against the closed form of its family");
}

}  // namespace depthgrid
