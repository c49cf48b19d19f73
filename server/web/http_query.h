// The parameters of a URL: what follows its question mark.
#ifndef SWAPLOCK_SERVER_WEB_HTTP_QUERY_H_
#define SWAPLOCK_SERVER_WEB_HTTP_QUERY_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace swaplock {

// Names and values with %XX and + decoded; a % that begins no such code stays.
// Bytes are whatever was encoded, also zeros. Of a name that comes twice the
// last value counts; a name without a = has an empty one.
std::map<std::string, std::string> ParseQuery(absl::string_view query);

// The value of `name`, empty without it.
std::string ValueOf(const std::map<std::string, std::string>& query,
                    const std::string& name);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_HTTP_QUERY_H_
