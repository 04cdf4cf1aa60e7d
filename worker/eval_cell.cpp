#include "worker/eval_cell.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/data/corpus.hpp"
#include "core/data/utf8.hpp"
#include "worker/data_pool.hpp"
#include "worker/eval_plan.hpp"
#include "worker/stored_model.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kCorpora[] = {"wikitext-2", "tiny-shakespeare", "self"};

/// One way to run the model over the tokens, and what came of it.
struct ModeRow {
  std::string mode;
  EvalResult result;
};

Split split_of(const std::string& name) {
  const auto* const at = std::ranges::find(kSplitNames, name);
  if (at == kSplitNames.end()) {
    throw UserError(ExitCode::Usage,
                    fmt::format("--split {}: there are {}", name, fmt::join(kSplitNames, ", ")));
  }
  return static_cast<Split>(at - kSplitNames.begin());
}

/// Text of a file, or of the split of a named corpus.
std::string text_of(const EvalOrder& order, const CellConfig& config, bool utf8) {
  if (std::ranges::find(kCorpora, order.data) != std::end(kCorpora)) {
    DataOptions options = data_options(config);
    options.corpus = order.data;
    options.paths.clear();
    options.test.clear();
    return read_corpus(options, nullptr, utf8).text(split_of(order.split));
  }
  std::ifstream in(order.data, std::ios::binary);
  if (!fs::is_regular_file(order.data) || !in) {
    throw UserError(ExitCode::NoInput,
                    fmt::format("--data {}: there is no such file, and the corpora are {}",
                                order.data, fmt::join(kCorpora, ", ")));
  }
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (utf8) require_utf8(text, order.data);
  return text;
}

/// Other tokens than the cell's own, cut by its tokeniser.
TokenStream other_stream(const EvalOrder& order, const StoredModel& stored, const Dataset& data) {
  if (!data.tokenizer) {
    throw UserError(ExitCode::Usage, fmt::format("--data: corpus {} has no tokeniser that could "
                                                 "cut another text; leave --data out",
                                                 data.corpus));
  }
  const std::string text = text_of(order, stored.config, data.tokenizer->needs_utf8());
  const std::vector<std::uint32_t> ids = data.tokenizer->encode(text);
  return TokenStream::from_ids(ids, data.vocab_size, static_cast<std::int64_t>(text.size()));
}

Json number(double x) {
  return std::isfinite(x) ? Json(x) : Json();
}

Json row_json(const ModeRow& row, bool by_position) {
  const EvalResult& r = row.result;
  Json json = {{"mode", row.mode},
               {"tokens", r.tokens},
               {"loss", number(r.loss)},
               {"loss_error", number(r.error)},
               {"perplexity", number(r.perplexity)},
               {"bits_per_byte", number(r.bits_per_byte)},
               {"accuracy", number(r.accuracy)}};
  if (by_position) {
    json["loss_by_position"] = Json::array();
    for (const double x : r.by_position) json["loss_by_position"].push_back(number(x));
  }
  return json;
}

std::string table(const std::vector<ModeRow>& rows, bool by_position) {
  std::string text = fmt::format("{:<18} {:>10} {:>10} {:>10} {:>12} {:>13} {:>9}\n", "mode",
                                 "tokens", "nats", "±", "perplexity", "bits per byte", "accuracy");
  for (const ModeRow& row : rows) {
    const EvalResult& r = row.result;
    text += fmt::format(
        "{:<18} {:>10} {:>10.5f} {:>10.5f} {:>12.4f} {:>13} {:>9.4f}\n", row.mode, r.tokens, r.loss,
        r.error, r.perplexity,
        std::isfinite(r.bits_per_byte) ? fmt::format("{:.5f}", r.bits_per_byte) : "–", r.accuracy);
  }
  if (!by_position) return text;
  text += "\nposition";
  for (const ModeRow& row : rows) text += fmt::format(" {:>18}", row.mode);
  for (std::size_t t = 0; t < rows.front().result.by_position.size(); ++t) {
    text += fmt::format("\n{:>8}", t);
    for (const ModeRow& row : rows) text += fmt::format(" {:>18.5f}", row.result.by_position[t]);
  }
  return text + "\n";
}

}  // namespace

int eval_cell(const EvalOrder& order) {
  const StoredModel stored(order.from);
  DataPool pool(stored.store);
  const auto data = pool.open(stored.config);
  const bool own = order.data.empty() || order.data == data->corpus;
  const Split split = split_of(order.split);
  const TokenStream stream = own ? data->split(split) : other_stream(order, stored, *data);
  const std::string place = own ? data->corpus : order.data;
  if (stream.size() < 2) {
    throw UserError(
        ExitCode::NoInput,
        fmt::format("{}: the split '{}' is absent, or has no two tokens", place, order.split));
  }
  const EvalPlan plan(stored.config, *data, 1);
  const auto windows = order.windows > 0 ? std::optional(order.windows) : std::nullopt;
  const std::vector<ModeRow> rows = {{"dense", plan.on(*stored.language, stream, windows).front()}};
  if (order.json) {
    Json modes = Json::array();
    for (const ModeRow& row : rows) modes.push_back(row_json(row, order.by_position));
    std::puts(Json{{"schema", 1},
                   {"cell", stored.cell.id},
                   {"alias", stored.cell.alias},
                   {"step", stored.step},
                   {"data", place},
                   {"split", fs::is_regular_file(place) && !own ? Json() : Json(order.split)},
                   {"windows", windows ? Json(*windows) : Json()},
                   {"modes", modes}}
                  .dump()
                  .c_str());
    return 0;
  }
  fmt::print("{} after {} steps on {}{}\n{}", stored.cell.alias, stored.step, place,
             fs::is_regular_file(place) && !own ? "" : ", " + order.split,
             table(rows, order.by_position));
  return 0;
}

}  // namespace depthgrid
