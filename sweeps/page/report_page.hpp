#pragma once

#include <string>

#include "sweeps/page/page_data.hpp"

namespace depthgrid {

/// One HTML file that needs nothing else: no network, no other file. Its content security policy
/// allows its own style and its own script, by their digests, and nothing more.
///
/// It is made to be mailed: there is no user, host, absolute path, text of a log (but see
/// PageInclusions) or token of a corpus in it, and whatever comes from the store is text. The same
/// data gives the same bytes.
std::string report_page(const PageData& data);

}  // namespace depthgrid
