// ThreadSanitizer does not see the atomics of libraries that were built without
// it, so it takes their hand-overs for races. Only frames of such libraries'
// own machinery are named here, none that calls back into our code.
#if defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:absl::*synchronization_internal\n"
         "race:grpc_event_engine::posix_engine\n";
}
#endif
