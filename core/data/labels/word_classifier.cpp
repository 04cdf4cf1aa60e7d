#include "core/data/labels/word_classifier.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr int kPasses = 8;
constexpr double kStep = 1;
constexpr double kDecay = 1e-4;  // of the weights of a sentence's tokens, per visit
constexpr double kStart = 1e-6;  // sum of squares at the beginning

/// A sentence's tokens with their shares.
using TokenShares = std::vector<std::pair<std::uint32_t, double>>;

struct LabelledShares {
  TokenShares shares;
  std::int32_t segment;
};

/// Of each segment with a label and a token, in order.
std::vector<LabelledShares> sentences_of(const TokenStream& tokens, const SentenceLabels& labels) {
  std::vector<LabelledShares> out;
  const auto n = static_cast<std::int64_t>(labels.segment.size());
  for (std::int64_t begin = 0, end = 0; begin < n; begin = end) {
    const std::int32_t segment = labels.segment[static_cast<std::size_t>(begin)];
    std::vector<std::uint32_t> own;
    for (end = begin; end < n && labels.segment[static_cast<std::size_t>(end)] == segment; ++end) {
      own.push_back(tokens[end]);
    }
    const auto flags = std::span(labels.positive)
                           .subspan(static_cast<std::size_t>(segment * labels.axes),
                                    static_cast<std::size_t>(labels.axes));
    if (std::ranges::none_of(flags, [](std::int8_t flag) { return flag >= 0; })) continue;
    std::ranges::sort(own);
    TokenShares shares;
    for (const std::uint32_t token : own) {
      if (shares.empty() || shares.back().first != token) shares.emplace_back(token, 0);
      shares.back().second += 1.0 / static_cast<double>(own.size());
    }
    out.push_back({std::move(shares), segment});
  }
  return out;
}

/// One axis: weights and bias with the squares of their gradients so far.
class AxisFit {
 public:
  explicit AxisFit(std::int64_t vocabulary)
      : weight_(static_cast<std::size_t>(vocabulary)),
        squares_(static_cast<std::size_t>(vocabulary), kStart) {}

  void see(const TokenShares& shares, bool positive) {
    double odds = bias_;
    for (const auto& [token, share] : shares) odds += share * weight_[token];
    const double error = 1 / (1 + std::exp(-odds)) - (positive ? 1 : 0);
    move(bias_, bias_squares_, error);
    for (const auto& [token, share] : shares) {
      move(weight_[token], squares_[token], error * share + kDecay * share * weight_[token]);
    }
  }

  const std::vector<double>& weight() const { return weight_; }
  double bias() const { return bias_; }

 private:
  static void move(double& value, double& squares, double gradient) {
    squares += gradient * gradient;
    value -= kStep * gradient / std::sqrt(squares);
  }

  std::vector<double> weight_, squares_;
  double bias_ = 0, bias_squares_ = kStart;
};

}  // namespace

WordClassifier fit_words(const TokenStream& tokens, const SentenceLabels& labels,
                         std::int64_t vocabulary) {
  if (std::ssize(labels.segment) != tokens.size()) throw Error("labels of another text");
  const std::vector<LabelledShares> sentences = sentences_of(tokens, labels);
  const auto axes = static_cast<std::size_t>(labels.axes);
  WordClassifier out;
  for (std::size_t k = 0; k < axes; ++k) {
    AxisFit fit(vocabulary);
    for (int pass = 0; pass < kPasses; ++pass) {
      for (const LabelledShares& one : sentences) {
        const std::int8_t flag = labels.positive[static_cast<std::size_t>(one.segment) * axes + k];
        if (flag >= 0) fit.see(one.shares, flag == 1);
      }
    }
    out.weight.insert(out.weight.end(), fit.weight().begin(), fit.weight().end());
    out.bias.push_back(static_cast<float>(fit.bias()));
  }
  return out;
}

}  // namespace depthgrid
