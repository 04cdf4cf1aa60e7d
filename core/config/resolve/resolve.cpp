#include "core/config/resolve/resolve.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/digest.hpp"
#include "core/config/resolve/checks.hpp"
#include "core/config/resolve/own_files.hpp"
#include "core/config/schema.hpp"
#include "core/config/start_name.hpp"
#include "core/config/text_format.hpp"

namespace depthgrid {
namespace {

std::size_t shared_parts(std::string_view a, std::string_view b) {
  const auto left = split(a, ".");
  const auto right = split(b, ".");
  std::size_t n = 0;
  while (n < left.size() && n < right.size() && left[n] == right[n]) ++n;
  return n;
}

/// Whether a leaf may have been written in the place of another: their last words are the same, or
/// nearly so.
bool may_be_meant(std::string_view written, std::string_view read) {
  const std::string word(split(written, ".").back());
  return !nearest(word, {std::string(split(read, ".").back())}).empty();
}

/// A file whose content is part of the cells' identity is not there.
std::string no_file(const std::string& path) {
  return "no file '" + path +
         "' (paths are relative to the sweep file, with --set to the working directory); its "
         "content is part of the cells' identity. A store that was trained on it is read without "
         "it: depthgrid results STORE";
}

}  // namespace

Resolver::Resolver(std::shared_ptr<ValuePool> pool, Diagnostics& diagnostics)
    : pool_(std::move(pool)), diagnostics_(diagnostics), deriver_(pool_) {
  for (const Leaf& leaf : schema()) {
    classes_.push_back(leaf.leaf_class);
    read_when_.emplace_back(leaf.read_when);
  }
  read_.assign(classes_.size(), false);
  unread_observations_.resize(classes_.size());
}

const std::vector<PresetLeaf>& Resolver::preset(const Slots& slots) {
  const PooledValue* preset = slots.written[leaf_rows().preset];
  const auto [found, fresh] = presets_.try_emplace(preset);
  const auto* name = preset->get_if<std::string>();
  if (fresh && name != nullptr) found->second = preset_leaves(*name, *pool_);
  return found->second;
}

void Resolver::fill(Slots& slots) {
  for (const auto& [leaf, value] : preset(slots)) {
    slots.assign(leaf, value, Place(), Origin::Preset);
  }
  deriver_.derive(slots);
}

void Resolver::finalise(Slots& slots, Place arm, bool drop) {
  fill(slots);
  std::string dropped;
  while (drop_unread(slots, drop, &dropped)) deriver_.derive(slots);
  if (!dropped.empty()) diagnostics_.note(arm, "this arm does not read " + dropped + ": dropped");
  find_corpus(slots, arm);
  find_labels(slots, arm);
  check_files(slots, arm);
  find_start(slots, arm);
  check_cell(slots, arm, diagnostics_);
}

bool Resolver::drop_unread(Slots& slots, bool drop, std::string* dropped) {
  bool again = false;
  for (std::size_t leaf = 0; leaf < classes_.size(); ++leaf) {
    if (slots.origins[leaf] == Origin::Default) continue;
    if (reads(leaf, slots)) {
      read_[leaf] = true;
      continue;
    }
    if (classes_[leaf] == LeafClass::Execution) continue;  // another arm may read it: finish()
    if (classes_[leaf] == LeafClass::Observation) {
      if (!unread_observations_[leaf] && certain(leaf)) {
        unread_observations_[leaf] = {slots.places[leaf], explain(leaf, slots)};
      }
      slots.reset(leaf, *pool_);
      again = true;
      continue;
    }
    const bool preset = slots.origins[leaf] == Origin::Preset;
    if (preset || (drop && slots.origins[leaf] != Origin::Row)) {
      if (!preset) {
        *dropped += (dropped->empty() ? "`" : ", `") + std::string(schema()[leaf].path) + "`";
      }
      slots.reset(leaf, *pool_);
      again = true;
    } else if (certain(leaf)) {
      diagnostics_.error(slots.places[leaf], explain(leaf, slots) +
                                                 ": remove it, or put it under `when:`" +
                                                 nearest_read(leaf, slots));
    }
  }
  return again;
}

void Resolver::find_corpus(Slots& slots, Place arm) {
  const LeafRows& row = leaf_rows();
  const std::size_t digest = digest_slot();
  slots.values[digest] = pool_->null();
  if (!slots.is(row.corpus, "file") || slots.null(row.data_path)) return;
  const std::array key = {slots.values[row.data_path], slots.values[row.data_valid],
                          slots.values[row.data_format]};
  const auto known = corpora_.find(key);
  if (known != corpora_.end()) {
    slots.values[digest] = known->second;
    return;
  }
  std::optional<std::string> content = content_of(row.data_path, slots, arm);
  if (!slots.null(row.data_valid)) {
    const auto held_out = content_of(row.data_valid, slots, arm);
    if (content && held_out) content = hex(sha256(*content + "\nvalid " + *held_out));
  }
  const PooledValue* value = content ? pool_->intern(*content) : pool_->null();
  corpora_.emplace(key, value);
  slots.values[digest] = value;
}

void Resolver::check_files(const Slots& slots, Place arm) {
  const LeafRows& row = leaf_rows();
  if (!slots.is(row.corpus, "file") && slots.null(row.data_test)) return;
  const std::array key = {
      slots.values[row.data_path],   slots.values[row.data_valid], slots.values[row.data_test],
      slots.values[row.data_format], slots.values[row.tokenizer],  slots.values[row.seq_len],
      slots.values[row.corpus],      slots.values[row.text_key],   slots.values[row.join]};
  if (!checked_files_.insert(key).second) return;
  for (const OwnFileProblem& problem : own_file_problems(slots)) {
    const Place place = slots.places[problem.leaf];
    diagnostics_.error(place.file >= 0 ? place : arm, problem.message);
  }
}

std::optional<std::string> Resolver::content_of(std::size_t leaf, const Slots& slots, Place arm) {
  const std::vector<std::string> named = named_files(slots, leaf);
  std::vector<std::filesystem::path> files(named.begin(), named.end());
  // Tokenised text: its side-car says how to read the ids.
  const auto& word = *slots.values[leaf_rows().data_format]->get_if<std::string>();
  for (std::size_t i = 0, given = files.size(); i < given; ++i) {
    if (text_format(files[i], word) == TextFormat::Tokens) {
      files.push_back(std::filesystem::path(files[i]).replace_extension(".json"));
    }
  }
  const auto missing = std::ranges::find_if(files, [](const std::filesystem::path& file) {
    std::error_code problem;
    return !std::filesystem::is_regular_file(file, problem);
  });
  const Place place = slots.places[leaf].file >= 0 ? slots.places[leaf] : arm;
  const std::string name = "`" + std::string(schema()[leaf].path) + "`: ";
  if (missing != files.end()) {
    diagnostics_.error(place, name + no_file(missing->string()));
    return std::nullopt;
  }
  try {
    std::vector<std::string> digests;
    for (std::size_t i = 0; i < files.size(); ++i) {
      digests.push_back(i < named.size() ? text_digest_of(files[i], word)
                                         : hex(sha256_file(files[i])));
    }
    return joined_digest(digests);
  } catch (const UserError& unreadable) {
    diagnostics_.error(place, name + unreadable.what());
    return std::nullopt;
  }
}

void Resolver::find_labels(Slots& slots, Place arm) {
  const LeafRows& row = leaf_rows();
  struct Named {
    std::size_t leaf, word_leaf;
    std::string_view word;
    std::size_t digest;
  };
  const Named all[] = {{row.label_file, row.label_source, "file", labels_digest_slot()},
                       {row.label_scores, row.label_source, "scores", labels_digest_slot()},
                       {row.prompt_file, row.prompts, "file", prompts_digest_slot()}};
  for (const Named& one : all) slots.values[one.digest] = pool_->null();
  for (const Named& one : all) {
    if (!slots.is(one.word_leaf, one.word) || slots.null(one.leaf)) continue;
    const PooledValue* path = slots.values[one.leaf];
    auto known = own_files_.find(path);
    if (known == own_files_.end()) {
      const auto content = digest_of_file(one.leaf, *path->get_if<std::string>(), slots, arm);
      known = own_files_.emplace(path, content ? pool_->intern(*content) : pool_->null()).first;
    }
    slots.values[one.digest] = known->second;
  }
}

std::optional<std::string> Resolver::digest_of_file(std::size_t leaf, const std::string& file,
                                                    const Slots& slots, Place arm) {
  const Place place = slots.places[leaf].file >= 0 ? slots.places[leaf] : arm;
  const std::string name = "`" + std::string(schema()[leaf].path) + "`: ";
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem)) {
    diagnostics_.error(place, name + no_file(file));
    return std::nullopt;
  }
  try {
    return hex(sha256_file(file));
  } catch (const UserError& unreadable) {
    diagnostics_.error(place, name + unreadable.what());
    return std::nullopt;
  }
}

