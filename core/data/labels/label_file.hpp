#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// A part of a text and its labels.
struct LabelledSpan {
  std::int64_t begin = 0, end = 0;  // bytes of the text, half open, at characters of UTF-8
  std::vector<double> u;            // (axes), each in [-1, 1]; NaN = unlabelled
};

struct LabelledDocument {
  std::string text;                 // UTF-8, not empty
  std::vector<LabelledSpan> spans;  // sorted, disjoint, none empty; none at all = no labels
};

/// A user's labels, as `train.control.labels.file` names them.
struct LabelFile {
  std::vector<LabelledDocument> documents;  // in the order of the lines
  std::string sha256;                       // of the file's bytes
};

/// Reads JSONL with one document a line:
/// @code
/// {"text": "...", "u": {"formality": 0.7}}
/// {"text": "...", "spans": [{"begin": 0, "end": 52, "u": {"toxicity": -1}}]}
/// @endcode
/// `u` of a document is one span over all of it. Offsets are UTF-8 bytes, half open. A name that a
/// `u` lacks is unlabelled there, and so is text outside of the spans; a document may have neither.
/// @param names  of the axes, in their order.
/// @throws UserError (NoInput) if the file cannot be read, (BadData) if it is blank or no text, or
///         with all mistakes by line: no text, both u and spans, spans that are empty, overlap, lie
///         outside of the text or cut a character, values that are no numbers of [-1, 1], unknown
///         or repeated names, lines that are not JSON or not UTF-8.
LabelFile read_label_file(const std::filesystem::path& file, const std::vector<std::string>& names);

/// Where the labels of documents stand in a text.
struct LocatedLabels {
  std::vector<LabelledSpan> spans;  // of the text; sorted, disjoint
  std::vector<bool> found;          // (documents)
};

/// Finds documents in a text, each whole and at the beginning of a line, in whatever order and
/// number; of two that begin alike, the longer one.
/// @throws UserError (BadData) for two documents of one text with different labels.
LocatedLabels located(std::string_view text, std::span<const LabelledDocument> documents);

}  // namespace depthgrid
