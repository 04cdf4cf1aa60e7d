#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

constexpr GridKey kKeys[] = {
    {"name", "[A-Za-z0-9][A-Za-z0-9._-]{0,63}", "file name without its ending", "of the sweep"},
    {"description", "text", "\"\"", "one sentence, shown in reports"},
    {"method", "grid, ablation, list", "grid",
     "product of the factors; one factor at a time around the baseline; `include` rows only"},
    {"pairs", "bool", "false", "with `ablation`: every pair of changes too"},
    {"metric", "{name, goal: minimize or maximize}", "{name: final_loss.valid, goal: minimize}",
     "what cells are ranked by: a variable, with the split after a dot; eval_loss.valid is the "
     "default where `eval.final_splits` lacks valid"},
    {"base", "path or [paths]", "null",
     "files composed first, relative to this one; later ones and this file win; a base holds fixed "
     "leaves, `base`, `metric`, `seeds` and `tags`"},
    {"parameters",
     "{leaf: [levels]; {values: [...]}; {value: x}; {linspace: [a, b, n]}; {logspace: [a, b, n]}}",
     "{}",
     "factors; their product is the grid. A list is levels; a list as a value needs `value:`"},
    {"zip", "[{leaf: [levels], ...}, ...]", "[]",
     "columns of equal length that move together, crossed with the rest"},
    {"when", "[{if: {leaf: value or [values]}, parameters: {...}}, ...]", "[]",
     "factors of only those cells that meet the condition"},
    {"exclude", "[{leaf: value or [values], ...}, ...]", "[]",
     "drops cells that match all entries of a row"},
    {"include", "[{leaf: value, ..., tag: name}, ...]", "[]",
     "extra cells: the fixed part and the baseline's levels, changed as the row (and its preset) "
     "says; what the row's model does not read is dropped with a note"},
    {"baseline", "{leaf: value, ...} or {tag: name}", "first level of each factor",
     "arm that the others are compared with"},
    {"match",
     "{on: parameters, flops or time; vary: leaf; tolerance: share or %; reference, arms: {leaf: "
     "value, ...} or {tag: name}}, or a list of these",
     "null",
     "sets `vary` (default model.d_ff) of `arms` (default: all but the reference) so that they "
     "meet the `reference` (default: the baseline) within `tolerance` (default 1 %); found once, "
     "then "
     "read from the plan of the store"},
    {"seeds", "int n (0…n−1) or [ints]", "1", "replicates; never a factor"},
    {"order", "file, shuffled(n)", "file", "order of the cells; n seeds the shuffle"},
    {"max_cells", "int ≥ 1", "1000000",
     "a larger grid is refused; more than 10,000 cells need --yes"},
    {"tags", "[words]", "[]", "copied to the store"},
    {"overrides", "[leaves]", "[]",
     "leaves whose value or factor in this file also wins over the preset of an `include` row, as "
     "`--set` does; in the `sweep.yaml` of a store"},
};

}  // namespace

std::span<const GridKey> grid_keys() {
  return kKeys;
}

}  // namespace depthgrid
