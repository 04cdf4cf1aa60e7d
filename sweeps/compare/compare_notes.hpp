#pragma once

#include <string>

#include "sweeps/compare/compare.hpp"

namespace depthgrid {

/// Names the completed cells whose metric is no number; empty if there are none, or if a derived
/// metric has said why.
std::string without_figure_note(const Comparison& comparison);

/// Of several stores, those whose own question is another one than what is answered, unless that
/// was named: one line; empty if there are none.
std::string other_questions_note(const Listing& listing, const Comparison& comparison);

/// Below a table: what its differences are of, what was left out, refused or cannot be tested.
std::string left_out_notes(const EffectTable& table);

/// Below all tables: what their columns are.
/// @param marks  those of a terminal: "*" of the baseline, backticks around a column's title.
std::string common_notes(const Comparison& comparison, bool marks);

}  // namespace depthgrid
