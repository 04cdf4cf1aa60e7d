#include "sweeps/report/filter.hpp"

#include <algorithm>
#include <cctype>
#include <compare>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/parse_number.hpp"
#include "core/config/yaml/diagnostics.hpp"
#include "sweeps/report/level_text.hpp"

namespace depthgrid {
namespace {

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
  const std::string& text = token.text;
  if (token.kind == Token::Kind::Quoted) return text;
  if (text == "null") return {};
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = parse_number<std::int64_t>(text)) return *whole;
  if (const auto real = parse_number<double>(text)) return *real;
  return text;
}

/// Unordered if the types differ.
std::partial_ordering compare(const Value& a, const Value& b) {
  const auto* whole_a = a.get_if<std::int64_t>();
  const auto* whole_b = b.get_if<std::int64_t>();
  if (whole_a != nullptr && whole_b != nullptr) return *whole_a <=> *whole_b;
  if (a.is_number() && b.is_number()) return a.number() <=> b.number();
  if (a.is_number() || b.is_number()) return std::partial_ordering::unordered;
  // Booleans as JSON; lists as JSON, or as tables show them ("norm+bias").
  const auto text = [](const Value& v, const Value& other) {
    const auto* word = v.get_if<std::string>();
    if (word != nullptr) return *word;
    const bool composed = v.get_if<ValueList>() != nullptr || v.get_if<ValueMap>() != nullptr;
    const auto* beside = other.get_if<std::string>();
    const bool json = beside != nullptr && (beside->starts_with('[') || beside->starts_with('{'));
    return composed && beside != nullptr && !json ? plain_text(v) : canonical_json(v);
  };
  return text(a, b) <=> text(b, a);
}

struct Relation {
  std::string_view sign;
  bool (*holds)(std::partial_ordering order);
};

constexpr Relation kRelations[] = {{"=", [](std::partial_ordering order) { return order == 0; }},
                                   {"==", [](std::partial_ordering order) { return order == 0; }},
                                   {"!=", [](std::partial_ordering order) { return order != 0; }},
                                   {"<", [](std::partial_ordering order) { return order < 0; }},
                                   {"<=", [](std::partial_ordering order) { return order <= 0; }},
                                   {">", [](std::partial_ordering order) { return order > 0; }},
                                   {">=", [](std::partial_ordering order) { return order >= 0; }}};

bool holds(const Value& mine, const Relation& relation, const Value& wanted) {
  const bool equal = relation.sign == "=" || relation.sign == "==";
  if (wanted.is_null() && mine.is_null()) return equal;
  if (wanted.is_null()) return relation.sign == "!=";
  const auto* text = mine.get_if<std::string>();
  const auto* pattern = wanted.get_if<std::string>();
  if (text != nullptr && pattern != nullptr && (equal || relation.sign == "!=")) {
    return fits_pattern(*text, *pattern) == equal;
  }
  return !mine.is_null() && relation.holds(compare(mine, wanted));
}

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& names)
      : text_(text), names_(names), tokens_(tokens_of(text)) {}

  CellFilter parse() {
    CellFilter root = any();
    if (next().kind != Token::Kind::End) {
      fail(text_, next().at, "expected 'and', 'or' or the end here");
    }
    return root;
  }

  /// Of what has been parsed.
  const std::vector<std::string>& named() const { return named_; }

 private:
  const Token& next() const { return tokens_[at_]; }
  bool take(Token::Kind kind, std::string_view text) {
    const bool yes = next().kind == kind && next().text == text;
    at_ += yes ? 1 : 0;
    return yes;
  }

  /// The next token, a word or a quoted text.
  const Token& take_text(const char* expected) {
    const Token& token = next();
    if (token.kind != Token::Kind::Word && token.kind != Token::Kind::Quoted) {
      fail(text_, token.at, expected);
    }
    ++at_;
    return token;
  }

  CellFilter any() {
    CellFilter left = all();
    while (take(Token::Kind::Word, "or")) {
      left = [left = std::move(left), right = all()](const CellLookup& cell) {
        return left(cell) || right(cell);
      };
    }
    return left;
  }

  CellFilter all() {
    CellFilter left = one();
    while (take(Token::Kind::Word, "and")) {
      left = [left = std::move(left), right = one()](const CellLookup& cell) {
        return left(cell) && right(cell);
      };
    }
    return left;
  }

  CellFilter one() {
    if (++depth_ > 200) fail(text_, next().at, "nested too deeply");
    CellFilter condition;
    const std::size_t open = next().at;
    if (take(Token::Kind::Word, "not")) {
      condition = [inner = one()](const CellLookup& cell) { return !inner(cell); };
    } else if (take(Token::Kind::Symbol, "(")) {
      condition = any();
      if (!take(Token::Kind::Symbol, ")")) fail(text_, open, "this parenthesis is not closed");
    } else {
      condition = comparison();
    }
    --depth_;
    return condition;
  }

  CellFilter comparison() {
    const Token& named = take_text("expected a name here");
    std::string name;
    try {
      name = resolve_name(named.text, names_);
    } catch (const UserError& e) {
      fail(text_, named.at, e.what());
    }
    if (std::ranges::find(named_, name) == named_.end()) named_.push_back(name);
    const Relation* relation = std::ranges::find(kRelations, next().text, &Relation::sign);
    if (next().kind != Token::Kind::Symbol || relation == std::end(kRelations)) {
      fail(text_, next().at, "expected one of = != < <= > >= here");
    }
    ++at_;
    return [name, relation,
            value = value_of(take_text("expected a value here"))](const CellLookup& cell) {
      const Value mine = cell(name);
      const auto* text = value.get_if<std::string>();
      if (text == nullptr || !mine.is_number()) return holds(mine, *relation, value);
      const auto number = fraction_of(*text, cell("model.n_layers"));
      return holds(mine, *relation, number ? Value(*number) : value);
    };
  }

  std::string_view text_;
  const std::vector<std::string>& names_;
  std::vector<Token> tokens_;
  std::vector<std::string> named_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// "valid" of "eval_loss.valid".
