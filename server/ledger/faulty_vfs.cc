#include "server/ledger/faulty_vfs.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstring>

namespace swaplock {
namespace {

FaultPlan plan;
int count = 0;

// The error to return, or SQLITE_OK to do it.
int Fault(bool is_sync) {
  if (plan.syncs_only && !is_sync) return SQLITE_OK;
  ++count;
  if (plan.at == 0 || count < plan.at || (count > plan.at && !plan.stays)) {
    return SQLITE_OK;
  }
  if (plan.error == 0) _exit(9);
  return plan.error;
}

// What SQLite allocates for a file: ours, then the real one's bytes.
struct File {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File* Of(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
const sqlite3_io_methods* RealMethods(sqlite3_file* file) {
  return Of(file)->real()->pMethods;
}

int Close(sqlite3_file* f) { return RealMethods(f)->xClose(Of(f)->real()); }
int Read(sqlite3_file* f, void* to, int size, sqlite3_int64 offset) {
  return RealMethods(f)->xRead(Of(f)->real(), to, size, offset);
}
int Write(sqlite3_file* f, const void* from, int size, sqlite3_int64 offset) {
  const int fault = Fault(/*is_sync=*/false);
  if (fault == SQLITE_OK) {
    return RealMethods(f)->xWrite(Of(f)->real(), from, size, offset);
  }
  // Part of it may arrive.
  RealMethods(f)->xWrite(Of(f)->real(), from, size / 2, offset);
  return fault;
}
int Truncate(sqlite3_file* f, sqlite3_int64 size) {
  const int fault = Fault(/*is_sync=*/false);
  return fault != SQLITE_OK ? fault
                            : RealMethods(f)->xTruncate(Of(f)->real(), size);
}
int Sync(sqlite3_file* f, int flags) {
  const int fault = Fault(/*is_sync=*/true);
  return fault != SQLITE_OK ? fault
                            : RealMethods(f)->xSync(Of(f)->real(), flags);
}
int FileSize(sqlite3_file* f, sqlite3_int64* size) {
  return RealMethods(f)->xFileSize(Of(f)->real(), size);
}
int LockFile(sqlite3_file* f, int level) {
  return RealMethods(f)->xLock(Of(f)->real(), level);
}
int UnlockFile(sqlite3_file* f, int level) {
  return RealMethods(f)->xUnlock(Of(f)->real(), level);
}
int CheckReservedLock(sqlite3_file* f, int* result) {
  return RealMethods(f)->xCheckReservedLock(Of(f)->real(), result);
}
int FileControl(sqlite3_file* f, int operation, void* argument) {
  return RealMethods(f)->xFileControl(Of(f)->real(), operation, argument);
}
int SectorSize(sqlite3_file* f) {
  return RealMethods(f)->xSectorSize(Of(f)->real());
}
int DeviceCharacteristics(sqlite3_file* f) {
  return RealMethods(f)->xDeviceCharacteristics(Of(f)->real());
}
int ShmMap(sqlite3_file* f, int page, int size, int extend,
           void volatile** address) {
  return RealMethods(f)->xShmMap(Of(f)->real(), page, size, extend, address);
}
int ShmLock(sqlite3_file* f, int offset, int n, int flags) {
  return RealMethods(f)->xShmLock(Of(f)->real(), offset, n, flags);
}
void ShmBarrier(sqlite3_file* f) { RealMethods(f)->xShmBarrier(Of(f)->real()); }
int ShmUnmap(sqlite3_file* f, int remove) {
  return RealMethods(f)->xShmUnmap(Of(f)->real(), remove);
}

constexpr sqlite3_io_methods kMethods = {
    2,  // no memory maps of the file: writes go through xWrite
    Close,       Read,       Write,
    Truncate,    Sync,       FileSize,
    LockFile,    UnlockFile, CheckReservedLock,
    FileControl, SectorSize, DeviceCharacteristics,
    ShmMap,      ShmLock,    ShmBarrier,
    ShmUnmap,    nullptr,    nullptr,
};

sqlite3_vfs* real_vfs = nullptr;

int Open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags,
         int* out_flags) {
  const int code =
      real_vfs->xOpen(real_vfs, name, Of(file)->real(), flags, out_flags);
  file->pMethods = code == SQLITE_OK ? &kMethods : nullptr;
  return code;
}

int Delete(sqlite3_vfs* /*vfs*/, const char* name, int sync_directory) {
  const int fault = Fault(/*is_sync=*/false);
  return fault != SQLITE_OK ? fault
                            : real_vfs->xDelete(real_vfs, name, sync_directory);
}

void Register() {
  real_vfs = sqlite3_vfs_find(nullptr);
  // All else goes to the real one, whose functions take any vfs of its kind.
  static sqlite3_vfs faulty = *real_vfs;
  faulty.zName = "faulty";
  faulty.szOsFile = static_cast<int>(sizeof(File)) + real_vfs->szOsFile;
  faulty.xOpen = Open;
  faulty.xDelete = Delete;
  faulty.pNext = nullptr;
  sqlite3_vfs_register(&faulty, /*makeDflt=*/1);
}

}  // namespace

void SetFaultPlan(const FaultPlan& next) {
  if (real_vfs == nullptr) Register();
  plan = next;
  count = 0;
}

int FaultCount() { return count; }

}  // namespace swaplock
