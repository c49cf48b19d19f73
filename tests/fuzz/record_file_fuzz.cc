// A record file of any content: it is read to its end or to the first damage.
// Inputs that begin with 'w' are payloads, which get a good frame around them,
// so that not only checksums are tried.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/durable_file.h"
#include "common/record_file.h"

namespace {

// As record_file.h says.
std::string Framed(const std::string& payload) {
  return absl::StrCat(
      "swaplk1\n",
      swaplock::EncodeFixed32(static_cast<uint32_t>(payload.size())),
      swaplock::EncodeFixed32(swaplock::Crc32c(payload)), payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string content(reinterpret_cast<const char*>(data), size);
  if (!content.empty() && content[0] == 'w')
    content = Framed(content.substr(1));
  // One file for all runs.
  static const int fd = memfd_create("record", 0);
  if (fd < 0 || ftruncate(fd, 0) != 0 ||
      pwrite(fd, content.data(), content.size(), 0) !=
          static_cast<ssize_t>(content.size())) {
    std::abort();
  }
  auto reader =
      swaplock::RecordReader::Open(absl::StrCat("/proc/self/fd/", fd));
  if (!reader.ok()) return 0;
  uint64_t offset = 0;
  while ((*reader)->Next().ok()) {
    if ((*reader)->offset() <= offset) std::abort();
    offset = (*reader)->offset();
  }
  if (offset > content.size()) std::abort();
  return 0;
}
