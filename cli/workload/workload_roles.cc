#include "cli/workload/workload_roles.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "cli/workload/workload_content.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21  // Linux 5.4
#endif

namespace swaplock {
namespace {

// What a zram worker takes its blocks from.
constexpr size_t kPoolBytes = size_t{4} << 20;
constexpr size_t kFillBytes = size_t{1} << 20;
// Pages that a zswap task pages out at once. A worker's call is long, so that
// the tick that ends its slice finds it inside the lock; a reader's is short,
// because it reads with pauses.
constexpr size_t kWorkerSlicePages = 64;
constexpr size_t kReaderSlicePages = 16;
// Streams of the seed: pages and numbers of the tasks, and the device's data.
constexpr uint64_t kNumbersStream = uint64_t{1} << 32;
constexpr uint64_t kDeviceStream = uint64_t{1} << 33;

absl::Status Failed(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(error)));
}

// Memory of its own, on page borders.
class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // Huge pages would be split at the first page-out and blur what is
    // measured.
    if (ok()) madvise(memory_, bytes, MADV_NOHUGEPAGE);
  }
  ~Buffer() {
    if (ok()) munmap(memory_, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  bool ok() const { return memory_ != MAP_FAILED; }
  uint8_t* data() const { return static_cast<uint8_t*>(memory_); }
  size_t size() const { return bytes_; }
  absl::Span<uint8_t> span() const { return {data(), bytes_}; }

 private:
  size_t bytes_;
  void* memory_;
};

// Half to one and a half times the pause, so that no two tasks keep step.
void Pause(const Task& task, absl::Duration pause, SeededNumbers* numbers) {
  if (pause <= absl::ZeroDuration()) return;
  const auto ns = static_cast<uint64_t>(absl::ToInt64Nanoseconds(pause));
  task.Sleep(
      absl::Nanoseconds(static_cast<int64_t>(ns / 2 + numbers->Below(ns + 1))));
}

absl::Status BurnCpu(Task& task) {
  if (!task.AwaitStart()) return absl::OkStatus();
  volatile unsigned spun = 0;
  while (!task.Over()) {
    for (unsigned i = 0; i < 1000; ++i) spun = spun + i;
  }
  return absl::OkStatus();
}

TaskGroup Hogs(const WorkloadOptions& options) {
  return {"hog", options.hogs, kHogNice, {}, BurnCpu};
}

absl::Status PinTo(pid_t process, int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(process, sizeof(one), &one) == 0) {
    return absl::OkStatus();
  }
  return Failed(absl::StrCat("cannot pin a task to CPU ", cpu), errno);
}

// The positive control. At a random moment the first worker, wherever it is, is
// moved to another CPU, and that one is kept busy by a real-time task: this
// one. If the worker holds its first CPU's lock then, it goes on holding it,
// and whoever is on that CPU waits for it. A kernel that cannot preempt a
// holder is not affected: it moves the worker when it has let go.
absl::Status DelayHolder(Task& task, const WorkloadOptions& options, int home,
                         int away) {
  SeededNumbers numbers(options.seed, kNumbersStream + task.index());
  if (absl::Status status = PinTo(0, away); !status.ok()) return status;
  const sched_param priority = {1};
  if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
    return Failed("it may not be a real-time task", errno);
  }
  const auto length =
      static_cast<uint64_t>(absl::ToInt64Nanoseconds(options.slow_holder));
  if (!task.AwaitStart()) return absl::OkStatus();
  const pid_t worker = task.ProcessOf(0);
  while (!task.Over()) {
    // Less than half of the time, so that others are not starved, and the
    // kernel's limit for real-time tasks is not met.
    task.Sleep(options.slow_holder +
               absl::Milliseconds(static_cast<int64_t>(numbers.Below(50))));
    if (task.Over()) break;
    const uint64_t begin = Task::NowNs();
    // Its worker may have ended at the deadline.
    if (!PinTo(worker, away).ok()) break;
    while (Task::NowNs() - begin < length && !task.Over()) {
    }
    task.Add(0, Task::NowNs() - begin);
    if (!PinTo(worker, home).ok()) break;
  }
  return absl::OkStatus();
}

// Two CPUs that this process may run on: the worker's own and the other.
absl::Status TwoCpus(int* home, int* away) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    return Failed("which CPUs it may use is not known", errno);
  }
  *home = *away = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE && *away < 0; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) (*home < 0 ? *home : *away) = cpu;
  }
  if (*away < 0) return absl::UnavailableError("--slow_holder needs two CPUs");
  return absl::OkStatus();
}

void AddDelays(const WorkloadOptions& options, std::vector<TaskGroup>* groups) {
  if (options.slow_holder <= absl::ZeroDuration()) return;
  groups->push_back(
      {"delayer", 1, 0, {"injected_delay"}, [options](Task& task) {
         int home = -1;
         int away = -1;
         if (absl::Status status = TwoCpus(&home, &away); !status.ok()) {
           return status;
         }
         return DelayHolder(task, options, home, away);
       }});
  // Workers are first of all groups.
  const auto work = groups->front().work;
  groups->front().work = [work](Task& task) {
    if (task.index() == 0) {
      int home = -1;
      int away = -1;
      absl::Status status = TwoCpus(&home, &away);
      if (status.ok()) status = PinTo(0, home);
      if (!status.ok()) return status;
    }
    return work(task);
  };
}

// --- zram

