#include "core/config/text_format.hpp"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/base/digest.hpp"
#include "core/base/json_text.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using std::string_view_literals::operator""sv;

std::string lower_suffix(const fs::path& file) {
  std::string suffix = file.extension().string();
  std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return suffix;
}

/// For a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// What begins with these bytes is no text. `command` writes the text to standard output, where one
/// can.
struct Magic {
  std::string_view bytes, what, command, suffix;
};
constexpr Magic kMagics[] = {
    {"\x1f\x8b"sv, "is compressed by gzip", "gzip -dc", ".gz"},
    {"\x28\xb5\x2f\xfd"sv, "is compressed by zstd", "zstd -dc", ".zst"},
    {"\xfd\x37zXZ\x00"sv, "is compressed by xz", "xz -dc", ".xz"},
    {"BZh"sv, "is compressed by bzip2", "bzip2 -dc", ".bz2"},
    {"PK\x03\x04"sv, "is a zip archive", "unzip -p", ".zip"},
    {"\xff\xfe\x00\x00"sv, "is UTF-32", "iconv -f UTF-32 -t UTF-8", ""},
    {"\x00\x00\xfe\xff"sv, "is UTF-32", "iconv -f UTF-32 -t UTF-8", ""},
    {"\xff\xfe"sv, "is UTF-16", "iconv -f UTF-16 -t UTF-8", ""},
    {"\xfe\xff"sv, "is UTF-16", "iconv -f UTF-16 -t UTF-8", ""},
    {"PAR1"sv, "is a Parquet table", "", ""},
    {"\x89HDF\r\n\x1a\n"sv, "is an HDF5 file", "", ""},
    {"\x93NUMPY"sv, "is an array of NumPy", "", ""},
    {"%PDF-"sv, "is a PDF", "", ""},
};

/// Where the output of a command may go: the name without the suffix of what the file is packed
/// with.
std::string unpacked_name(const fs::path& file, std::string_view suffix) {
  const bool named = !suffix.empty() && lower_suffix(file) == suffix;
  fs::path out = named ? fs::path(file).replace_extension() : fs::path(file.string() + ".utf8");
  if (out.extension().empty()) out += ".txt";
  return out.string();
}

std::string advice(const fs::path& file, const Magic& magic) {
  const std::string what = "'" + file.string() + "' " + std::string(magic.what);
  if (magic.command.empty()) return what + ": write its text into a .txt or .jsonl file first";
  const std::string out = unpacked_name(file, magic.suffix);
  return what + ": run  " + std::string(magic.command) + " " + quoted(file.string()) + " > " +
         quoted(out) + "  and name " + out;
}

/// A .json file is one value, or the records of JSONL under another name.
std::string json_problem(const fs::path& file, std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  const bool array = at != std::string_view::npos && text[at] == '[';
  const std::string name = file.string();
  const std::string lines = fs::path(file).replace_extension(".jsonl").string();
  if (array) {
    return "'" + name + "' is one JSON array: write its objects one a line,  jq -c '.[]' " +
           quoted(name) + " > " + quoted(lines) + "  and name " + lines;
  }
  return "'" + name +
         "' may be text or one JSON object a line: say which by `data.format: jsonl` or "
         "`data.format: text`";
}

constexpr std::string_view kBlanks = " \t\n\v\f\r";

void add_text(TextContents& to, std::string_view text) {
  to.bytes += static_cast<std::int64_t>(text.size());
  to.blank = to.blank && text.find_first_not_of(kBlanks) == std::string_view::npos;
}

}  // namespace

TextFormat text_format(const fs::path& file, std::string_view word) {
  if (word == "jsonl") return TextFormat::Jsonl;
  if (word == "tokens") return TextFormat::Tokens;
  if (word == "text") return TextFormat::Text;
  const std::string suffix = lower_suffix(file);
  if (suffix == ".jsonl" || suffix == ".ndjson") return TextFormat::Jsonl;
  return suffix == ".bin" ? TextFormat::Tokens : TextFormat::Text;
}

