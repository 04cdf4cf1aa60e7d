#include "storage/store.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/log.hpp"
#include "core/config/text_format.hpp"
#include "storage/cells/cell_result.hpp"
#include "storage/files/folder_modes.hpp"
#include "storage/files/fs_probe.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kStoreFormat = "depthgrid-store";
constexpr int kStoreVersion = 2;  // 1: of release 0.1, read as well
constexpr int kStoreMinor = 1;    // 1: `access`; a store without it is its owner's
constexpr std::string_view kGroupAccess = "group";
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

/// A store of one user must not be open to others; a shared one, to its group alone.
void check_permissions(const fs::path& root, const Fs& disk) {
  const FolderModes modes = modes_of(root, disk);
  const auto problem = unsafe_modes(root, modes, disk.access());
  if (!problem) return;
  const bool sharable = disk.access() == FileAccess::Owner && !problem->of_mount &&
                        !unsafe_modes(root, modes, FileAccess::Group);
  throw StorageError(root, problem->seen + ": " + problem->cure +
                               (sharable ? ", or share it with its group: depthgrid run "
                                           "--shared-group"
                                         : ""));
}

/// What STORE.json says: it names the store, and for whom it is.
struct StoreIdentity {
  FileAccess access = FileAccess::Owner;
  json text;
};

/// Nothing if it describes no store.
/// @throws StorageError (BadData) for a later format, and if it cannot be read.
std::optional<StoreIdentity> identity_in(const fs::path& file, const Fs& disk) {
  std::string text;
  try {
    text = read_text_file(file, disk);
  } catch (const StorageError& error) {
    if (error.code() != ExitCode::BadData) throw;
    return std::nullopt;  // no regular file
  }
  json j = parse_json_or_discard(text);
  if (!j.is_object() || !j.contains("format") || j["format"] != kStoreFormat) return std::nullopt;
  const json version = j.value("version", json());
  if (version.is_number_integer() && version > kStoreVersion) {
    throw StorageError(file,
                       fmt::format("store format {}, this program reads {}: use a newer release",
                                   json_text(version), kStoreVersion),
                       ExitCode::BadData);
  }
  const auto is_text = [&](const char* name) { return j.contains(name) && j[name].is_string(); };
  const bool whole =
      version.is_number_integer() && version >= 1 && is_text("uuid") && is_text("created");
  if (!whole) return std::nullopt;
  const bool shared = is_text("access") && j["access"] == kGroupAccess;
  return StoreIdentity{shared ? FileAccess::Group : FileAccess::Owner, std::move(j)};
}

std::string fresh_identity(FileAccess access) {
  json out = {{"format", kStoreFormat},
              {"version", kStoreVersion},
              {"minor", kStoreMinor},
              {"uuid", random_uuid()},
              {"created", iso_utc(unix_time())}};
  if (access == FileAccess::Group) out["access"] = kGroupAccess;
  return json_text(out, 2) + "\n";
}

/// Opens what is in a folder, and the folder, to the store's group. @throws StorageError.
void share(const fs::path& folder, const Fs& shared) {
  for (const auto& [name, kind] : shared.list(folder).value) {
    if (kind == FileKind::Folder) share(folder / name, shared);
    if (kind != FileKind::File) continue;
    const int error = shared.set_mode(folder / name, kind);
    if (error != 0 && error != ENOENT) {
      throw_errno(folder / name, "cannot be opened to the group", error, 0, shared);
    }
  }
  const int error = shared.set_mode(folder, FileKind::Folder);
  if (error != 0) throw_errno(folder, "cannot be opened to the group", error, 0, shared);
}

/// Makes a store of one user one of its group.
void share_store(const fs::path& root, json& j, const Fs& shared) {
  share(root, shared);
  j["access"] = kGroupAccess;
  j["minor"] = kStoreMinor;
  publish_replace(root / "STORE.json", json_text(j, 2) + "\n", shared);
  log(LogLevel::Info, root.string() + ": is shared with its group from now on");
}

