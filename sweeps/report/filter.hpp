#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/value.hpp"

namespace depthgrid {

/// The value of a cell by full name; a null Value if it has none.
using CellLookup = std::function<Value(const std::string& name)>;

/// Whether a cell meets a condition.
using CellFilter = std::function<bool(const CellLookup& cell)>;

/// Reads a condition on cells: `gate = token and (depth > 6 or not status = completed)`.
///
///     or   := and ("or" and)*          and  := not ("and" not)*
///     not  := "not" not | "(" or ")" | name ("=" | "!=" | "<" | "<=" | ">" | ">=") value
///
/// A name is one of `names`, or the part after the last dot of exactly one of them. A value is a
/// number, true, false, null, a bare word or a quoted string. Beside a number 1/6 is one, too, and
/// 1/L, with the cell's `model.n_layers` as L. Numbers compare as numbers, words as text; values of
/// different types are neither equal nor ordered. A cell without the value matches only `= null`.
/// With = and !=, a * in a text stands for any characters and a ? for one.
/// @throws UserError (Usage) with a caret at the position of the error.
CellFilter parse_filter(std::string_view text, const std::vector<std::string>& names);

/// The full names in a condition, each once, in its order. @throws UserError as parse_filter().
std::vector<std::string> names_in_filter(std::string_view text,
                                         const std::vector<std::string>& names);

/// Whether the whole text fits a pattern in which * is any characters and ? is one.
bool fits_pattern(std::string_view text, std::string_view pattern);

/// The full name of `text`: itself, or the only one of `names` that ends in "." + text.
/// @param listed_by  the command that prints all names, for messages: of many, they show the
/// nearest.
/// @throws UserError (Usage) that lists the candidates.
std::string resolve_name(std::string_view text, const std::vector<std::string>& names,
                         std::string_view listed_by = "depthgrid results STORE --csv");

}  // namespace depthgrid
