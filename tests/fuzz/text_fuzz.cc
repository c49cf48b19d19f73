// Texts that come from outside: a URL's query, an Authorization header, an
// address, the name in a certificate.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/plain_text.h"
#include "common/spiffe_id.h"
#include "server/admission/token_file.h"
#include "server/listen_address.h"
#include "server/web/http_query.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace swaplock;  // NOLINT(google-build-using-namespace)
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto& [name, value] : ParseQuery(text)) {
    if (name.size() + value.size() > text.size()) std::abort();
  }
  if (TokenOf(text).size() > text.size()) std::abort();
  if (const auto address = ParseListenAddress(text); address.ok()) {
    if (!ParseListenAddress(address->ToString()).ok()) std::abort();
  }
  if (const auto id = ParseSpiffeId(text); id.ok()) {
    if (id->ToString() != text) std::abort();
  } else if (!IsPlainText(id.status().message())) {
    std::abort();
  }
  const std::string plain = PlainText(text, 64);
  if (!IsPlainText(plain) || plain.size() > 64) std::abort();
  return 0;
}
