// Runs a fuzz target over the files that are given, and over variations of them
// that are the same on every run: what libFuzzer would try first, without it.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace swaplock {
namespace {

constexpr int kVariations = 2'000;  // in all

std::vector<std::string>& Corpus() {
  static auto* const corpus = new std::vector<std::string>;
  return *corpus;
}

void RunOne(const std::string& input) {
  // A copy of exactly this size, so that ASan sees a read past it.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
}

std::string Varied(std::string input, std::mt19937* random) {
  const auto below = [random](size_t n) {
    return n == 0 ? 0 : static_cast<size_t>((*random)()) % n;
  };
  for (size_t i = 0; i <= below(4); ++i) {
    const size_t at = below(input.size());
    switch (below(5)) {
      case 0:
        if (!input.empty()) input[at] ^= static_cast<char>(1 << below(8));
        break;
      case 1:
        input.insert(at, 1 + below(8), static_cast<char>(below(256)));
        break;
      case 2:
        input.erase(at, 1 + below(16));
        break;
      case 3:
        if (!input.empty()) input[at] = static_cast<char>(255 * below(2));
        break;
      default: {
        const std::string& other = Corpus()[below(Corpus().size())];
        input = input.substr(0, at) + other.substr(below(other.size()));
      }
    }
  }
  return input;
}

TEST(CorpusTest, NothingBreaksTheTarget) {
  ASSERT_FALSE(Corpus().empty());
  RunOne("");
  for (const std::string& input : Corpus()) {
    RunOne(input);
    for (size_t cut = 0; cut < input.size(); cut += 1 + input.size() / 64) {
      RunOne(input.substr(0, cut));
    }
  }
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same on every run
  for (int i = 0; i < kVariations; ++i) {
    const size_t seed = static_cast<size_t>(random()) % Corpus().size();
    RunOne(Varied(Corpus()[seed], &random));
  }
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    std::ostringstream bytes;
    bytes << std::ifstream(argv[i], std::ios::binary).rdbuf();
    swaplock::Corpus().push_back(bytes.str());
  }
  return RUN_ALL_TESTS();
}
