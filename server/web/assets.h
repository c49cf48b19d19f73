// The files of assets/ that the pages refer to, kept in the program.
#ifndef SWAPLOCK_SERVER_WEB_ASSETS_H_
#define SWAPLOCK_SERVER_WEB_ASSETS_H_

#include "absl/strings/string_view.h"

namespace swaplock {

// The bytes of "charts.js", "charts.licenses.txt" or "page.css"; empty for any
// other name.
absl::string_view EmbeddedFile(absl::string_view name);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_ASSETS_H_
