#pragma once

#include <string_view>

#include "core/config/value.hpp"
#include "storage/columns/column_table.hpp"
#include "storage/plan_file.hpp"

namespace depthgrid {

/// Release 0.1 recorded bits per byte of every text, also where its tokens do not keep every byte,
/// so that the figure is of another text. Its results do not say which. What is known of them:
/// `byte` and `gpt2` keep all bytes; `char256` does where there was one byte for each token; the
/// others do not, or are not known to.
/// @param tokenizer  leaf data.tokenizer; empty = nothing is known of it.
/// @param tokenised  the user's own token files, whose side-car says how many bytes they stand for.
/// @param loss, bits  in nats per token, and bits per byte.
bool former_tokens_keep_bytes(std::string_view tokenizer, bool tokenised, double loss, double bits);

/// The value of data.path says so of files that release 0.1 read: they ended with .bin.
bool former_tokenised(const Value* path);

/// Makes the bits per byte of one cell's table absent that it should not have: of splits whose
/// tokens lose bytes, where the table says which do (split_digest, split_bytes: since 0.2), else as
/// former_tokens_keep_bytes() says.
void withhold_former_bits(ColumnTable& table, const StoredPlan& plan, const StoredCell& cell);
/// Whether it says so: the records of a cell that release 0.1 began may.
bool has_kept_bytes(const ColumnTable& table);

/// Whether withhold_former_bits() may find something.
bool may_have_former_bits(const StoredPlan& plan, const StoredCell& cell);

}  // namespace depthgrid