// Reads or writes blocks at random, one after the other.
absl::Status UseDevice(Task& task, const WorkloadOptions& options,
                       const ZramForRun& zram, bool write, size_t block,
                       absl::Duration pause) {
  const std::string path = absl::StrCat("/dev/", zram.name);
  OwnedFd fd(
      open(path.c_str(), (write ? O_WRONLY : O_RDONLY) | O_DIRECT | O_CLOEXEC));
  if (!fd.ok()) return Failed(absl::StrCat("open ", path), errno);
  Buffer buffer(write ? kPoolBytes : block);
  if (!buffer.ok()) return Failed("memory", errno);
  if (write)
    FillPages(options.seed, task.index(), options.ratio, buffer.span());
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const uint64_t blocks = zram.bytes / block;
  SeededNumbers numbers(options.seed, kNumbersStream + task.index());

  if (!task.AwaitStart()) return absl::OkStatus();
  do {
    Pause(task, pause, &numbers);
    const auto at = static_cast<off_t>(numbers.Below(blocks) * block);
    uint8_t* const data =
        buffer.data() +
        (write ? numbers.Below((buffer.size() - block) / page + 1) * page : 0);
    const uint64_t begin = Task::NowNs();
    const ssize_t done = write ? pwrite(fd.get(), data, block, at)
                               : pread(fd.get(), data, block, at);
    const uint64_t end = Task::NowNs();
    if (done != static_cast<ssize_t>(block)) {
      return Failed(
          absl::StrCat(write ? "write" : "read", " at ", at, " of ", path),
          done < 0 ? errno : EIO);
    }
    task.Add(0, end - begin);
  } while (!task.Over());
  return absl::OkStatus();
}

// --- zswap

// Pages its buffer out slice by slice and touches every page again.
absl::Status PageOutAndRead(Task& task, const WorkloadOptions& options,
                            size_t slice_pages, absl::Duration pause) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t slice = slice_pages * page;
  Buffer buffer(static_cast<size_t>(options.mib) << 20);
  if (!buffer.ok()) return Failed("memory for its buffer", errno);
  FillPages(options.seed, task.index(), options.ratio, buffer.span());
  SeededNumbers numbers(options.seed, kNumbersStream + task.index());

  if (!task.AwaitStart()) return absl::OkStatus();
  size_t at = 0;
  do {
    const uint64_t begin = Task::NowNs();
    if (madvise(buffer.data() + at, slice, MADV_PAGEOUT) != 0) {
      return Failed("madvise(MADV_PAGEOUT)", errno);
    }
    task.Add(1, Task::NowNs() - begin);
    for (size_t i = 0; i < slice_pages; ++i) {
      Pause(task, pause, &numbers);
      auto* const byte = const_cast<volatile uint8_t*>(buffer.data() + at +
                                                       i * page + page / 2);
      const uint64_t before = Task::NowNs();
      const uint8_t value = *byte;
      const uint64_t after = Task::NowNs();
      task.Add(0, after - before);
      // So that older kernels, too, drop the copy in swap, and the next
      // page-out compresses again.
      *byte = static_cast<uint8_t>(value + 1);
      if (task.Over()) break;
    }
    at = (at + slice) % buffer.size();
  } while (!task.Over());
  return absl::OkStatus();
}

}  // namespace

absl::Status FillZram(const WorkloadOptions& options, const ZramForRun& zram,
                      StopSignals& signals) {
  const std::string path = absl::StrCat("/dev/", zram.name);
  OwnedFd fd(open(path.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC));
  if (!fd.ok()) return Failed(absl::StrCat("open ", path), errno);
  Buffer buffer(kFillBytes);
  if (!buffer.ok()) return Failed("memory", errno);
  for (uint64_t at = 0; at < zram.bytes && signals.Asked() == 0;
       at += kFillBytes) {
    const size_t size = std::min<uint64_t>(kFillBytes, zram.bytes - at);
    FillPages(options.seed, kDeviceStream + at / kFillBytes, options.ratio,
              buffer.span());
    const ssize_t done =
        pwrite(fd.get(), buffer.data(), size, static_cast<off_t>(at));
    if (done != static_cast<ssize_t>(size)) {
      return Failed(absl::StrCat("write at ", at, " of ", path),
                    done < 0 ? errno : ENOSPC);
    }
  }
  return absl::OkStatus();
}

std::vector<TaskGroup> ZramRoles(const WorkloadOptions& options,
                                 const ZramForRun& zram) {
  const bool writes = !options.LowReads();
  const size_t low_block = static_cast<size_t>(options.low_block_kib) * 1024;
  const size_t block = static_cast<size_t>(options.block_kib) * 1024;
  std::vector<TaskGroup> groups = {
      {writes ? "low-writer" : "low-reader",
       options.workers,
       kZramWorkerNice,
       {writes ? "low_priority_write" : "low_priority_read"},
       [=](Task& task) {
         return UseDevice(task, options, zram, writes, low_block,
                          absl::ZeroDuration());
       }},
      Hogs(options),
      {"reader",
       options.readers,
       kReaderNice,
       {"high_priority_read"},
       [=](Task& task) {
         return UseDevice(task, options, zram, false, block, options.pause);
       }},
  };
  AddDelays(options, &groups);
  return groups;
}

std::vector<TaskGroup> ZswapRoles(const WorkloadOptions& options) {
  std::vector<TaskGroup> groups = {
      {"worker",
       options.workers,
       kZswapWorkerNice,
       {"low_priority_read", "low_priority_page_out"},
       [=](Task& task) {
         return PageOutAndRead(task, options, kWorkerSlicePages,
                               absl::ZeroDuration());
       }},
      Hogs(options),
      {"reader",
       options.readers,
       kReaderNice,
       {"high_priority_read", "high_priority_page_out"},
       [=](Task& task) {
         return PageOutAndRead(task, options, kReaderSlicePages, options.pause);
       }},
  };
  AddDelays(options, &groups);
  return groups;
}

}  // namespace swaplock
