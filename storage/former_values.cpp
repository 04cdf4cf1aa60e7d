#include "storage/former_values.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/config/identity.hpp"
#include "core/config/resolve/schema_condition.hpp"
#include "core/config/schema.hpp"
#include "core/config/start_name.hpp"
#include "core/config/text_format.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/plan_sequence.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 1> kBecameIdentity = {"data.text_key"};

/// Numbers of the plans that release 0.1 has written.
std::vector<std::int64_t> former_plans(const Store& store) {
  std::vector<std::int64_t> out = plan_numbers(store);
  std::erase_if(out, [&store](std::int64_t number) {
    try {
      return !of_former_release(
          TableReader(store.plan_file(number), SealCheck::BlockOnly, store.fs()));
    } catch (const StorageError&) {  // a damaged plan is reported by who reads the store
      return true;
    }
  });
  return out;
}

bool is_read(const StoredPlan& plan, const StoredCell& cell, std::string_view leaf) {
  const CellConfig config = resolved_config(plan, cell);
  return SchemaCondition(schema()[find_leaf(leaf)].read_when).holds(config.lookup());
}

/// The value with which the newest records of a cell were made; nothing if they do not say.
std::optional<Value> recorded_value(const Fs& disk, const fs::path& folder, std::string_view leaf) {
  for (const char* name : {"result.h5", "metrics.h5"}) {
    if (!something_at(folder / name, disk)) continue;
    try {
      const TableReader file(folder / name, disk);
      const Value config = value_from_json(file.required_text("config"));
      const auto* leaves = config.get_if<ValueMap>();
      const Value* value = leaves == nullptr ? nullptr : find_key(*leaves, leaf);
      if (value != nullptr) return *value;
    } catch (const StorageError&) {  // who reads it for its numbers says so
      continue;
    }
  }
  return std::nullopt;
}

/// Whether a cell has journals, and none were archived for this very reason.
bool has_first_journals(const Fs& disk, const fs::path& folder) {
  bool journals = false, earlier = false;
  for (const FolderEntry& entry : disk.list(folder).value) {
    journals = journals || entry.name.starts_with("journal-");
    earlier = earlier || entry.name.starts_with("earlier-");
  }
  return journals && !earlier;
}

bool is_marked(const std::string& file) {
  return !read_as(file, "auto", beginning_of(file)).empty();
}

/// What release 0.1 had in a cell's name for a user's own text: the digest of the bytes, however
/// they are read. Token files, whose side-cars count, are left as they are.
/// @param now  what there is now.
Value former_corpus(const CellConfig& config, const Value& now) {
  const std::vector<std::string> train = config.names("data.path");
  const std::vector<std::string> valid = config.names("data.valid");
  const auto tokenised = [](const std::string& file) {
    return text_format(file, "auto") == TextFormat::Tokens;
  };
  if (config.word("data.corpus") != "file" || config.word("data.format") != "auto") return now;
  if (std::ranges::any_of(train, tokenised)) return now;
  if (std::ranges::none_of(train, is_marked) && std::ranges::none_of(valid, is_marked)) return now;
  try {
    std::string content = files_digest({train.begin(), train.end()});
    if (!valid.empty()) {
      content = hex(sha256(content + "\nvalid " + files_digest({valid.begin(), valid.end()})));
    }
    return Value("file:" + content);
  } catch (const UserError&) {  // a file is not there
    return now;
  }
}

}  // namespace

bool of_former_release(const TableReader& file) {
  return file.text_attribute("format_version").value_or("1").starts_with("1");
}

void FormerValues::compare(const std::vector<std::int64_t>& numbers, const StoredPlan& plan) {
  if (numbers.empty()) return;
  std::map<CellId, const StoredCell*> ours;
  for (const StoredCell& cell : plan.cells) ours.emplace(cell.id, &cell);
  for (const std::int64_t number : numbers) {
    std::optional<StoredPlan> former;
    try {
      former = read_plan_file(store_.plan_file(number), number, store_.fs());
    } catch (const StorageError&) {  // as above
      continue;
    }
    for (const StoredCell& cell : former->cells) {
      const auto asked = ours.find(cell.id);
      if (asked == ours.end()) continue;
      for (const std::string_view leaf : kBecameIdentity) {
        const Value* then = leaf_of(*former, cell, leaf);
        const Value* now = leaf_of(plan, *asked->second, leaf);
        if (then == nullptr || now == nullptr || *then == *now) continue;
        if (is_read(plan, *asked->second, leaf)) {
          doubtful_.emplace(cell.id, Asked{std::string(leaf), *now});
        }
      }
    }
  }
}