void upgrade_identity(const fs::path& file, json j, const Fs& disk) {
  if (!j.is_object() || j.value("version", json()) == kStoreVersion) return;
  j["version"] = kStoreVersion;
  publish_replace(file, json_text(j, 2) + "\n", disk);
  log(LogLevel::Info, fmt::format("{}: store format {} from now on; releases before 0.2 refuse it",
                                  file.string(), kStoreVersion));
}

bool is_digest(const json& value) {
  const auto* text = value.get_ptr<const std::string*>();
  return text != nullptr && !text->empty() && is_lower_hex(*text);
}

std::optional<std::string> read_if_there(const fs::path& file, const Fs& disk) {
  try {
    return read_text_file(file, disk);
  } catch (const StorageError& e) {
    if (e.code() == ExitCode::NoInput) return std::nullopt;
    throw;
  }
}

/// Quarantines the plan if it is damaged and the only one: the sweep that is run is planned anew.
/// Ids of cells do not change, so it finds its results again.
void clear_damaged_plan(const fs::path& root, const Fs& disk) {
  const fs::path plan = root / "plan.h5";
  if (!something_at(plan, disk) || something_at(root / "plan-2.h5", disk)) return;
  try {
    verify_sealed_file(plan, disk);
  } catch (const StorageError& error) {
    if (error.code() != ExitCode::BadData) throw;
    log(LogLevel::Warning, std::string(error.what()) + "; the sweep is planned anew, the damaged " +
                               "plan is " + quarantine(plan, disk).string());
  }
}

constexpr std::array kFailures = {CellStatus::Failed, CellStatus::Oom, CellStatus::Cancelled};

/// A damaged report still says that the attempt failed: its name is enough for that.
StoredFailure parse_failure(const fs::path& file, std::int64_t generation, const CellId& id,
                            const Fs& disk) {
  std::string text;
  try {
    text = read_text_file(file, disk);
  } catch (const StorageError& error) {
    text = error.what();
  }
  const json j = parse_json_or_discard(text);
  const bool whole = j.is_object() && j.contains("status") && j.contains("report") &&
                     j.value("generation", generation) == generation && j.value("cell", id) == id;
  for (const CellStatus status : kFailures) {
    if (whole && j["status"] == name_of(status))
      return {generation, status, json_text(j["report"])};
  }
  const json report = {{"class", "damage"},
                       {"message", file.string() + ": the report of this failure is damaged"}};
  return {generation, CellStatus::Failed, json_text(report)};
}

}  // namespace

Store::Store(fs::path root, const Fs& disk)
    : root_(std::move(root)),
      disk_(&disk),
      checks_(std::make_shared<ResultChecks>(root_ / "sweep.h5", disk)) {}

bool Store::is_at(const fs::path& root, const Fs& disk) {
  const int error = disk.facts(root / "STORE.json", Links::Stay).error;
  if (error == EACCES) {
    throw StorageError(root, "is closed to you" + owner_note(disk, root / "STORE.json") +
                                 "; have its owner open it (chmod g+rx, or share a store with its "
                                 "group by depthgrid run --shared-group), or name another store");
  }
  if (error != 0 && !means_absent(error)) throw_errno(root, "cannot be examined", error, 0, disk);
  return error == 0;
}