void Resolver::find_start(Slots& slots, Place arm) {
  const LeafRows& row = leaf_rows();
  slots.values[start_digest_slot()] = pool_->null();
  slots.values[start_depth_slot()] = pool_->null();
  const PooledValue* path = slots.values[row.init_from];
  if (start_name(*path).kind != StartName::Kind::Files) return;
  auto known = starts_.find(path);
  if (known == starts_.end()) {
    const PooledValue* digest = pool_->null();
    try {
      digest = pool_->intern(files_digest(start_files(*path->get_if<std::string>())));
    } catch (const UserError& problem) {
      const Place place = slots.places[row.init_from];
      diagnostics_.error(place.file >= 0 ? place : arm,
                         std::string("`model.init.from`: ") + problem.what());
    }
    known = starts_.emplace(path, digest).first;
  }
  slots.values[start_digest_slot()] = known->second;
}

void Resolver::finish(const Slots& base) {
  for (std::size_t leaf = 0; leaf < classes_.size(); ++leaf) {
    if (read_[leaf]) continue;
    if (const auto& unread = unread_observations_[leaf]) {
      diagnostics_.note(unread->first, unread->second + ": it has no effect");
    } else if (classes_[leaf] == LeafClass::Execution && base.origins[leaf] > Origin::Preset &&
               certain(leaf)) {
      diagnostics_.error(
          base.places[leaf],
          explain(leaf, base) + ": remove it, or put it under `when:`" + nearest_read(leaf, base));
    }
  }
}

