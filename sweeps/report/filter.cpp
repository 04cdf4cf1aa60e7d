#include "sweeps/report/filter.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <compare>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"

namespace depthgrid {

struct Filter::Node {
  enum class Kind : std::uint8_t { And, Or, Not, Compare };
  Kind kind = Kind::Compare;
  std::unique_ptr<Node> left, right;  // Not has left only
  std::string name, relation;
  Value value;
};

namespace {

using Node = Filter::Node;

struct Token {
  enum class Kind : std::uint8_t { Word, Quoted, Symbol, End };
  Kind kind = Kind::End;
  std::string text;
  std::size_t at = 0;
};

[[noreturn]] void fail(std::string_view text, std::size_t at, const std::string& message) {
  throw UserError(ExitCode::Usage, fmt::format("filter:{}: {}\n  {}\n  {}^", at + 1, message, text,
                                               std::string(at, ' ')));
}

std::vector<Token> tokens_of(std::string_view text) {
  constexpr std::string_view kBreaks = " \t\n()=!<>'\"";
  std::vector<Token> out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
    } else if (c == '\'' || c == '"') {
      const std::size_t end = text.find(c, at + 1);
      if (end == std::string_view::npos) fail(text, at, "this quote is not closed");
      out.push_back({Token::Kind::Quoted, std::string(text.substr(at + 1, end - at - 1)), at});
      at = end + 1;
    } else if (kBreaks.find(c) != std::string_view::npos) {
      const bool two = c != '(' && c != ')' && at + 1 < text.size() && text[at + 1] == '=';
      out.push_back({Token::Kind::Symbol, std::string(text.substr(at, two ? 2 : 1)), at});
      at += two ? 2 : 1;
    } else {
      const std::size_t end = std::min(text.find_first_of(kBreaks, at), text.size());
      out.push_back({Token::Kind::Word, std::string(text.substr(at, end - at)), at});
      at = end;
    }
  }
  out.push_back({Token::Kind::End, "", text.size()});
  return out;
}

Value value_of(const Token& token) {
  Value value;
  const std::string& text = token.text;
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  double real = 0;
  const auto complete = [&](auto& number) {
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return stop == end && error == std::errc();
  };
  if (token.kind == Token::Kind::Quoted) {
    value.data = text;
  } else if (text == "true" || text == "false") {
    value.data = text == "true";
  } else if (text == "null") {
    value.data = std::monostate{};
  } else if (complete(whole)) {
    value.data = whole;
  } else if (complete(real)) {
    value.data = real;
  } else {
    value.data = text;
  }
  return value;
}

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& names)
      : text_(text), names_(names), tokens_(tokens_of(text)) {}

  std::unique_ptr<Node> parse() {
    auto root = any();
    if (next().kind != Token::Kind::End) {
      fail(text_, next().at, "expected 'and', 'or' or the end here");
    }
    return root;
  }

 private:
  const Token& next() const { return tokens_[at_]; }
  bool take(Token::Kind kind, std::string_view text) {
    const bool yes = next().kind == kind && next().text == text;
    at_ += yes ? 1 : 0;
    return yes;
  }

  std::unique_ptr<Node> joined(Node::Kind kind, std::unique_ptr<Node> left,
                               std::unique_ptr<Node> right) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }

  std::unique_ptr<Node> any() {
    auto left = all();
    while (take(Token::Kind::Word, "or")) left = joined(Node::Kind::Or, std::move(left), all());
    return left;
  }

  std::unique_ptr<Node> all() {
    auto left = one();
    while (take(Token::Kind::Word, "and")) left = joined(Node::Kind::And, std::move(left), one());
    return left;
  }

  std::unique_ptr<Node> one() {
    if (++depth_ > 200) fail(text_, next().at, "nested too deeply");
    std::unique_ptr<Node> node;
    const std::size_t open = next().at;
    if (take(Token::Kind::Word, "not")) {
      node = joined(Node::Kind::Not, one(), nullptr);
    } else if (take(Token::Kind::Symbol, "(")) {
      node = any();
      if (!take(Token::Kind::Symbol, ")")) fail(text_, open, "this parenthesis is not closed");
    } else {
      node = comparison();
    }
    --depth_;
    return node;
  }

  std::unique_ptr<Node> comparison() {
    static constexpr std::string_view kRelations[] = {"=", "==", "!=", "<", "<=", ">", ">="};
    const Token name = next();
    if (name.kind != Token::Kind::Word && name.kind != Token::Kind::Quoted) {
      fail(text_, name.at, "expected a name here");
    }
    ++at_;
    auto node = std::make_unique<Node>();
    try {
      node->name = resolve_name(name.text, names_);
    } catch (const UserError& e) {
      fail(text_, name.at, e.what());
    }
    const Token relation = next();
    if (relation.kind != Token::Kind::Symbol ||
        std::find(std::begin(kRelations), std::end(kRelations), relation.text) ==
            std::end(kRelations)) {
      fail(text_, relation.at, "expected one of = != < <= > >= here");
    }
    ++at_;
    node->relation = relation.text == "==" ? "=" : relation.text;
    const Token value = next();
    if (value.kind != Token::Kind::Word && value.kind != Token::Kind::Quoted) {
      fail(text_, value.at, "expected a value here");
    }
    ++at_;
    node->value = value_of(value);
    return node;
  }

  std::string_view text_;
  const std::vector<std::string>& names_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value.data)) return *real;
  return std::nullopt;
}