Store Store::open_or_create(const fs::path& root, FileAccess wanted, const Fs& disk) {
  const fs::path file = root / "STORE.json";
  auto known = is_at(root, disk) ? identity_in(file, disk) : std::nullopt;
  const FileAccess recorded = known ? known->access : FileAccess::Owner;
  const bool shared = wanted == FileAccess::Group || recorded == FileAccess::Group;
  const Fs& own = disk.with(FileAccess::Owner);
  const Fs& made = disk.with(shared ? FileAccess::Group : FileAccess::Owner);
  made.set_umask();
  make_folders(root, own);
  if (known && recorded == FileAccess::Owner && shared) {
    check_permissions(root, own);
    share_store(root, known->text, made);
  } else if (!known && shared) {
    const int error = made.set_mode(root, FileKind::Folder);
    if (error != 0) throw_errno(root, "cannot be opened to the group", error, 0, made);
  }
  check_permissions(root, made);
  // Another creator may have been there meanwhile.
  if (!known && something_at(file, made) && !identity_in(file, made)) {
    log(LogLevel::Warning, file.string() + ": is damaged; it is written anew, the damaged one is " +
                               quarantine(file, made).string());
  }
  if (!known && !something_at(file, made)) {
    const auto [entries, unread] = made.list(root);
    if (unread != 0) throw_errno(root, "cannot list the folder", unread, 0, made);
    if (std::ranges::any_of(
            entries, [](const FolderEntry& entry) { return !entry.name.starts_with("."); })) {
      log(LogLevel::Warning, root.string() +
                                 ": is not empty and has no STORE.json: it becomes a "
                                 "store now, whatever else is in it");
    }
    require_filesystem(root, made);
    // Of several creators the first one names the store.
    publish_once(file, fresh_identity(made.access()), made);
  }
  for (const char* folder : {"cells", "corpora", "texts"}) make_folders(root / folder, made);
  for (const char* folder : {"", "corpora", "texts"}) remove_dead_scratch(root / folder, made);
  clear_damaged_plan(root, made);
  if (!known) {
    Store store = open(root, disk);
    store.upgrade();
    return store;
  }
  upgrade_identity(file, std::move(known->text), made);
  return Store(root, made);
}

const Fs& Store::fs_at(const fs::path& root, const Fs& disk) {
  try {
    return disk.with(identity_in(root / "STORE.json", disk).value_or(StoreIdentity{}).access);
  } catch (const StorageError&) {  // who opens the store says so
    return disk;
  }
}

void Store::upgrade() const {
  const fs::path file = root_ / "STORE.json";
  upgrade_identity(file, parse_json_or_discard(read_text_file(file, *disk_)), *disk_);
}

Store Store::open(const fs::path& root, const Fs& disk) {
  const fs::path file = root / "STORE.json";
  if (!is_at(root, disk)) {
    throw StorageError(root, "there is no store here (no STORE.json)", ExitCode::NoInput);
  }
  const auto identity = identity_in(file, disk);
  if (!identity) {
    throw StorageError(file,
                       "is damaged: the next depthgrid run writes it anew; it names the store and "
                       "nothing else",
                       ExitCode::BadData);
  }
  const Fs& made = disk.with(identity->access);
  if (identity->access == FileAccess::Group) made.set_umask();
  return Store(root, made);
}

fs::path Store::plan_file(std::int64_t generation) const {
  return root_ / (generation == 1 ? "plan.h5" : fmt::format("plan-{}.h5", generation));
}

fs::path Store::sweep_yaml(std::int64_t generation) const {
  return root_ / fmt::format("sweep-{}.yaml", generation);
}

fs::path Store::crash_mark(const ProcessIdentity& process) const {
  return log_dir() / ("crash-" + process_tag(process));
}

fs::path Store::cell_path(const CellId& id) const {
  check_id(id);
  return root_ / "cells" / id.substr(0, 2) / id;
}

fs::path Store::cell_dir(const CellId& id) const {
  fs::path folder = cell_path(id);
  make_folders(folder, *disk_);
  return folder;
}

bool Store::completed(const CellId& id) const {
  return result(id).kind == ResultState::Kind::Sound;
}

ResultState Store::result(const CellId& id) const {
  return checks_->state(cell_path(id) / "result.h5", id);
}

void Store::disregard_result(const CellId& id, std::string why) const {
  checks_->disregard(id, std::move(why));
}

void Store::publish_failure(const CellId& id, std::int64_t generation, CellStatus status,
                            const std::string& report) const {
  if (std::ranges::find(kFailures, status) == kFailures.end()) {
    throw Error(fmt::format("'{}' is not a failure", name_of(status)));
  }
  const json parsed = parse_json_or_discard(report);
  const json out = {{"cell", id},
                    {"generation", generation},
                    {"status", name_of(status)},
                    {"report", parsed.is_discarded() ? json(report) : parsed}};
  publish_replace(cell_dir(id) / (generation_name("failed", generation) + ".json"),
                  json_text(out, 2) + "\n", *disk_);
}

