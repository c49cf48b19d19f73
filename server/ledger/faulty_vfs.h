// SQLite's file operations with faults: counts what changes a file, and makes
// the one that is asked for fail, or end the process there. Test code only.
//
// Becomes SQLite's default when it is first used. For one thread.
#ifndef SWAPLOCK_SERVER_LEDGER_FAULTY_VFS_H_
#define SWAPLOCK_SERVER_LEDGER_FAULTY_VFS_H_

namespace swaplock {

struct FaultPlan {
  // The operation at which it begins, from 1 on; 0: never.
  int at = 0;
  // What it fails with (SQLITE_FULL, SQLITE_IOERR_FSYNC ...); 0: the process
  // ends there, as by kill -9.
  int error = 0;
  bool stays = false;       // all that follow fail as well, until the next plan
  bool syncs_only = false;  // others are neither counted nor fail
};

// Valid from now on; the count begins anew.
void SetFaultPlan(const FaultPlan& plan);

// Operations since the last plan: writes, truncates, syncs, removals.
int FaultCount();

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_FAULTY_VFS_H_
