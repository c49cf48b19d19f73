#include "cli/workload/workload_setup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace swaplock {
namespace {

// A folder with files as /proc and /sys have them.
class Root {
 public:
  Root()
      : path_(std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
  }
  ~Root() { std::filesystem::remove_all(path_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  std::string path() const { return path_.string(); }
  std::string Of(const std::string& name) const { return path() + name; }
  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(
        std::filesystem::path(Of(name)).parent_path());
    std::ofstream(Of(name)) << text;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(Of(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

WorkloadOptions Zswap() {
  WorkloadOptions options;
  options.kind = WorkloadKind::kZswapInversion;
  FillDefaults(1, &options);  // 5 buffers of 16 MiB
  return options;
}

void WriteReadyHost(const Root& root) {
  root.Write("/sys/module/zswap/parameters/enabled", "Y\n");
  root.Write("/sys/module/zswap/parameters/compressor", "zstd\n");
  root.Write("/proc/sys/vm/page-cluster", "0\n");
  root.Write("/proc/swaps",
             "Filename Type Size Used Priority\n/dev/ram0 partition 1 0 1\n");
  root.Write("/proc/meminfo",
             "MemAvailable:    81920 kB\nSwapFree:        81920 kB\n");
}

TEST(Undo, GoesBackwardsAndNeverTwice) {
  std::vector<int> done;
  {
    Undo undo;
    for (int i = 0; i < 3; ++i) {
      undo.Add([&done, i] {
        done.push_back(i);
        return absl::OkStatus();
      });
    }
    EXPECT_TRUE(undo.Run().ok());
    EXPECT_EQ(done, (std::vector<int>{2, 1, 0}));
  }
  EXPECT_EQ(done.size(), 3u);
}

TEST(Undo, GoesOnAfterAnErrorAndSaysTheFirst) {
  std::vector<int> done;
  Undo undo;
  undo.Add([&done] {
    done.push_back(0);
    return absl::UnavailableError("second");
  });
  undo.Add([&done] {
    done.push_back(1);
    return absl::UnavailableError("first");
  });
  EXPECT_EQ(undo.Run().message(), "first");
  EXPECT_EQ(done, (std::vector<int>{1, 0}));
}

TEST(Undo, HappensWhenNobodyAskedForIt) {
  bool done = false;
  {
    Undo undo;
    undo.Add([&done] {
      done = true;
      return absl::OkStatus();
    });
  }
  EXPECT_TRUE(done);
}

TEST(ChangeSetting, IsUndone) {
  Root root;
  root.Write("/a", "60\n");
  Undo undo;
  ASSERT_TRUE(ChangeSetting(root.Of("/a"), "0", &undo).ok());
  EXPECT_EQ(root.Read("/a"), "0");
  EXPECT_TRUE(undo.Run().ok());
  EXPECT_EQ(root.Read("/a"), "60");
}

TEST(ChangeSetting, SaysWhatIsNotThere) {
  Root root;
  Undo undo;
  const absl::Status status = ChangeSetting(root.Of("/no"), "0", &undo);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("/no"), absl::string_view::npos);
}

TEST(Chosen, IsWhatStandsInBrackets) {
  EXPECT_EQ(Chosen("[lzo-rle] lzo lz4"), "lzo-rle");
  EXPECT_EQ(Chosen("lzo-rle lzo [lz4]"), "lz4");
  EXPECT_EQ(Chosen("zstd"), "zstd");
  EXPECT_EQ(Chosen("[zstd"), "[zstd");
  EXPECT_EQ(Chosen(""), "");
}

TEST(Figure, IsThatOfTheWholeName) {
  const char* const text = "zswpin 5\nzswpout 77\nzswpout_more 8\n";
  EXPECT_EQ(Figure(text, "zswpout"), 77u);
  EXPECT_EQ(Figure(text, "zswp"), 0u);
  EXPECT_EQ(Figure("MemFree:     12 kB\n", "MemFree:"), 12u);
}

TEST(PrepareZswap, TakesAHostThatIsReady) {
  Root root;
  WriteReadyHost(root);
  Undo undo;
  const absl::StatusOr<ZswapForRun> zswap =
      PrepareZswap(Zswap(), &undo, root.path());
  ASSERT_TRUE(zswap.ok()) << zswap.status();
  EXPECT_EQ(zswap->codec, "zstd");
}

struct Lack {
  std::string file;
  std::string text;
  std::string says;
};

TEST(PrepareZswap, SaysWhatIsMissing) {
  for (const Lack& lack : std::vector<Lack>{
           {"/sys/module/zswap/parameters/enabled", "", "no zswap"},
           {"/sys/module/zswap/parameters/enabled", "N\n", "zswap is off"},
           {"/proc/swaps", "Filename Type Size Used Priority\n",
            "no swap is on"},
           {"/proc/sys/vm/page-cluster", "3\n", "vm.page-cluster is 3"},
           {"/proc/meminfo", "MemAvailable: 81919 kB\nSwapFree: 999999 kB\n",
            "MemAvailable is 79 MiB"},
           {"/proc/meminfo", "MemAvailable: 999999 kB\nSwapFree: 1024 kB\n",
            "SwapFree is 1 MiB"},
       }) {
    Root root;
    WriteReadyHost(root);
    root.Write(lack.file, lack.text);
    Undo undo;
    const absl::Status status =
        PrepareZswap(Zswap(), &undo, root.path()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << lack.says;
    EXPECT_NE(status.message().find(lack.says), absl::string_view::npos)
        << status;
  }
}

TEST(PrepareZram, ADeviceThatIsNotThereIsNamed) {
  WorkloadOptions options;
  options.device = "zram999999";
  FillDefaults(1, &options);
  Undo undo;
  const absl::Status status = PrepareZram(options, &undo).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "there is no zram999999");
}

}  // namespace
}  // namespace swaplock
