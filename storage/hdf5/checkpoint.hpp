#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/real_fs.hpp"

namespace depthgrid {

/// A float32 tensor of one cell in host memory, row-major.
struct TensorView {
  std::string name;  // unique; without '/'
  std::vector<std::int64_t> shape;
  std::span<const float> data;
};

/// State after `step` optimiser steps; with the configuration it determines all later steps.
struct CheckpointData {
  std::int64_t step = 0;
  std::string config_digest;              // of the cell; never loaded under a different one
  std::map<std::string, double> numbers;  // integers up to 2^53 stay exact
  std::map<std::string, std::string> texts;
  std::vector<TensorView> tensors;
};

/// Writes `ckpt-<step>-<generation>.h5`, sealed, each tensor with the SHA-256 of its bytes in
/// memory; reads it back, compares, and only then removes older ones: the newest `keep_last` steps
/// (at least 2) and `kept_steps` stay, each in its newest generation.
/// @return  the file.
/// @throws  StorageError (CantCreate) naming path, needed and free bytes; nothing is removed then.
std::filesystem::path publish_checkpoint(const std::filesystem::path& cell_dir,
                                         std::int64_t generation, const CheckpointData& data,
                                         int keep_last = 2,
                                         std::span<const std::int64_t> kept_steps = {},
                                         const Fs& disk = real_fs());

struct LoadedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> data;
};

struct LoadedCheckpoint {
  std::int64_t step = 0;
  std::int64_t generation = 0;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  std::vector<LoadedTensor> tensors;  // in the order written
};

struct CheckpointSearch {
  std::optional<LoadedCheckpoint> found;
  std::vector<std::string> rejected;  // "ckpt-00001200-000003.h5: reason", newest first
};

/// The newest by (step, generation) with valid seal, configuration digest and tensor digests.
/// Damaged ones are moved to `corrupt/`, each with a file that states the reason.
/// @param objection  why a sound checkpoint must not be continued from; empty if it may be. Such
///                   ones are moved too.
using CheckpointObjection = std::function<std::string(const LoadedCheckpoint& checkpoint)>;
CheckpointSearch newest_checkpoint(const std::filesystem::path& cell_dir,
                                   const std::string& config_digest,
                                   const CheckpointObjection& objection = {},
                                   const Fs& disk = real_fs());

/// The checkpoint of one step, newest valid generation, by the same checks; nothing is moved.
std::optional<LoadedCheckpoint> checkpoint_at(const std::filesystem::path& cell_dir,
                                              const std::string& config_digest, std::int64_t step,
                                              const Fs& disk = real_fs());

/// (step, generation, file) of each checkpoint in the folder, newest first; nothing is opened.
struct CheckpointFile {
  std::int64_t step = 0;
  std::int64_t generation = 0;
  std::filesystem::path file;
};
std::vector<CheckpointFile> list_checkpoints(const std::filesystem::path& cell_dir,
                                             const Fs& disk = real_fs());

/// Step of the newest checkpoint; 0 = there is none.
std::int64_t newest_step(const std::filesystem::path& cell_dir, const Fs& disk = real_fs());

}  // namespace depthgrid
