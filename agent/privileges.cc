#include "agent/privileges.h"

#include <errno.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

struct CapDeleter {
  void operator()(void* c) const { cap_free(c); }
};
using Capabilities = std::unique_ptr<std::remove_pointer_t<cap_t>, CapDeleter>;

bool Exists(const std::string& path) {
  struct stat s;
  return stat(path.c_str(), &s) == 0;
}

// Whether zram or zsmalloc, which comes with it, is a module that comes and
// goes, or may yet come. Built in, they have no folder in /sys/module.
bool MayBeLoaded(absl::string_view root) {
  const std::string sys = absl::StrCat(root, "/sys/");
  return !Exists(sys + "class/zram-control") ||
         Exists(sys + "module/zram/initstate") ||
         Exists(sys + "module/zsmalloc/initstate");
}

// The folder that `path` lies in, or itself if it is one.
bool InAnothersFolder(std::string path) {
  struct stat s;
  while (stat(path.c_str(), &s) != 0 || !S_ISDIR(s.st_mode)) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) {
      path = ".";
    } else {
      path = slash == 0 ? "/" : path.substr(0, slash);
    }
  }
  return s.st_uid != geteuid();
}

absl::Status Failed(absl::string_view what) {
  return absl::InternalError(absl::StrCat(what, ": ", strerrorname_np(errno)));
}

}  // namespace

std::vector<std::string> NeededCapabilities(
    const std::vector<std::string>& written, absl::string_view root) {
  std::vector<std::string> out = {"cap_bpf", "cap_perfmon", "cap_syslog",
                                  "cap_dac_read_search"};
  if (MayBeLoaded(root)) out.push_back("cap_sys_admin");
  for (const std::string& path : written) {
    if (path.empty() || !InAnothersFolder(path)) continue;
    out.push_back("cap_dac_override");
    break;
  }
  return out;
}

absl::StatusOr<std::string> KeepOnly(const std::vector<std::string>& names) {
  const Capabilities now(cap_get_proc());
  const Capabilities kept(cap_init());
  if (now == nullptr || kept == nullptr) return Failed("read capabilities");
  for (const std::string& name : names) {
    cap_value_t value;
    cap_flag_value_t has = CAP_CLEAR;
    // Not known to this library, or not there to be kept.
    if (cap_from_name(name.c_str(), &value) != 0 ||
        cap_get_flag(now.get(), value, CAP_PERMITTED, &has) != 0 ||
        has != CAP_SET) {
      continue;
    }
    for (const cap_flag_t flag : {CAP_PERMITTED, CAP_EFFECTIVE}) {
      if (cap_set_flag(kept.get(), flag, 1, &value, CAP_SET) != 0) {
        return Failed(absl::StrCat("keep ", name));
      }
    }
  }
  // A program that this process started as root would have all again.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Failed("give up new privileges");
  }
  cap_reset_ambient();
  if (cap_set_proc(kept.get()) != 0) return Failed("drop capabilities");
  const std::unique_ptr<char, CapDeleter> text(
      cap_to_text(kept.get(), nullptr));
  if (text == nullptr || strcmp(text.get(), "=") == 0) return std::string();
  return std::string(text.get());
}

}  // namespace swaplock
