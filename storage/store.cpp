#include "storage/store.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "storage/files/fs_probe.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kStoreFormat = "depthgrid-store";
constexpr int kStoreVersion = 1;
constexpr mode_t kUmask = 027;
constexpr std::size_t kIdDigits = 12;
constexpr std::size_t kLongestName = 64;

bool is_lower_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void check_id(const CellId& id) {
  if (id.size() != kIdDigits || !is_lower_hex(id)) {
    throw UserError(ExitCode::Usage,
                    fmt::format("'{}' is not a cell id: {} hexadecimal digits", id, kIdDigits));
  }
}

/// Names of corpora and texts become file names.
void check_name(const std::string& name) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  const bool good = !name.empty() && name.size() <= kLongestName &&
                    name.find_first_not_of(kAllowed) == std::string::npos &&
                    std::string_view("._-").find(name.front()) == std::string_view::npos;
  if (!good) {
    throw UserError(ExitCode::Usage,
                    fmt::format("'{}' cannot be a name in the store: 1 to {} of A-Z a-z 0-9 . _ -, "
                                "beginning with a letter or digit",
                                name, kLongestName));
  }
}

void check_permissions(const fs::path& root) {
  struct stat about{};
  if (stat(root.c_str(), &about) != 0) throw_errno(root, "cannot stat", errno);
  if (!S_ISDIR(about.st_mode)) throw StorageError(root, "is not a folder");
  const bool open_to_others = (about.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool sticky = (about.st_mode & S_ISVTX) != 0;
  if (open_to_others && !sticky) {
    throw StorageError(root, fmt::format("others may write to the folder (mode {:o}) and could "
                                         "exchange its files: run 'chmod go-w {}'",
                                         about.st_mode & 07777U, root.string()));
  }
}

void check_format(const fs::path& file) {
  const std::string text = read_text_file(file);
  try {
    const json j = json::parse(text);
    if (j.at("format") != kStoreFormat) {
      throw StorageError(file, "is not the description of a store", ExitCode::BadData);
    }
    if (j.at("version") != kStoreVersion) {
      throw StorageError(file,
                         fmt::format("store format {}, this program reads {}: use a newer release",
                                     j.at("version").dump(), kStoreVersion),
                         ExitCode::BadData);
    }
    for (const char* name : {"uuid", "created"}) j.at(name).get_ref<const std::string&>();
  } catch (const json::exception& e) {
    throw StorageError(file,
                       fmt::format("is damaged ({}): delete it, and the next depthgrid run writes "
                                   "it anew; it names the store and nothing else",
                                   e.what()),
                       ExitCode::BadData);
  }
}

std::string fresh_identity() {
  return json{{"format", kStoreFormat},
              {"version", kStoreVersion},
              {"uuid", random_uuid()},
              {"created", iso_utc(unix_time())}}
             .dump(2) +
         "\n";
}

std::optional<std::string> read_if_there(const fs::path& file) {
  try {
    return read_text_file(file);
  } catch (const StorageError& e) {
    if (e.code() == ExitCode::NoInput) return std::nullopt;
    throw;
  }
}

constexpr std::array kFailures = {CellStatus::Failed, CellStatus::Oom, CellStatus::Cancelled};

std::optional<StoredFailure> parse_failure(const fs::path& file, std::int64_t generation) {
  const json j = json::parse(read_text_file(file), nullptr, false);
  if (!j.is_object() || !j.contains("status") || !j.contains("report")) return std::nullopt;
  for (const CellStatus status : kFailures) {
    if (j["status"] == name_of(status)) {
      return StoredFailure{generation, status, j["report"].dump()};
    }
  }
  return std::nullopt;
}

}  // namespace

Store Store::open_or_create(const fs::path& root) {
  umask(kUmask);
  make_folders(root);
  check_permissions(root);
  const fs::path file = root / "STORE.json";
  if (!fs::exists(file)) {
    require_filesystem(root);
    publish_once(file, fresh_identity());  // of several creators the first one names the store
  }
  for (const char* folder : {"cells", "corpora", "texts"}) make_folders(root / folder);
  return open(root);
}

