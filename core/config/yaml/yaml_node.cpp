#include "core/config/yaml/yaml_node.hpp"

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

namespace depthgrid {
namespace {

struct StopReading {};

/// Builds the tree from events, to detect and refuse what yaml-cpp would silently accept.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(Diagnostics& diagnostics, Place origin, std::string_view text)
      : diagnostics_(diagnostics), origin_(origin), text_(text) {}

  Place place(const YAML::Mark& mark) const {
    if (mark.is_null()) return {origin_.file, origin_.line, origin_.column};
    return {origin_.file, origin_.line + mark.line,
            mark.line == 0 ? origin_.column + mark.column : mark.column + 1};
  }

  std::optional<YamlNode> root;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      diagnostics_.error(place(mark), "a second document: a sweep file is one document");
      throw StopReading();
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_properties(mark, "", anchor);
    take({.place = place(mark)});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    diagnostics_.error(place(mark), "aliases (*name) are not allowed: write the value out");
    take({.place = place(mark)});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_properties(mark, tag, anchor);
    take({.kind = YamlNode::Kind::Scalar,
          .quoted = tag == "!",
          .place = place(mark),
          .text = value});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::List, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::Map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    YamlNode node;
    bool has_key = false;
    bool keep = true;  // false: the value of a key that was refused
    std::string key = {};
    Place key_place = {};
    std::unordered_map<std::string, int> seen = {};  // key -> line
  };

  void check_properties(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) {
      diagnostics_.error(place(mark), "anchors (&name) are not allowed: write the value out");
    }
    // yaml-cpp reports "?" for plain and "!" for quoted scalars; only the text shows an explicit
    // "!".
    const bool explicit_mark = !mark.is_null() &&
                               static_cast<std::size_t>(mark.pos) < text_.size() &&
                               text_[static_cast<std::size_t>(mark.pos)] == '!';
    if ((!tag.empty() && tag != "?" && tag != "!") || (tag == "!" && explicit_mark)) {
      diagnostics_.error(place(mark), "tags (!name) are not allowed: the schema gives the types");
    }
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    check_properties(mark, tag, anchor);
    count(place(mark));
    if (static_cast<int>(stack_.size()) >= kDeepestYaml) {
      diagnostics_.error(place(mark),
                         "nested deeper than " + std::to_string(kDeepestYaml) + " levels");
      throw StopReading();
    }
    stack_.push_back({.node = {.kind = kind, .place = place(mark)}});
  }

  void close() {
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    attach(std::move(node));
  }

  void take(YamlNode node) {
    count(node.place);
    attach(std::move(node));
  }

  void attach(YamlNode node) {
    if (stack_.empty()) {
      root = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.kind == YamlNode::Kind::List) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.has_key) {
      take_key(frame, node);
    } else {
      frame.has_key = false;
      if (!frame.keep) return;
      frame.node.entries.push_back({std::move(frame.key), frame.key_place, std::move(node)});
    }
  }

  void take_key(Frame& frame, const YamlNode& node) {
    frame.has_key = true;
    frame.keep = false;
    if (node.kind != YamlNode::Kind::Scalar) {
      diagnostics_.error(node.place, "a key must be a name, found " + node.described());
      return;
    }
    if (node.text == "<<" && !node.quoted) {
      diagnostics_.error(node.place, "merge keys (<<) are not allowed: use base:");
      return;
    }
    const auto [first, fresh] = frame.seen.emplace(node.text, node.place.line);
    if (!fresh) {
      diagnostics_.error(node.place, "duplicate key '" + node.text + "' (first at line " +
                                         std::to_string(first->second) + ")");
      return;
    }
    frame.keep = true;
    frame.key = node.text;
    frame.key_place = node.place;
  }

  void count(Place at) {
    if (++nodes_ > kMostYamlNodes) {
      diagnostics_.error(at, "more than " + std::to_string(kMostYamlNodes) +
                                 " values: write ranges as linspace or logspace");
      throw StopReading();
    }
  }

  Diagnostics& diagnostics_;
  Place origin_;
  std::string_view text_;
  std::vector<Frame> stack_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

/// Length of the well-formed UTF-8 character at the start of `text`; 0 if there is none.
/// Source: RFC 3629, section 4.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned head = byte(0);
  if (head < 0x80) return 1;
  const std::size_t length = head >= 0xF0 ? 4 : head >= 0xE0 ? 3 : 2;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (head < 0xC2 || head > 0xF4) return 0;
  if (head == 0xE0) low = 0xA0;
  if (head == 0xED) high = 0x9F;
  if (head == 0xF0) low = 0x90;
  if (head == 0xF4) high = 0x8F;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

bool check_bytes(Diagnostics& diagnostics, Place origin, std::string_view text) {
  if (text.size() > kLongestYaml) {
    diagnostics.error({origin.file, 0, 0}, "larger than 1 MiB (" + std::to_string(text.size()) +
                                               " bytes): a sweep file is written by hand");
    return false;
  }
  int line = origin.line;
  int column = origin.column;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0 || text[i] == '\0') {
      diagnostics.error({origin.file, line, column}, length == 0 ? "not UTF-8 text" : "a NUL byte");
      return false;
    }
    column = text[i] == '\n' ? 1 : column + static_cast<int>(length);
    line += text[i] == '\n' ? 1 : 0;
    i += length;
  }
  return true;
}

/// The first tab that indents a line: the usual cause of an error that the parser sees later.
std::optional<YAML::Mark> indenting_tab(std::string_view text) {
  YAML::Mark at;
  for (; !text.empty(); ++at.line) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent != std::string_view::npos && line[indent] == '\t') {
      at.column = static_cast<int>(indent);
      return at;
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<YamlNode> read_yaml_fragment(Diagnostics& diagnostics, Place origin,
                                           const std::string& text) {
  if (!check_bytes(diagnostics, origin, text)) return std::nullopt;
  TreeBuilder builder(diagnostics, origin, text);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const StopReading&) {
    return std::nullopt;
  } catch (const YAML::Exception& problem) {
    if (const auto tab = indenting_tab(text)) {
      diagnostics.error(builder.place(*tab), "a tab in the indentation: YAML allows spaces only");
    } else {
      diagnostics.error(builder.place(problem.mark), "not valid YAML: " + problem.msg);
    }
    return std::nullopt;
  } catch (const std::exception& problem) {
    diagnostics.error(origin, std::string("not valid YAML: ") + problem.what());
    return std::nullopt;
  }
  return builder.root ? std::move(builder.root) : YamlNode{.place = origin};
}

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const auto& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string YamlNode::described() const {
  switch (kind) {
    case Kind::Null:
      return "nothing (null)";
    case Kind::List:
      return "a list";
    case Kind::Map:
      return "a map";
    default:
      return (quoted ? "the text '" : "'") +
             (text.size() > 60 ? text.substr(0, 57) + "..." : text) + '\'';
  }
}

std::optional<YamlNode> read_yaml(Diagnostics& diagnostics, int file) {
  return read_yaml_fragment(diagnostics, {file, 1, 1}, diagnostics.text(file));
}

}  // namespace depthgrid