std::optional<StoredFailure> Store::newest_failure(const CellId& id) const {
  std::int64_t newest = 0;
  for (const FolderEntry& entry : disk_->list(cell_path(id)).value) {
    const fs::path name = entry.name;
    if (name.extension() != ".json") continue;
    newest = std::max(newest, generation_of(name.stem().string(), "failed").value_or(0));
  }
  if (newest == 0) return std::nullopt;
  return parse_failure(cell_path(id) / (generation_name("failed", newest) + ".json"), newest, id,
                       *disk_);
}

std::optional<std::string> Store::pinned_corpus(const std::string& name) const {
  check_name(name);
  const fs::path file = root_ / "corpora" / (name + ".json");
  const auto text = read_if_there(file, *disk_);
  if (!text) return std::nullopt;
  const json j = parse_json_or_discard(*text);
  if (!j.is_object() || !j.contains("sha256") || !is_digest(j["sha256"]) ||
      j.value("name", json()) != name) {
    throw StorageError(file,
                       "is damaged: it pins the SHA-256 of the corpus that the cells were trained "
                       "on; if its files are still the same, delete it, and the next run pins them "
                       "again",
                       ExitCode::BadData);
  }
  return j["sha256"].get<std::string>();
}

void Store::pin_corpus(const std::string& name, const std::string& sha256,
                       const std::string& bytes) const {
  if (!pinned_corpus(name)) {
    const json pin = {{"name", name},
                      {"sha256", sha256},
                      {"text_rules", kTextRules},
                      {"pinned", iso_utc(unix_time())}};
    publish_once(root_ / "corpora" / (name + ".json"), json_text(pin, 2) + "\n", *disk_);
  }
  if (const std::string why = corpus_refusal(name, sha256, bytes); !why.empty()) {
    throw UserError(ExitCode::BadData, why);
  }
}

int Store::pinned_text_rules(const std::string& name) const {
  check_name(name);
  const auto text = read_if_there(root_ / "corpora" / (name + ".json"), *disk_);
  const json j = text ? parse_json_or_discard(*text) : json();
  const json rules = j.is_object() ? j.value("text_rules", json(1)) : json(kTextRules);
  return rules.is_number_integer() ? rules.get<int>() : 1;
}

std::map<std::string, int> Store::older_text_rules() const {
  std::map<std::string, int> out;
  for (const fs::path& file : disk_->entries(root_ / "corpora")) {
    const std::string name = file.stem().string();
    if (file.extension() != ".json" || is_quarantined(file)) continue;
    if (const int rules = pinned_text_rules(name); rules < kTextRules) out[name] = rules;
  }
  return out;
}

std::string Store::corpus_refusal(const std::string& name, const std::string& sha256,
                                  const std::string& bytes) const {
  const auto pinned = pinned_corpus(name);
  if (!pinned || pinned == sha256) return {};
  if (pinned == bytes && pinned_text_rules(name) < kTextRules) return {};  // as 0.1 pinned them
  const auto [cells, unread] = disk_->list(root_ / "cells");
  const bool trained = unread != 0 || !cells.empty();
  const std::string file = (root_ / "corpora" / (name + ".json")).string();
  return trained ? fmt::format(
                       "corpus '{}' has changed: its files have SHA-256 {}, the cells in {} were "
                       "trained on {} ({}); restore the files or use another store. If they are as "
                       "they were, it is {} that is damaged: move it away, and the next run pins "
                       "them again",
                       name, sha256, root_.string(), *pinned, file, file)
                 : fmt::format(
                       "corpus '{}' has changed: its files have SHA-256 {}, those of an earlier "
                       "start had {}; nothing has been trained in this store: delete {} to use "
                       "the files as they are now",
                       name, sha256, *pinned, file);
}

std::string Store::freeze_text(const std::string& name, const std::string& text) const {
  if (auto kept = read_text(name)) return *kept;
  publish_once(root_ / "texts" / name, text, *disk_);
  return read_text(name).value();
}

std::optional<std::string> Store::read_text(const std::string& name) const {
  check_name(name);
  return read_if_there(root_ / "texts" / name, *disk_);
}

}  // namespace depthgrid
