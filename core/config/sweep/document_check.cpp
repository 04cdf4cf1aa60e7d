#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "core/config/axis_labels.hpp"
#include "core/config/schema.hpp"
#include "core/config/start_name.hpp"
#include "core/config/sweep/sweep_reader.hpp"

namespace depthgrid {
namespace {

/// Variables by which cells can be ranked; `split`: a split follows after a dot.
struct Metric {
  std::string_view name;
  bool split;
};
constexpr std::array<Metric, 12> kMetrics = {{
    {"eval_loss", true},
    {"eval_perplexity", true},
    {"eval_bits_per_byte", true},
    {"eval_accuracy", true},
    {"final_loss", true},
    {"final_perplexity", true},
    {"final_bits_per_byte", true},
    {"best_loss", true},
    {"best_step", true},
    {"train_loss", false},
    {"train_loss_total", false},
    {"train_loss_last50", false},
}};

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : kMetrics) {
    if (!metric.split) names.emplace_back(metric.name);
    for (const auto split : kSplitNames) {
      if (metric.split) names.push_back(std::string(metric.name) + "." + std::string(split));
    }
  }
  return names;
}

/// Every value that the document gives to a leaf.
std::vector<WrittenLeaf> written_values(const SweepDocument& document, std::size_t leaf) {
  std::vector<WrittenLeaf> out;
  const auto take = [&](const WrittenLeaf& one) {
    if (one.leaf == leaf && one.value != nullptr) out.push_back(one);
  };
  const auto take_all = [&](const std::vector<Factor>& factors) {
    for (const Factor& factor : factors) {
      for (const Column& column : factor.columns) {
        for (std::size_t i = 0; i < column.values.size(); ++i) {
          take({column.leaf, column.values[i], column.places[i]});
        }
      }
    }
  };
  for (const auto& [at, one] : document.fixed) take(one);
  take_all(document.factors);
  for (const WhenBlock& block : document.when) take_all(block.factors);
  for (const IncludeRow& row : document.include) {
    for (const WrittenLeaf& one : row.leaves) take(one);
  }
  return out;
}

/// `model.init.from: arm:TAG` names one `include` row (two rows never share a tag).
void check_start_tags(const SweepDocument& document, Diagnostics& diagnostics) {
  std::vector<std::string> tags;
  std::string listed;
  for (const IncludeRow& row : document.include) {
    if (row.tag.empty()) continue;
    tags.push_back(row.tag);
    listed += (listed.empty() ? "" : ", ") + row.tag;
  }
  for (const WrittenLeaf& one : written_values(document, leaf_index("model.init.from"))) {
    const StartName start = start_name(*one.value);
    if (start.kind != StartName::Kind::Arm || std::ranges::find(tags, start.name) != tags.end()) {
      continue;
    }
    const std::string near = nearest(start.name, tags);
    diagnostics.error(
        one.place,
        "`model.init.from`: arm:" + start.name + ": no `include` row has this tag" +
            (!near.empty()  ? " (did you mean 'arm:" + near + "'?)"
             : tags.empty() ? "; give the row to start from one: `include: [{tag: NAME, ...}]`"
                            : "; tags: " + listed));
  }
}

}  // namespace

void note_one_seed(std::int64_t seed, std::string_view sign, Place place,
                   Diagnostics& diagnostics) {
  if (seed <= 1) return;
  diagnostics.note(place, fmt::format("`seed{0}{1}` is one run with seed {1}; "
                                      "`seeds{0}{1}` is {1} runs",
                                      sign, seed));
}

void check_document(SweepDocument& document, Diagnostics& diagnostics) {
  std::map<std::size_t, Place> swept;  // where each leaf is a factor
  const auto add = [&](const Column& column) {
    const auto [first, fresh] = swept.emplace(column.leaf, column.place);
    if (fresh) return;
    diagnostics.error(column.place, "`" + std::string(schema()[column.leaf].path) +
                                        "` is a factor already (line " +
                                        std::to_string(first->second.line) + ")");
  };
  for (const Factor& factor : document.factors) std::ranges::for_each(factor.columns, add);
  for (const WhenBlock& block : document.when) {
    for (const Factor& factor : block.factors) {
      // Two blocks may have the same leaf, for different cells.
      const Column& column = factor.columns.front();
      if (swept.contains(column.leaf)) add(column);
    }
  }
  for (const auto& [leaf, place] : swept) {
    const auto fixed = document.fixed.find(leaf);
    if (fixed == document.fixed.end()) continue;
    if (fixed->second.place.file == place.file) {
      diagnostics.note(fixed->second.place, "`" + std::string(schema()[leaf].path) +
                                                "` is fixed here and a factor at line " +
                                                std::to_string(place.line) + ": the factor wins");
    }
    document.fixed.erase(fixed);  // a factor wins over a fixed value, here or in a base
  }
  const auto seed = document.fixed.find(leaf_index("seed"));
  if (seed != document.fixed.end()) {
    if (document.seeds_place) {
      diagnostics.error(seed->second.place, "`seed` is what `seeds` fills (line " +
                                                std::to_string(document.seeds_place->line) +
                                                "): keep one of them");
    } else {
      const std::int64_t only = *seed->second.value->get_if<std::int64_t>();
      document.seeds = {only};
      note_one_seed(only, ": ", seed->second.place, diagnostics);
    }
    document.fixed.erase(seed);
  }
  if (document.method == "list") {
    for (const Factor& factor : document.factors) {
      if (factor.size() > 1) {
        diagnostics.error(factor.columns.front().place,
                          "`method: list` has `include` rows only: a factor with several levels "
                          "needs `method: grid` or `ablation`");
      }
    }
    if (document.include.empty()) {
      diagnostics.error(document.place, "`method: list` without `include` rows has zero cells");
    }
  }
  if (document.pairs && document.method != "ablation") {
    diagnostics.error(document.place, "`pairs: true` is read with `method: ablation`; here it is " +
                                          document.method);
  }
  const std::vector<std::string> names = metric_names();
  if (std::ranges::find(names, document.metric) == names.end()) {
    const std::string near = nearest(document.metric, names);
    diagnostics.error(document.metric_place.value_or(document.place),
                      "`metric.name`: no metric '" + document.metric + "'" +
                          (near.empty() ? ": a variable and a split, such as eval_loss.valid, "
                                          "final_loss.valid or train_loss"
                                        : " (did you mean '" + near + "'?)"));
  }
  check_start_tags(document, diagnostics);
}

}  // namespace depthgrid
