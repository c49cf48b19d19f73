#include "common/thread_room.h"

#include <pthread.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"

namespace swaplock {
namespace {

void* WaitForEnd(void* end) {
  static_cast<absl::Notification*>(end)->WaitForNotification();
  return nullptr;
}

}  // namespace

absl::Status CheckThreadRoom(int threads) {
  absl::Notification end;
  std::vector<pthread_t> made;
  made.reserve(static_cast<size_t>(threads));
  int error = 0;
  for (int i = 0; i < threads && error == 0; ++i) {
    pthread_t thread;
    error = pthread_create(&thread, nullptr, WaitForEnd, &end);
    if (error == 0) made.push_back(thread);
  }
  end.Notify();
  for (const pthread_t thread : made) pthread_join(thread, nullptr);
  if (error == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      "only ", made.size(), " of the ", threads,
      " threads that it takes can be made (", std::strerror(error),
      "): raise TasksMax of the unit, pids.max of the cgroup or ulimit -u"));
}

}  // namespace swaplock
