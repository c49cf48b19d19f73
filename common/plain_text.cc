#include "common/plain_text.h"

#include <cstdint>

namespace swaplock {
namespace {

struct Character {
  size_t bytes = 0;  // 0: the text does not begin with a character
  uint32_t point = 0;
};

Character FirstOf(absl::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  size_t more = 0;
  uint32_t point = first;
  uint32_t least = 0;  // below it the encoding is longer than need be
  if (first >= 0xf0 && first <= 0xf4) {
    more = 3;
    point = first & 0x07;
    least = 0x10000;
  } else if (first >= 0xe0 && first < 0xf0) {
    more = 2;
    point = first & 0x0f;
    least = 0x800;
  } else if (first >= 0xc2 && first < 0xe0) {
    more = 1;
    point = first & 0x1f;
    least = 0x80;
  } else if (first >= 0x80) {
    return {};
  }
  if (more > text.size() - 1) return {};
  for (size_t i = 1; i <= more; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    point = point << 6 | (byte & 0x3f);
  }
  if (point < least || point > 0x10ffff ||
      (point >= 0xd800 && point <= 0xdfff)) {
    return {};
  }
  return {more + 1, point};
}

bool IsControl(uint32_t point) {
  static constexpr struct {
    uint32_t first;
    uint32_t last;
  } kRanges[] = {
      {0x00, 0x1f},       {0x7f, 0x9f},      // C0, DEL and C1
      {0x061c, 0x061c},                      // Arabic letter mark
      {0x200e, 0x200f},   {0x2028, 0x202e},  // marks; separators, overrides
      {0x2066, 0x2069},                      // isolates
      {0xfeff, 0xfeff},   {0xfff9, 0xfffb},  // byte order mark; annotation
      {0xe0000, 0xe007f},                    // tags
  };
  for (const auto& range : kRanges) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

}  // namespace

bool IsPlainText(absl::string_view text) {
  while (!text.empty()) {
    const Character c = FirstOf(text);
    if (c.bytes == 0 || IsControl(c.point)) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

std::string PlainText(absl::string_view text, size_t max_bytes) {
  std::string out;
  while (!text.empty()) {
    const Character c = FirstOf(text);
    const bool bad = c.bytes == 0 || IsControl(c.point);
    const absl::string_view plain = bad ? "?" : text.substr(0, c.bytes);
    if (out.size() + plain.size() > max_bytes) break;
    out.append(plain.data(), plain.size());
    text.remove_prefix(c.bytes == 0 ? 1 : c.bytes);
  }
  return out;
}

}  // namespace swaplock
