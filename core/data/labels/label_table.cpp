#include "core/data/labels/label_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/config/axis_labels.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

template <class Number>
bool rises(const std::vector<Number>& numbers) {
  return std::ranges::adjacent_find(numbers, std::greater_equal<>{}) == numbers.end();
}

/// JSON has no NaN: null.
Json number_json(double number) {
  return std::isnan(number) ? Json() : Json(number);
}

double number_of(const Json& json) {
  return json.is_null() ? kNaN : json.get<double>();
}

AttributeKind kind_of(const std::string& word) {
  const std::size_t index = label_index(kAttributeKindNames, word);
  if (index == kAttributeKindNames.size()) throw Error("unknown kind '" + word + "'");
  return static_cast<AttributeKind>(index);
}

double by_rank(const Attribute& attribute, double score) {
  return 2 * attribute.ranks.rank(score) - 1;
}

double by_sign(const Attribute& attribute, double score) {
  const std::int8_t flag = positive_flag(attribute, score);
  return flag < 0 ? kNaN : 2.0 * flag - 1;
}

double by_probability(const Attribute& attribute, double score) {
  if (score < 0 || score > 1) {
    throw UserError(ExitCode::BadData,
                    fmt::format("train.control.labels.map: probability needs scores in [0, 1]; "
                                "'{}' has {}: use rank or sign",
                                attribute.name, score));
  }
  return 2 * score - 1;
}

double by_itself(const Attribute& /*attribute*/, double score) {
  return score;
}

struct MapRow {
  std::string_view word;  // empty: none
  double (*value)(const Attribute& attribute, double score);
};
constexpr std::array<MapRow, 4> kMaps{{{"rank", by_rank},
                                       {"sign", by_sign},
                                       {"probability", by_probability},
                                       {"", by_itself}}};  // by LabelMap

/// Nats; of a share that is not known, NaN.
double entropy_of_share(double p) {
  const auto part = [](double x) { return x > 0 ? -x * std::log(x) : 0.0; };
  return std::isnan(p) ? kNaN : part(p) + part(1 - p);
}

using PairCounts = std::array<std::array<double, 2>, 2>;  // by the flags of two attributes

/// How many sentences have each pair of flags of attributes a and b; without the unlabelled.
PairCounts pair_counts(std::span<const std::int8_t> flags, std::size_t axes, std::size_t a,
                       std::size_t b) {
  PairCounts counts{};
  for (std::size_t row = 0; row < flags.size(); row += axes) {
    const std::int8_t first = flags[row + a], second = flags[row + b];
    if (first < 0 || second < 0) continue;
    counts[static_cast<std::size_t>(first)][static_cast<std::size_t>(second)] += 1;
  }
  return counts;
}

double phi_of(const PairCounts& n) {
  const double spread_a = (n[0][0] + n[0][1]) * (n[1][0] + n[1][1]);
  const double spread_b = (n[0][0] + n[1][0]) * (n[0][1] + n[1][1]);
  return if_finite((n[1][1] * n[0][0] - n[1][0] * n[0][1]) / std::sqrt(spread_a * spread_b));
}

}  // namespace

RankTable::RankTable(std::span<const double> scores) {
  std::vector<double> all;
  all.reserve(scores.size());
  std::ranges::copy_if(scores, std::back_inserter(all), [](double s) { return !std::isnan(s); });
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (values_.empty() || values_.back() < all[i]) {
      values_.push_back(all[i]);
      cumulative_.push_back(0);
    }
    cumulative_.back() = static_cast<std::int64_t>(i + 1);
  }
}

RankTable::RankTable(std::vector<double> values, std::vector<std::int64_t> cumulative)
    : values_(std::move(values)), cumulative_(std::move(cumulative)) {
  const bool positive = cumulative_.empty() || cumulative_.front() > 0;
  if (values_.size() != cumulative_.size() || !positive || !rises(values_) || !rises(cumulative_)) {
    throw Error("a table of ranks needs rising values, and a rising count of scores for each");
  }
}

