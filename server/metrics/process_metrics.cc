#include "server/metrics/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace swaplock {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::string ReadAll(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Add(const char* name, const char* help, MetricType type, double value,
         std::vector<MetricFamily>* out) {
  MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  family.metric.emplace_back();
  family.metric[0].counter.value = value;
  family.metric[0].gauge.value = value;
  out->push_back(std::move(family));
}

// Seconds since 1970 at which the machine booted, or 0.
double BootTime() {
  for (const absl::string_view line :
       absl::StrSplit(ReadAll("/proc/stat"), '\n')) {
    double seconds = 0;
    if (absl::StartsWith(line, "btime ") &&
        absl::SimpleAtod(line.substr(6), &seconds)) {
      return seconds;
    }
  }
  return 0;
}

// Fields after the command of /proc/self/stat; [0] is the state, field 3.
std::vector<std::string> StatFields() {
  const std::string stat = ReadAll("/proc/self/stat");
  const size_t end = stat.rfind(") ");
  if (end == std::string::npos) return {};
  return absl::StrSplit(stat.substr(end + 2), ' ');
}

int OpenFiles() {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return -1;
  int entries = 0;
  while (readdir(directory) != nullptr) ++entries;
  closedir(directory);
  return entries - 3;  // ".", ".." and the directory itself
}

}  // namespace

std::vector<MetricFamily> ProcessMetrics() {
  std::vector<MetricFamily> out;
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::vector<std::string> stat = StatFields();
  const auto field = [&stat](size_t number) {  // as in proc(5), from 3
    double value = 0;
    if (!absl::SimpleAtod(stat[number - 3], &value)) value = 0;
    return value;
  };
  if (stat.size() > 24 - 3) {
    Add("process_cpu_seconds_total", "User and system CPU time.",
        MetricType::Counter, (field(14) + field(15)) / ticks, &out);
    if (const double boot = BootTime(); boot > 0) {
      Add("process_start_time_seconds", "Start of the process since 1970.",
          MetricType::Gauge, boot + field(22) / ticks, &out);
    }
    Add("process_virtual_memory_bytes", "Virtual memory.", MetricType::Gauge,
        field(23), &out);
    Add("process_resident_memory_bytes", "Resident memory.", MetricType::Gauge,
        field(24) * static_cast<double>(sysconf(_SC_PAGESIZE)), &out);
  }
  if (const int open = OpenFiles(); open >= 0) {
    Add("process_open_fds", "Open file descriptors.", MetricType::Gauge, open,
        &out);
  }
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    Add("process_max_fds", "Most file descriptors that may be open.",
        MetricType::Gauge, static_cast<double>(limit.rlim_cur), &out);
  }
  return out;
}

}  // namespace swaplock