FormerValues::FormerValues(const Store& store, const StoredPlan& plan) : store_(store) {
  compare(former_plans(store), plan);
}

FormerValues::FormerValues(const Store& store, const Sweep& sweep) : store_(store) {
  const std::vector<std::int64_t> former = former_plans(store);
  if (!former.empty()) compare(former, stored_plan(sweep));
}

std::string FormerValues::of(const CellId& id) const {
  const auto asked = doubtful_.find(id);
  if (asked == doubtful_.end()) return {};
  const auto& [leaf, now] = asked->second;
  const fs::path folder = store_.cell_path(id);
  const std::optional<Value> then = recorded_value(store_.fs(), folder, leaf);
  if (then == now || (!then && !has_first_journals(store_.fs(), folder))) return {};
  return fmt::format(
      "{}: what was recorded there does not count: it was trained {}, not with {}; since 0.2 {} is "
      "part of what a cell is",
      folder.string(),
      then ? fmt::format("with {}: {}", leaf, plain_text(*then))
           : fmt::format("under plans with different values of {}", leaf),
      plain_text(now), leaf);
}

std::string former_names_note(const Store& store, const Sweep& sweep) {
  if (former_plans(store).empty()) return {};
  std::size_t results = 0;
  std::string first;
  std::map<std::string, Value> corpora;  // by what names the files
  for (const CellPlan& cell : sweep.cells) {
    if (store.completed(cell.id)) continue;
    const CellConfig& config = cell.config;
    ValueMap leaves = config.changed();
    const ValueMap now = leaves;
    for (auto& [path, value] : leaves) {
      if (path != "data.corpus") continue;
      const auto [at, fresh] =
          corpora.emplace(canonical_json(config.at("data.path")) +
                              canonical_json(config.at("data.valid")) + config.word("data.format"),
                          value);
      if (fresh) at->second = former_corpus(config, value);
      value = at->second;
    }
    std::erase_if(leaves, [](const auto& entry) {
      return std::ranges::find(kBecameIdentity, entry.first) != kBecameIdentity.end();
    });
    if (leaves == now) continue;
    const CellId former = hex(sha256(identity_text(leaves)), 12);
    const fs::path folder = store.cell_path(former);
    const bool same = std::ranges::all_of(kBecameIdentity, [&](std::string_view leaf) {
      const std::optional<Value> then = recorded_value(store.fs(), folder, leaf);
      return !then || *then == config.at(leaf);
    });
    if (!same || (!something_at(folder / "result.h5", store.fs()) &&
                  !has_first_journals(store.fs(), folder))) {
      continue;
    }
    ++results;
    if (first.empty()) first = fmt::format("{}: {}, now {}", cell.alias, former, cell.id);
  }
  if (results == 0) return {};
  return fmt::format(
      "{} cell{} that release 0.1 has trained with these leaves {} another name here, since {} and "
      "the format of a text are part of what a cell is ({}{}): depthgrid results {} --all-plans "
      "lists {}, depthgrid run trains {} anew",
      results, results == 1 ? "" : "s", results == 1 ? "has" : "have",
      fmt::join(kBecameIdentity, ", "), first, results == 1 ? "" : ", ...", store.root().string(),
      results == 1 ? "it" : "them", results == 1 ? "it" : "them");
}

std::vector<std::string> disregard_former(const Store& store, const Sweep& sweep) {
  const FormerValues former(store, sweep);
  std::vector<std::string> out;
  for (const CellPlan& cell : sweep.cells) {
    std::string why = former.of(cell.id);
    if (why.empty()) continue;
    out.push_back(cell.alias + ": " + why);
    store.disregard_result(cell.id, std::move(why));
  }
  return out;
}

}  // namespace depthgrid