Store Store::open(const fs::path& root) {
  const fs::path file = root / "STORE.json";
  if (!fs::exists(file)) {
    throw StorageError(root, "there is no store here (no STORE.json)", ExitCode::NoInput);
  }
  check_format(file);
  return Store(root);
}

fs::path Store::plan_file(std::int64_t generation) const {
  return root_ / (generation == 1 ? "plan.h5" : fmt::format("plan-{}.h5", generation));
}

fs::path Store::sweep_yaml(std::int64_t generation) const {
  return root_ / fmt::format("sweep-{}.yaml", generation);
}

fs::path Store::cell_path(const CellId& id) const {
  check_id(id);
  return root_ / "cells" / id.substr(0, 2) / id;
}

fs::path Store::cell_dir(const CellId& id) const {
  fs::path folder = cell_path(id);
  make_folders(folder);
  return folder;
}

bool Store::completed(const CellId& id) const {
  std::error_code absent;
  return fs::is_regular_file(cell_path(id) / "result.h5", absent);
}

void Store::publish_failure(const CellId& id, std::int64_t generation, CellStatus status,
                            const std::string& report) const {
  if (std::ranges::find(kFailures, status) == kFailures.end()) {
    throw Error(fmt::format("'{}' is not a failure", name_of(status)));
  }
  const json parsed = json::parse(report, nullptr, false);
  const json out = {{"generation", generation},
                    {"status", name_of(status)},
                    {"report", parsed.is_discarded() ? json(report) : parsed}};
  publish_replace(cell_dir(id) / (generation_name("failed", generation) + ".json"),
                  out.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

std::optional<StoredFailure> Store::newest_failure(const CellId& id) const {
  std::int64_t newest = 0;
  std::error_code absent;
  for (fs::directory_iterator it(cell_path(id), absent), end; !absent && it != end;
       it.increment(absent)) {
    if (it->path().extension() != ".json") continue;
    newest = std::max(newest, generation_of(it->path().stem().string(), "failed").value_or(0));
  }
  if (newest == 0) return std::nullopt;
  return parse_failure(cell_path(id) / (generation_name("failed", newest) + ".json"), newest);
}

std::optional<std::string> Store::pinned_corpus(const std::string& name) const {
  check_name(name);
  const fs::path file = root_ / "corpora" / (name + ".json");
  const auto text = read_if_there(file);
  if (!text) return std::nullopt;
  const json j = json::parse(*text, nullptr, false);
  if (!j.is_object() || !j.contains("sha256") || !j["sha256"].is_string()) {
    throw StorageError(file, "is damaged", ExitCode::BadData);
  }
  return j["sha256"].get<std::string>();
}

void Store::pin_corpus(const std::string& name, const std::string& sha256) const {
  auto pinned = pinned_corpus(name);
  if (!pinned) {
    const json pin = {{"name", name}, {"sha256", sha256}, {"pinned", iso_utc(unix_time())}};
    publish_once(root_ / "corpora" / (name + ".json"), pin.dump(2) + "\n");
    pinned = pinned_corpus(name);
  }
  if (pinned == sha256) return;
  std::error_code unread;
  const bool trained = !fs::is_empty(root_ / "cells", unread) || unread;
  const std::string file = (root_ / "corpora" / (name + ".json")).string();
  throw UserError(
      ExitCode::BadData,
      trained
          ? fmt::format("corpus '{}' has changed: its files have SHA-256 {}, the cells in {} were "
                        "trained on {}; restore the files or use another store",
                        name, sha256, root_.string(), pinned.value_or("?"))
          : fmt::format("corpus '{}' has changed: its files have SHA-256 {}, those of an earlier "
                        "start had {}; nothing has been trained in this store: delete {} to use "
                        "the files as they are now",
                        name, sha256, pinned.value_or("?"), file));
}

std::string Store::freeze_text(const std::string& name, const std::string& text) const {
  if (auto kept = read_text(name)) return *kept;
  publish_once(root_ / "texts" / name, text);
  return read_text(name).value();
}

std::optional<std::string> Store::read_text(const std::string& name) const {
  check_name(name);
  return read_if_there(root_ / "texts" / name);
}

}  // namespace depthgrid