double RankTable::rank(double score) const noexcept {
  if (std::isnan(score) || values_.empty()) return kNaN;
  const auto at = static_cast<std::size_t>(std::ranges::lower_bound(values_, score) -
                                           values_.begin());  // of the first value >= score
  const std::int64_t below = at == 0 ? 0 : cumulative_[at - 1];
  const bool seen = at < values_.size() && values_[at] == score;
  const std::int64_t equal = seen ? cumulative_[at] - below : 0;
  return (static_cast<double>(below) + 0.5 * static_cast<double>(equal)) /
         static_cast<double>(size());
}

double RankTable::sorted(std::int64_t index) const noexcept {
  const auto at = std::ranges::upper_bound(cumulative_, index) - cumulative_.begin();
  return values_[static_cast<std::size_t>(at)];
}

double RankTable::entropy() const noexcept {
  double sum = 0;
  std::int64_t before = 0;
  for (const std::int64_t upto : cumulative_) {
    const double share = static_cast<double>(upto - before) / static_cast<double>(size());
    sum -= share * std::log(share);
    before = upto;
  }
  return sum;
}

double RankTable::median() const noexcept {
  if (values_.empty()) return kNaN;
  return (sorted((size() - 1) / 2) + sorted(size() / 2)) / 2;
}

nlohmann::ordered_json to_json(const Attribute& attribute) {
  Json json = Json::object();
  json["name"] = attribute.name;
  json["kind"] = std::string(name_of(attribute.kind));
  json["threshold"] = number_json(attribute.threshold);
  json["values"] = attribute.ranks.values();
  json["cumulative"] = attribute.ranks.cumulative();
  return json;
}

Attribute attribute_from_json(const nlohmann::ordered_json& json) {
  try {
    return {json.at("name").get<std::string>(), kind_of(json.at("kind").get<std::string>()),
            number_of(json.at("threshold")),
            RankTable(json.at("values").get<std::vector<double>>(),
                      json.at("cumulative").get<std::vector<std::int64_t>>())};
  } catch (const Json::exception& error) {
    throw Error(std::string("not an attribute of labels: ") + error.what());
  }
}

LabelMap label_map(std::string_view word) {
  for (std::size_t i = 0; i < kMaps.size(); ++i) {
    if (!word.empty() && kMaps[i].word == word) return static_cast<LabelMap>(i);
  }
  throw UserError(ExitCode::Usage,
                  fmt::format("train.control.labels.map: unknown word '{}'; known: rank, sign, "
                              "probability",
                              word));
}

LabelMap default_map(AttributeKind kind) noexcept {
  return kind == AttributeKind::Ordinal ? LabelMap::Rank : LabelMap::Sign;
}

double label_value(const Attribute& attribute, LabelMap map, double score) {
  if (std::isnan(score)) return kNaN;
  return kMaps[static_cast<std::size_t>(map)].value(attribute, score);
}

std::int8_t positive_flag(const Attribute& attribute, double score) noexcept {
  if (std::isnan(score) || std::isnan(attribute.threshold)) return -1;
  return score > attribute.threshold ? 1 : 0;
}

double LabelStatistics::total_entropy() const noexcept {
  double sum = 0;
  for (const double h : entropy) sum += std::isnan(h) ? 0 : h;
  return sum;
}

LabelStatistics label_statistics(std::span<const Attribute> attributes,
                                 std::span<const std::int8_t> positive) {
  const std::size_t axes = attributes.size();
  if (axes == 0 ? !positive.empty() : positive.size() % axes != 0) {
    throw Error(
        fmt::format("{} labels are no whole sentences of {} attributes", positive.size(), axes));
  }
  LabelStatistics all;
  all.phi.resize(axes);
  for (std::size_t a = 0; a < axes; ++a) {
    const PairCounts own = pair_counts(positive, axes, a, a);
    all.rate.push_back(if_finite(own[1][1] / (own[0][0] + own[1][1])));
    all.threshold.push_back(attributes[a].threshold);
    all.entropy.push_back(entropy_of_share(all.rate.back()));
    for (std::size_t b = 0; b < axes; ++b) {
      all.phi[a].push_back(phi_of(pair_counts(positive, axes, a, b)));
    }
  }
  for (std::size_t row = 0; row < positive.size(); row += axes) {
    const auto flags = positive.subspan(row, axes);
    if (std::ranges::any_of(flags, [](std::int8_t flag) { return flag >= 0; })) ++all.sentences;
  }
  return all;
}

}  // namespace depthgrid
