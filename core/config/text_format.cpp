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
    {"\x04\x22\x4d\x18"sv, "is compressed by lz4", "lz4 -dc", ".lz4"},
    {"7z\xbc\xaf\x27\x1c"sv, "is a 7z archive", "7z x -so", ".7z"},
    {"\x5d\x00\x00"sv, "is compressed by lzma", "lzma -dc", ".lzma"},
    {"\x1f\x9d"sv, "is compressed by compress", "gzip -dc", ".z"},
    {"\x80\x04\x95"sv, "is a pickle of Python", "", ""},
    {"\x80\x05\x95"sv, "is a pickle of Python", "", ""},
    {"SQLite format 3\0"sv, "is a database of SQLite", "", ""},
    {"ARROW1"sv, "is an Arrow table", "", ""},
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

/// A name beside `wanted` that no file has: the output of a command overwrites nothing.
std::string unused(fs::path wanted) {
  const fs::path stem = fs::path(wanted).replace_extension();
  std::error_code unreadable;
  for (int n = 2; fs::exists(wanted, unreadable); ++n) {
    wanted = stem.string() + "-" + std::to_string(n) + wanted.extension().string();
  }
  return wanted.string();
}

/// Where the output of a command may go: the name without the suffix of what the file is packed
/// with.
std::string unpacked_name(const fs::path& file, std::string_view suffix) {
  const bool named = !suffix.empty() && lower_suffix(file) == suffix;
  fs::path out = named ? fs::path(file).replace_extension() : fs::path(file.string() + ".utf8");
  if (out.extension().empty()) out += ".txt";
  return unused(out);
}

std::string with_command(const std::string& what, std::string_view command, const fs::path& file,
                         const std::string& out) {
  return what + ": run  " + std::string(command) + " " + quoted(file.string()) + " > " +
         quoted(out) + "  and name " + out;
}

/// Whether the name says an archive of tar, packed or not.
bool is_named_tar(const fs::path& file) {
  constexpr std::string_view kOneWord[] = {".tar", ".tgz", ".tbz2", ".txz", ".tzst"};
  return std::ranges::find(kOneWord, lower_suffix(file)) != std::end(kOneWord) ||
         lower_suffix(fs::path(file).replace_extension()) == ".tar";
}

/// tar finds out by itself how an archive is packed.
std::string tar_problem(const fs::path& file) {
  fs::path stem = fs::path(file).replace_extension();
  if (lower_suffix(stem) == ".tar") stem.replace_extension();
  return with_command("'" + file.string() + "' is an archive of tar", "tar -xOf", file,
                      unused(stem += ".txt"));
}

std::string advice(const fs::path& file, const Magic& magic) {
  const std::string what = "'" + file.string() + "' " + std::string(magic.what);
  if (magic.command.empty()) return what + ": write its text into a .txt or .jsonl file first";
  return with_command(what, magic.command, file, unpacked_name(file, magic.suffix));
}

/// Of content with a zero byte. Every second byte of Latin text in UTF-16 is 0.
std::string binary_problem(const fs::path& file, std::string_view bytes, bool any_bytes) {
  constexpr std::string_view kTar = "ustar";
  constexpr std::size_t kPlaceInTar = 257;
  if (bytes.size() > kPlaceInTar && bytes.substr(kPlaceInTar).starts_with(kTar)) {
    return tar_problem(file);
  }
  std::size_t zeros[2] = {};
  const std::size_t examined = std::min(bytes.size(), kBeginning);
  for (std::size_t i = 0; i < examined; ++i) zeros[i % 2] += bytes[i] == '\0' ? 1 : 0;
  const std::size_t most = std::max(zeros[0], zeros[1]), least = std::min(zeros[0], zeros[1]);
  const std::string what = "'" + file.string() + "' is ";
  if (most * 8 > examined && least * 8 < most) {
    const std::string from = zeros[1] > zeros[0] ? "UTF-16LE" : "UTF-16BE";
    return with_command(what + "UTF-16 without a mark", "iconv -f " + from + " -t UTF-8", file,
                        unpacked_name(file, ""));
  }
  return what + "binary (byte " + std::to_string(bytes.find('\0')) +
         " is 0): name a text in UTF-8" +
         (any_bytes ? ", or take its bytes as they are by `data.format: text`" : "");
}

/// A text from its first character that is not blank.
std::string_view from_first(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

/// A .json file, or a text that begins like one, is one value, or the records of JSONL under
/// another name.
std::string json_problem(const fs::path& file, std::string_view text) {
  const bool array = from_first(text).starts_with('[');
  const std::string name = "'" + file.string() + "'";
  const std::string lines = unused(fs::path(file).replace_extension(".jsonl"));
  if (array) {
    return with_command(name + " is one JSON array, not one object a line", "jq -c '.[]'", file,
                        lines);
  }
  return name +
         " may be text or one JSON object a line: say which by `data.format: jsonl` or "
         "`data.format: text`, or, where others are not, by its suffix .jsonl";
}

/// Whether a text is JSON: its first line that is not blank is an object, or begins an array of
/// them.
bool begins_as_json(std::string_view text) {
  text = from_first(text);
  if (text.starts_with('{')) {
    return parse_json_or_discard(text.substr(0, text.find_first_of("\r\n"))).is_object();
  }
  if (!text.starts_with('[')) return false;
  const std::string_view item = from_first(text.substr(1));
  return item.starts_with('{') && item.find('"') != item.npos;
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
  constexpr std::string_view kJsonl[] = {".jsonl", ".ndjson", ".jsonlines", ".ldjson"};
  if (std::ranges::find(kJsonl, suffix) != std::end(kJsonl)) return TextFormat::Jsonl;
  return suffix == ".bin" ? TextFormat::Tokens : TextFormat::Text;
}

std::string_view read_as(const fs::path& file, std::string_view word, std::string_view beginning) {
  if (word != "auto") return {};
  const std::string_view text = without_mark(beginning.substr(0, kBeginning));
  const bool brace = from_first(text).starts_with('{');
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
    if (!bytes.starts_with(magic.bytes)) continue;
    return !magic.command.empty() && is_named_tar(file) ? tar_problem(file) : advice(file, magic);
  }
  if (bytes.find('\0') != std::string_view::npos) return binary_problem(file, bytes, any_bytes);
  const std::string_view text = without_mark(bytes);
  if (word == "auto" && format == TextFormat::Text &&
      (lower_suffix(file) == ".json" || begins_as_json(text))) {
    return json_problem(file, text);
  }
  if (format == TextFormat::Jsonl && from_first(text).starts_with('[')) {
    return json_problem(file, text);
  }
  return {};
}

}  // namespace depthgrid