/// Unordered if the types differ.
std::partial_ordering compare(const Value& a, const Value& b) {
  const auto* whole_a = std::get_if<std::int64_t>(&a.data);
  const auto* whole_b = std::get_if<std::int64_t>(&b.data);
  if (whole_a != nullptr && whole_b != nullptr) return *whole_a <=> *whole_b;
  const auto number_a = number_of(a);
  const auto number_b = number_of(b);
  if (number_a && number_b) return *number_a <=> *number_b;
  if (number_a || number_b) return std::partial_ordering::unordered;
  const auto text = [](const Value& v) {
    const auto* word = std::get_if<std::string>(&v.data);
    return word != nullptr ? *word : canonical_json(v);  // booleans; lists as they are printed
  };
  return text(a) <=> text(b);
}

bool holds(const Node& node, const Filter::Lookup& cell) {
  switch (node.kind) {
    case Node::Kind::And:
      return holds(*node.left, cell) && holds(*node.right, cell);
    case Node::Kind::Or:
      return holds(*node.left, cell) || holds(*node.right, cell);
    case Node::Kind::Not:
      return !holds(*node.left, cell);
    case Node::Kind::Compare:
      break;
  }
  const auto absent = [](const Value& v) { return std::holds_alternative<std::monostate>(v.data); };
  const Value mine = cell(node.name);
  const std::string& r = node.relation;
  if (absent(node.value)) return absent(mine) ? r == "=" : r == "!=";
  if (absent(mine)) return false;
  const std::partial_ordering order = compare(mine, node.value);
  if (r == "=") return order == std::partial_ordering::equivalent;
  if (r == "!=") return order != std::partial_ordering::equivalent;
  if (r == "<") return order == std::partial_ordering::less;
  if (r == ">") return order == std::partial_ordering::greater;
  if (r == "<=")
    return order == std::partial_ordering::less || order == std::partial_ordering::equivalent;
  return order == std::partial_ordering::greater || order == std::partial_ordering::equivalent;
}

}  // namespace

Filter::Filter(std::string_view text, const std::vector<std::string>& names)
    : root_(Parser(text, names).parse()) {}
Filter::~Filter() = default;
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;

bool Filter::matches(const Lookup& cell) const {
  return holds(*root_, cell);
}

std::string resolve_name(std::string_view text, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), text) != names.end()) return std::string(text);
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && std::string_view(name).substr(dot + 1) == text) {
      found.push_back(name);
    }
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    throw UserError(ExitCode::Usage,
                    fmt::format("unknown name '{}'; here are: {}", text, fmt::join(names, ", ")));
  }
  throw UserError(ExitCode::Usage,
                  fmt::format("'{}' is ambiguous: write one of {}", text, fmt::join(found, ", ")));
}

}  // namespace depthgrid
