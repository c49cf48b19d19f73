// Writes the seeds of tests/fuzz/corpus into the folder that is given: small
// inputs that the decoders take, for a fuzzer to begin with.
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/record_file.h"
#include "common/testing.h"
#include "proto/fleet.pb.h"

namespace swaplock {
namespace {

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Window Rich() {
  Window window = MakeWindow("a", 7);
  Hold& hold = window.top_holds[0];
  hold.preemptors = {{1, "p", 5, 3, 9'000'000, false}};
  hold.waiters = {{2, "w", -5, 0, 9'000'000, true}};
  hold.release_stack = {"f", "g"};
  window.holds_in_progress = window.top_holds;
  window.environment.labels = {{"rack", "2"}};
  window.context.complete = true;
  window.context.gauges = {{"zswap/pool_bytes", 4096}};
  window.context.facts = {{"zswap/compressor", "lzo"}};
  window.merged = 3;
  return window;
}

int Main(const std::string& folder) {
  for (const char* name :
       {"window", "agent_message", "record_file", "spool", "text"}) {
    mkdir(absl::StrCat(folder, "/", name).c_str(), 0755);
  }
  const std::string plain = Serialize(MakeWindow("a", 1));
  const std::string rich = Serialize(Rich());
  Write(folder + "/window/plain", plain);
  Write(folder + "/window/rich", rich);
  v1::AgentMessage message;
  message.mutable_hello()->set_protocol(1);
  message.mutable_hello()->set_host_id("a");
  message.mutable_hello()->set_boot_id(std::string(16, 'b'));
  message.mutable_hello()->set_epoch(5);
  message.mutable_hello()->set_agent_version("0.1.0");
  Write(folder + "/agent_message/hello", message.SerializeAsString());
  *message.mutable_window() = ToProto(Rich());
  Write(folder + "/agent_message/window", message.SerializeAsString());
  Write(folder + "/record_file/payload", "w" + rich);
  const std::string two = folder + "/record_file/two";
  std::remove(two.c_str());
  auto writer = RecordWriter::Open(two);
  if (!writer.ok() || !(*writer)->Append(MakeWindow("a", 1)).ok() ||
      !(*writer)->Append(MakeWindow("a", 2)).ok()) {
    return 1;
  }
  // Superblocks, then the first record's header and payload.
  Write(folder + "/spool/patches",
        std::string("p\x08\x00\x01\x10\x10\xff\x04\x20\x01\x40\x20\x7f", 13));
  Write(folder + "/text/query", "kernel=6.18.15&host=%61+b&context=1&%zz=%");
  Write(folder + "/text/basic", "Basic YW55Om9vb29vb29vb29vb29vb28tMQ==");
  Write(folder + "/text/address", "[::1]:7787");
  Write(folder + "/text/spiffe", "spiffe://swaplock/host/web-17");
  return 0;
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) {
  return argc == 2 ? swaplock::Main(argv[1]) : 2;
}
