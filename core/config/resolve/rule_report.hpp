#pragma once

#include <initializer_list>
#include <string>

#include "core/config/resolve/slots.hpp"
#include "core/config/schema.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {

/// Where the checks of rules between leaves report what they find.
class RuleReport {
 public:
  RuleReport(const Slots& slots, Place arm, Diagnostics& diagnostics)
      : slots_(slots), arm_(arm), diagnostics_(diagnostics) {}

  /// Reports at the first of the leaves that a file names.
  void operator()(std::initializer_list<std::size_t> leaves, const std::string& message) const {
    for (const std::size_t leaf : leaves) {
      if (!diagnostics_.trusts(leaf)) return;
    }
    Place place = arm_;
    for (const std::size_t leaf : leaves) {
      if (slots_.places[leaf].file >= 0) {
        place = slots_.places[leaf];
        break;
      }
    }
    diagnostics_.error(place, message);
  }

  /// At a leaf that a file names, or else at the arm.
  void note(std::size_t leaf, const std::string& message) const {
    const Place place = slots_.places[leaf];
    diagnostics_.note(place.file >= 0 ? place : arm_, message);
  }

  std::string shown(std::size_t leaf) const {
    return "`" + std::string(schema()[leaf].path) + ": " + plain_text(*slots_.values[leaf]) + "`";
  }

 private:
  const Slots& slots_;
  Place arm_;
  Diagnostics& diagnostics_;
};

}  // namespace depthgrid