bool Resolver::certain(std::size_t leaf) const {
  for (const auto& conjunction : read_when_[leaf].alternatives()) {
    for (const auto& term : conjunction) {
      for (const std::size_t one : term.leaves) {
        if (!diagnostics_.trusts(one)) return false;
      }
    }
  }
  return true;
}

std::string Resolver::explain(std::size_t leaf, const Slots& slots) const {
  const auto leaves = schema();
  std::string wanted;
  std::vector<std::size_t> here;  // what does not hold first, of each alternative
  for (const auto& conjunction : read_when_[leaf].alternatives()) {
    std::string all;
    bool fails = false;
    for (const auto& term : conjunction) {
      std::string text;
      for (const std::size_t one : term.leaves) {
        std::string words;
        for (const auto& word : term.words) words += (words.empty() ? "" : " or ") + word;
        text += (text.empty() ? "`" : " or `") + std::string(leaves[one].path) + ": " +
                (term.negated ? "not " : "") + words + "`";
      }
      all += (all.empty() ? "" : " and ") + text;
      if (fails || term.holds(slots.lookup())) continue;
      fails = true;
      for (const std::size_t one : term.leaves) {
        if (std::ranges::find(here, one) == here.end()) here.push_back(one);
      }
    }
    wanted += (wanted.empty() ? "" : ", or with ") + all;
  }
  std::string found;
  for (const std::size_t one : here) {
    found += (found.empty() ? "`" : ", `") + std::string(leaves[one].path) + "` is `" +
             plain_text(*slots.values[one]) + "`";
  }
  return "`" + std::string(leaves[leaf].path) + "` is read with " + wanted + "; here " + found;
}

std::string Resolver::nearest_read(std::size_t leaf, const Slots& slots) const {
  const auto leaves = schema();
  std::string near;
  std::size_t best_shared = 0;
  std::size_t best_distance = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (i == leaf || !reads(i, slots)) continue;
    if (!may_be_meant(leaves[leaf].path, leaves[i].path)) continue;
    const std::size_t shared = shared_parts(leaves[leaf].path, leaves[i].path);
    const std::size_t distance = edit_distance(leaves[leaf].path, leaves[i].path);
    if (near.empty() || shared > best_shared ||
        (shared == best_shared && distance < best_distance)) {
      near = leaves[i].path;
      best_shared = shared;
      best_distance = distance;
    }
  }
  return near.empty() ? near : " (nearest leaf that is read: `" + near + "`)";
}

}  // namespace depthgrid
