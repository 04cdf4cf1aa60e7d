#include <algorithm>
#include <string>

#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

/// Padding that aligns columns, counted in characters, not bytes.
std::string padded(std::string text, std::size_t width) {
  const auto count = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
  text.append(count < width ? width - count : 0, ' ');
  return text + "  ";
}

std::string default_shown(const Leaf& leaf) {
  std::string out(leaf.default_text);
  if (leaf.default_text == "null" && !leaf.derived.empty()) {
    out += " = " + std::string(leaf.derived);
  }
  return out;
}

std::string meaning(const Leaf& leaf) {
  std::string out(leaf.doc);
  if (leaf.nullable && leaf.default_text != "null") out += "; null: " + std::string(leaf.derived);
  return out;
}

/// Text of a table cell, with bars escaped.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

/// "model.positions=rope" as "`model.positions`: rope".
std::string condition_shown(std::string_view condition) {
  std::string out(condition);
  const auto swap = [&out](std::string_view from, std::string_view to) {
    for (auto at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size())) {
      out.replace(at, from.size(), to);
    }
  };
  swap("!=", " ≠ ");
  swap("=", ": ");
  swap("|", " or ");
  swap(" & ", ", ");
  swap(" or model.family: ", "; or model.family: ");
  swap(" or model.norm: ", "; or model.norm: ");
  return out;
}

constexpr std::string_view kHead = R"(# Configuration

Generated from the table of leaves; `depthgrid schema` prints the same. Do not edit: change the table.

A sweep file is one YAML document. Fixed values are nested under `model`, `data`, `train`, ...; factors are
written with the whole path (`train.lr`) under `parameters`. The reader is strict: unknown and duplicate keys,
anchors, aliases, tags, merge keys, further documents, integers with leading zeros, `yes`/`no`/`on`/`off` as
booleans, values out of range and leaves that the chosen model does not read are errors, all reported at once
with file, line and column.

```yaml
name: width-by-rate
base: base/study1.yaml          # composed first; values below win
metric: {name: final_loss.valid, goal: minimize}

model: {family: time_indexed}   # fixed
train: {steps: 500}

parameters:                     # the grid: product of these
  model.modulation.hidden: [32, 64]
  train.lr: {logspace: [1e-4, 1e-2, 3]}
zip:                            # columns that move together
  - {model.d_model: [128, 256], model.n_heads: [2, 4]}
when:                           # factors of some cells only
  - {if: {model.modulation.hidden: 64}, parameters: {model.modulation.activation: [relu, silu]}}
exclude:
  - {model.modulation.hidden: 32, model.d_model: 256}
include:                        # further cells
  - {model.family: standard, tag: plain}
seeds: 3
```

Order of expansion: `base`, `parameters` × `zip`, `when`, `exclude`, `include`, `seeds`. Cells are listed in
the order of the file: the first factor varies slowest, seeds fastest.

**Match.** `match: {on: parameters, vary: model.d_ff, reference: {tag: mlp}, arms: {tag: gpt}}` sets the free width
of an arm after the expansion, so that the arm matches its reference in parameters, in the FLOPs of a token's forward
pass, or in the measured time of a training step. `plan` and `validate` show what was reached; if no width is within
the tolerance, the error names the nearest. The width is part of the identity, the request is not: the width is found
when the sweep is first planned, and read from the store's plans afterwards, so that neither another machine nor
another measurement makes new cells. A width of d_model is a multiple of n_heads.

FLOPs of a token are those of matrix products, of attention over a whole window of `data.seq_len` and of recurrences;
a multiplication and an addition are two. A cell whose layers skip tokens (`tdt`, `mod`) counts as its student at its
capacity: each dynamic layer executes k = ⌊γT⌋ of T tokens (or `min_k`), so that its products count with the share
r = k/T and its attention, which sees only executed tokens, with r²; what decides counts for every token (4d for the
router of `tdt`, 2(dh + h) for the predictor of `mod` and 2d for its router). The transition network and the gate of
`tdt` are used only in training and do not count.

**Phases.** `model.init.from: arm:TAG` starts a cell from the last weights of the cell with the same seed of the
`include` row with that tag, wherever in the file the row stands; `cell:ID` from one particular cell of this sweep,
whatever its seed. The source's id is hashed, so that a source trained differently makes different cells; its tag is
not. The cell waits for its source, whichever process trains it, and is never fused with it; optimiser, schedule and
data start afresh (the same `data.seed` draws the same windows again). Weights are matched by name and must fit: only
modules added on top of a trained model may be missing. Transition network, the gate's scalars, router and predictor
then keep their initial values, and the map of a control signal starts at zero; any other difference is an error at
that line. If the source does not complete, the cell fails with that reason. Results record what the cell started from
(`start_weights`, `start_weights_sha256`), and `logs` shows it.