std::string last_component(const std::string& name) {
  return name.substr(name.rfind('.') + 1);
}

/// All names, in a sentence; of many, the three nearest and the command that lists all.
std::string offer(std::string_view begin, std::string_view between, std::string_view end,
                  std::string_view text, std::vector<std::string> names,
                  std::string_view listed_by) {
  constexpr std::size_t kMost = 12, kNearest = 3;
  if (names.size() <= kMost) return fmt::format("{}{}{}", begin, fmt::join(names, between), end);
  const auto distance = [text](const std::string& name) {
    return std::min(edit_distance(text, name), edit_distance(text, last_component(name)));
  };
  std::ranges::stable_sort(names, {}, distance);
  const std::size_t all = names.size();
  names.resize(kNearest);
  return fmt::format("the nearest of {} are {} ({} lists all)", all, fmt::join(names, ", "),
                     listed_by);
}

}  // namespace

bool fits_pattern(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0;
  std::size_t star = std::string_view::npos, resume = 0;  // the last * and where to try again
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      for (++t; t < text.size() && (text[t] & 0xC0) == 0x80;) ++t;  // a code point of UTF-8
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

CellFilter parse_filter(std::string_view text, const std::vector<std::string>& names) {
  return Parser(text, names).parse();
}

std::vector<std::string> names_in_filter(std::string_view text,
                                         const std::vector<std::string>& names) {
  Parser parser(text, names);
  parser.parse();
  return parser.named();
}

std::string resolve_name(std::string_view text, const std::vector<std::string>& names,
                         std::string_view listed_by) {
  if (std::find(names.begin(), names.end(), text) != names.end()) return std::string(text);
  const auto those = [&](auto holds) {
    std::vector<std::string> out;
    std::ranges::copy_if(names, std::back_inserter(out), holds);
    return out;
  };
  const std::vector<std::string> found =
      those([&](const std::string& name) { return last_component(name) == text; });
  if (found.size() == 1) return found[0];
  if (!found.empty()) {
    throw UserError(ExitCode::Usage, fmt::format("'{}' is ambiguous: write one of {}", text,
                                                 fmt::join(found, ", ")));
  }
  std::vector<std::string> near =
      those([&](const std::string& name) { return name.find(text) != std::string::npos; });
  if (near.empty()) {
    std::vector<std::string> words = names;
    for (const std::string& name : names) words.push_back(last_component(name));
    const std::string word = nearest(text, words);
    near = those(
        [&](const std::string& name) { return name == word || last_component(name) == word; });
  }
  throw UserError(
      ExitCode::Usage,
      fmt::format("unknown name '{}'; {}", text,
                  near.empty() ? offer("here are: ", ", ", "", text, names, listed_by)
                               : offer("did you mean ", " or ", "?", text, near, listed_by)));
}

}  // namespace depthgrid
