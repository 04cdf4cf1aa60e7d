#pragma once

#include <filesystem>
#include <string_view>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// A table of results as a listing, whose `tables` names it: what `depthgrid results STORE --csv`
/// writes (results_csv_table()), or a person, for models that were trained elsewhere.
///
/// The first line has the names of the columns. There must be `seed`, `arm` or `tag`, and a metric;
/// `id`, `alias`, `baseline`, `status`, `step`, `parameters`, `attempts`, `in_plan` and `plan` may
/// be missing: a row is a completed cell of this plan then, known by its file and line. Columns
/// that are leaves of the schema, or NAME@sha256, become overrides, where they are not blank; all
/// others are metrics, in whatever unit they were measured: numbers, or blank (or nan) for none.
///
/// The metric is final_loss.valid or eval_loss.valid if there is such a column, else the first one;
/// the goal is left open. Of what figures are of, only columns `data.*`, `eval.*`,
/// `train.batch_size` and `train.clip` are known.
/// @param name  of the file, which messages name; its stem becomes that of the sweep.
/// @throws UserError (BadData) "name:line:column: column, what is there and what was expected".
Listing csv_listing(std::string_view text, const std::string& name);

/// The same of a file. @throws as csv_listing(), StorageError (NoInput)
Listing read_csv_listing(const std::filesystem::path& file);

/// What is not checked of cells that are rows of tables, as one line; empty if there are none.
std::string tables_note(const Listing& listing);

}  // namespace depthgrid