std::string_view read_as(const fs::path& file, std::string_view word, std::string_view beginning) {
  if (word != "auto") return {};
  const std::string_view text = without_mark(beginning.substr(0, kBeginning));
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  const bool brace = at != std::string_view::npos && text[at] == '{';
  const TextFormat suggested = text.find('\0') != std::string_view::npos ? TextFormat::Tokens
                               : brace                                   ? TextFormat::Jsonl
                                                                         : TextFormat::Text;
  const TextFormat format = text_format(file, word);
  if (format == suggested) return {};
  return format == TextFormat::Text ? "text" : format == TextFormat::Jsonl ? "jsonl" : "tokens";
}

std::string beginning_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes(kBeginning, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

std::string text_digest(const std::string& sha256_of_file, std::string_view as) {
  return as.empty() ? sha256_of_file : hex(sha256(sha256_of_file + "\nread as " + std::string(as)));
}

std::string text_digest_of(const fs::path& file, std::string_view word) {
  return text_digest(hex(sha256_file(file)), read_as(file, word, beginning_of(file)));
}

TextContents text_contents(const fs::path& file, std::string_view word, std::string_view bytes,
                           const std::string& text_key) {
  TextContents out;
  const std::string_view text = without_mark(bytes);
  if (text_format(file, word) != TextFormat::Jsonl) {
    add_text(out, text);
    return out;
  }
  // What does not begin as ASCII is no record either, but may be blank to who knows Unicode.
  const auto passed_over = [](std::string_view line) {
    const std::size_t first = line.find_first_not_of(kBlanks);
    return first == std::string_view::npos || static_cast<unsigned char>(line[first]) >= 0x80;
  };
  out.problem = each_record(text, text_key, file.string(), passed_over,
                            [&out](const std::string& record) { add_text(out, record + "\n"); });
  return out;
}

std::string each_record(std::string_view jsonl, const std::string& text_key,
                        const std::string& place,
                        const std::function<bool(std::string_view line)>& blank,
                        const std::function<void(const std::string& text)>& take) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < jsonl.size();) {
    const std::size_t end = std::min(jsonl.find('\n', at), jsonl.size());
    const std::string_view line = jsonl.substr(at, end - at);
    at = end + 1;
    ++number;
    if (blank(line)) continue;
    const auto record = parse_json_or_discard(line);
    const auto field = record.is_object() ? record.find(text_key) : record.end();
    if (!record.is_object() || field == record.end() || !field->is_string()) {
      return place + ":" + std::to_string(number) + ": expected a JSON object with a text field '" +
             text_key + "' (data.text_key names the field)";
    }
    take(field->get_ref<const std::string&>());
  }
  return {};
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::string unreadable_content(const fs::path& file, std::string_view word, std::string_view bytes,
                               bool any_bytes) {
  const TextFormat format = text_format(file, word);
  if (format == TextFormat::Tokens || (word == "text" && any_bytes)) return {};
  for (const Magic& magic : kMagics) {
    if (bytes.starts_with(magic.bytes)) return advice(file, magic);
  }
  if (const std::size_t at = bytes.find('\0'); at != std::string_view::npos) {
    const std::string way = any_bytes ? ", or take its bytes as they are by `data.format: text`"
                                      : "; `data.tokenizer: byte` with `data.format: text` takes "
                                        "any bytes";
    return "'" + file.string() + "' is binary (byte " + std::to_string(at) +
           " is 0), or UTF-16 without a mark: name a text in UTF-8, such as that of  iconv -f "
           "UTF-16LE -t UTF-8 " +
           quoted(file.string()) + way;
  }
  const std::string_view text = without_mark(bytes);
  if (word == "auto" && lower_suffix(file) == ".json") return json_problem(file, text);
  if (format == TextFormat::Jsonl) {
    const std::size_t at = text.find_first_not_of(" \t\r\n");
    if (at != std::string_view::npos && text[at] == '[') return json_problem(file, text);
  }
  return {};
}

}  // namespace depthgrid
