#include "agent/host/host_file.h"

#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace swaplock {

std::string ReadHostFile(absl::string_view root, absl::string_view path) {
  std::ifstream in(absl::StrCat(root, path), std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string ReadHostValue(absl::string_view root, absl::string_view path) {
  return std::string(absl::StripAsciiWhitespace(ReadHostFile(root, path)));
}

}  // namespace swaplock
