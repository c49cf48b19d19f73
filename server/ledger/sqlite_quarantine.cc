#include "server/ledger/sqlite_quarantine.h"

#include "absl/time/time.h"

namespace swaplock {
namespace {

// A host that behaved for so long after it was let in again begins anew.
constexpr absl::Duration kRemembered = absl::Hours(24 * 7);

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteQuarantine>> SqliteQuarantine::Open(
    const std::string& path) {
  auto database = Database::Open(path, /*read_only=*/false);
  if (!database.ok()) return database.status();
  return std::unique_ptr<SqliteQuarantine>(
      new SqliteQuarantine(*std::move(database)));
}

absl::StatusOr<std::vector<QuarantinedHost>>
SqliteQuarantine::LoadQuarantine() {
  absl::MutexLock lock(&mutex_);
  std::vector<QuarantinedHost> out;
  Query query = database_->Prepare(
      "SELECT host_id, reason, since_unix_ns, until_unix_ns, refused, times"
      " FROM host_quarantine ORDER BY since_unix_ns DESC, host_id LIMIT ?1");
  query.Bind(Quarantine::kMaxHosts);
  while (true) {
    absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    if (!*row) return out;
    QuarantinedHost host;
    host.host_id = query.Text(0);
    host.reason = query.Text(1);
    host.since = absl::FromUnixNanos(query.Int(2));
    host.until = absl::FromUnixNanos(query.Int(3));
    host.refused = query.Unsigned(4);
    host.times = static_cast<int>(query.Int(5));
    out.push_back(std::move(host));
  }
}

absl::Status SqliteQuarantine::Keep(const QuarantinedHost& host) {
  absl::MutexLock lock(&mutex_);
  {
    Query insert = database_->Prepare(
        "INSERT OR REPLACE INTO host_quarantine"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    insert.Bind(host.host_id, host.reason, absl::ToUnixNanos(host.since),
                absl::ToUnixNanos(host.until), host.refused, host.times);
    if (absl::Status s = insert.Run(); !s.ok()) return s;
  }
  Query old = database_->Prepare(
      "DELETE FROM host_quarantine WHERE until_unix_ns < ?1");
  return old.Bind(absl::ToUnixNanos(host.since - kRemembered)).Run();
}

absl::Status SqliteQuarantine::Forget(const std::string& host_id) {
  absl::MutexLock lock(&mutex_);
  Query remove =
      database_->Prepare("DELETE FROM host_quarantine WHERE host_id = ?1");
  return remove.Bind(host_id).Run();
}

}  // namespace swaplock