`--set key=value[,value...]` on the command line overrides the file: one value fixes a leaf (even one that is a
factor), several make it a factor; `--set seeds=2` and other keys of the grid work too. Values are typed as in
YAML; brackets make a list value (`--set eval.splits=[train,valid]`).

**Paths** (`base`, `data.path`, `data.valid`, `data.test`, `data.tokenizer_path`, `data.cache`, `train.control.labels.file`,
`train.control.labels.scores`, `train.steering.file`, and the files of `model.init.from`)
are relative to the file in which they are written; those after `--set` are relative to the working directory.

**Class.** `PerCell`: part of a cell's identity, may differ inside one fused job. `PerCell*`: the number may
differ inside a job, the alternative (which word; zero or not) may not. `Structural`: identity, and equal inside
a fused job. `Execution`: belongs to the run; not part of the identity, never a factor.

**Identity.** A cell's id is the first 12 hex digits of the SHA-256 of the leaves that differ from their
default, resolved and typed. It makes no difference whether a default is written out, whether a preset or its
leaves are given, or whether it says `1e-4` or `0.0001`; a leaf added later with a default changes no id.

**null** in the default column means that the default is derived from other leaves.
)";

/// The lines of a leaf in the text. @param path, type  widths of the first two columns.
std::string leaf_lines(const Leaf& leaf, std::size_t path, std::size_t type) {
  std::string out = "  " + padded(std::string(leaf.path), path) + padded(leaf.type(), type) +
                    padded(std::string(name_of(leaf.leaf_class)), 10) + "default " +
                    default_shown(leaf);
  if (!leaf.range().empty()) out += "; " + leaf.range();
  if (leaf.unit != "–") out += "; in " + std::string(leaf.unit);
  out += "\n      " + meaning(leaf) + "\n";
  if (!leaf.read_when.empty()) out += "      read with " + condition_shown(leaf.read_when) + "\n";
  return out;
}

}  // namespace

std::string leaves_text(std::span<const std::size_t> rows) {
  std::size_t path = 0;
  std::size_t type = 0;
  for (const std::size_t row : rows) {
    path = std::max(path, schema()[row].path.size());
    type = std::max(type, schema()[row].type().size());
  }
  std::string out;
  for (const std::size_t row : rows) out += leaf_lines(schema()[row], path, type);
  return out;
}

std::string schema_text() {
  std::size_t path = 0;
  std::size_t type = 0;
  for (const Leaf& leaf : schema()) {
    path = std::max(path, leaf.path.size());
    type = std::max(type, leaf.type().size());
  }
  std::string out;
  for (const SchemaSection& section : schema_sections()) {
    out += (out.empty() ? "" : "\n") + std::string(section.title) + "\n";
    for (const Leaf& leaf : section.leaves) out += leaf_lines(leaf, path, type);
  }
  out += "\nThe grid\n";
  for (const GridKey& key : grid_keys()) {
    out += "  " + padded(std::string(key.name), 12) + std::string(key.type) + "; default " +
           std::string(key.default_text) + "\n      " + std::string(key.doc) + "\n";
  }
  return out;
}

std::string schema_markdown() {
  std::string out(kHead);
  out += "\n## The grid\n\n| key | type | default | meaning |\n|---|---|---|---|\n";
  for (const GridKey& key : grid_keys()) {
    out += "| `" + std::string(key.name) + "` | " + cell(key.type) + " | " +
           cell(key.default_text) + " | " + cell(key.doc) + " |\n";
  }
  for (const SchemaSection& section : schema_sections()) {
    out += "\n## " + std::string(section.title) +
           "\n\n| path | type | range | unit | default | class | meaning |\n"
           "|---|---|---|---|---|---|---|\n";
    for (const Leaf& leaf : section.leaves) {
      const std::string range = leaf.range();
      std::string text = meaning(leaf);
      if (!leaf.read_when.empty()) text += ". Read with " + condition_shown(leaf.read_when);
      out += "| `" + std::string(leaf.path) + "` | " + leaf.type() + " | " +
             cell(range.empty() ? "–" : range) + " | " + cell(leaf.unit) + " | " +
             cell(default_shown(leaf)) + " | " + std::string(name_of(leaf.leaf_class)) + " | " +
             cell(text) + " |\n";
    }
  }
  return out;
}

}  // namespace depthgrid
