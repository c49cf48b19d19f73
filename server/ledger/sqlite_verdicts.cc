#include "server/ledger/sqlite_verdicts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/judge/evaluation_message.h"
#include "server/verdict/verdict_book_message.h"
#include "server/verdict/verdict_message.h"

namespace swaplock {
namespace {

// Infinite times are the ends of the range; others keep their nanoseconds.
int64_t UnixNs(absl::Time time) { return absl::ToUnixNanos(time); }

absl::Time TimeOf(int64_t unix_ns) {
  return unix_ns == INT64_MAX   ? absl::InfiniteFuture()
         : unix_ns == INT64_MIN ? absl::InfinitePast()
                                : absl::FromUnixNanos(unix_ns);
}

// Calls `use` for every row that `query` has.
template <typename Use>
absl::Status ForEachRow(Query* query, Use use) {
  while (true) {
    absl::StatusOr<bool> row = query->Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    if (absl::Status s = use(*query); !s.ok()) return s;
  }
}

absl::Status WriteEvaluation(Database* database, const Evaluation& evaluation) {
  const std::string bytes = ToProto(evaluation).SerializeAsString();
  Query insert = database->Prepare(
      "INSERT OR REPLACE INTO verdict_evaluations"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  return insert
      .Bind(evaluation.id, evaluation.input.pair.base,
            evaluation.input.pair.newer, evaluation.last_day,
            UnixNs(evaluation.judged), Blob{bytes})
      .Run();
}

absl::Status WriteVerdict(Database* database, const StoredVerdict& v,
                          bool new_version) {
  Query upsert = database->Prepare(
      "INSERT OR REPLACE INTO verdicts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
      " ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)");
  upsert.Bind(v.id, v.record.kernel_base, v.record.kernel_new,
              v.record.subsystem, v.record.operation, Name(v.record.outcome),
              v.version, UnixNs(v.first_judged), UnixNs(v.since),
              UnixNs(v.judged), v.last_day, v.went_away, v.incident,
              v.mark.state, v.mark.by, v.mark.reason, UnixNs(v.mark.at),
              UnixNs(v.mark.until));
  if (absl::Status s = upsert.Run(); !s.ok() || !new_version) return s;
  const std::string record = Serialize(v.record);
  Query insert = database->Prepare(
      "INSERT OR REPLACE INTO verdict_versions VALUES (?1, ?2, ?3, ?4)");
  return insert.Bind(v.id, v.version, v.evaluation, Blob{record}).Run();
}

absl::Status WriteIncident(Database* database, const Incident& incident) {
  Query upsert = database->Prepare(
      "INSERT OR REPLACE INTO verdict_incidents VALUES (?1, ?2, ?3, ?4, ?5,"
      " ?6)");
  return upsert
      .Bind(incident.id, incident.pair.base, incident.pair.newer,
            UnixNs(incident.opened), UnixNs(incident.closed), incident.sentence)
      .Run();
}

absl::Status WriteAll(Database* database, const VerdictChanges& changes) {
  if (changes.evaluation.has_value()) {
    absl::Status s = WriteEvaluation(database, *changes.evaluation);
    if (!s.ok()) return s;
  }
  for (const StoredVerdict& verdict : changes.verdicts) {
    absl::Status s = WriteVerdict(database, verdict,
                                  changes.new_versions.count(verdict.id) > 0);
    if (!s.ok()) return s;
  }
  for (const Incident& incident : changes.incidents) {
    if (absl::Status s = WriteIncident(database, incident); !s.ok()) return s;
  }
  if (!changes.self_test.has_value()) return absl::OkStatus();
  const std::string bytes = ToProto(*changes.self_test).SerializeAsString();
  Query insert = database->Prepare(
      "INSERT OR REPLACE INTO verdict_self_tests VALUES (?1, ?2)");
  return insert.Bind(changes.self_test->last_day, Blob{bytes}).Run();
}

// What its evaluation says of a version.
void SetEvaluation(const Evaluation& evaluation, StoredVerdict* verdict) {
  verdict->engine = evaluation.engine;
  verdict->first_day = evaluation.first_day;
  verdict->last_day = evaluation.last_day;
}

absl::Status LoadBook(Database* database, StoredBook* out) {
  Query verdicts = database->Prepare(
      "SELECT v.id, v.version, v.first_judged_unix_ns, v.since_unix_ns,"
      " v.judged_unix_ns, v.went_away, v.incident, v.state, v.state_by,"
      " v.state_reason, v.state_unix_ns, v.state_until_unix_ns,"
      " n.evaluation_id, n.record, e.evaluation"
      " FROM verdicts AS v JOIN verdict_versions AS n"
      "  ON n.verdict_id = v.id AND n.version = v.version"
      " JOIN verdict_evaluations AS e ON e.id = n.evaluation_id");
  absl::Status s = ForEachRow(&verdicts, [&](const Query& row) {
    StoredVerdict v;
    v.id = row.Unsigned(0);
    v.version = row.Unsigned(1);
    v.first_judged = TimeOf(row.Int(2));
    v.since = TimeOf(row.Int(3));
    v.judged = TimeOf(row.Int(4));
    v.went_away = row.Text(5);
    v.incident = row.Unsigned(6);
    v.mark.state = static_cast<VerdictState>(row.Int(7));
    v.mark.by = row.Text(8);
    v.mark.reason = row.Text(9);
    v.mark.at = TimeOf(row.Int(10));
    v.mark.until = TimeOf(row.Int(11));
    v.evaluation = row.Unsigned(12);
    absl::StatusOr<VerdictRecord> record = ParseVerdictRecord(row.Text(13));
    if (!record.ok()) return record.status();
    v.record = *std::move(record);
    const absl::StatusOr<Evaluation> evaluation = ParseEvaluation(row.Text(14));
    if (!evaluation.ok()) return evaluation.status();
    SetEvaluation(*evaluation, &v);
    out->book.judged = std::max(out->book.judged, v.judged);
    out->book.verdicts.push_back(std::move(v));
    return absl::OkStatus();
  });
  if (!s.ok()) return s;
  Query incidents = database->Prepare("SELECT * FROM verdict_incidents");
  s = ForEachRow(&incidents, [&](const Query& row) {
    Incident incident;
    incident.id = row.Unsigned(0);
    incident.pair = {row.Text(1), row.Text(2)};
    incident.opened = TimeOf(row.Int(3));
    incident.closed = TimeOf(row.Int(4));
    incident.sentence = row.Text(5);
    out->book.incidents.push_back(std::move(incident));
    return absl::OkStatus();
  });
  if (!s.ok()) return s;
  Query self_test = database->Prepare(
      "SELECT report FROM verdict_self_tests ORDER BY last_day DESC LIMIT 1");
  out->book.self_test.made = absl::InfinitePast();
  s = ForEachRow(&self_test, [&](const Query& row) {
    v1::SelfTestReport message;
    if (!message.ParseFromString(row.Text(0))) {
      return absl::DataLossError("a stored self-test cannot be read");
    }
    absl::StatusOr<SelfTestReport> report = FromProto(message);
    if (!report.ok()) return report.status();
    out->book.self_test = *std::move(report);
    return absl::OkStatus();
  });
  if (!s.ok()) return s;
  Query evaluations = database->Prepare(
      "SELECT max(id), evaluation FROM verdict_evaluations"
      " GROUP BY kernel_base, kernel_new");
  return ForEachRow(&evaluations, [&](const Query& row) {
    absl::StatusOr<Evaluation> evaluation = ParseEvaluation(row.Text(1));
    if (!evaluation.ok()) return evaluation.status();
    out->last_evaluation = std::max(out->last_evaluation, row.Unsigned(0));
    out->evaluations.push_back(*std::move(evaluation));
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteVerdicts>> SqliteVerdicts::Open(
    const std::string& path) {
  auto database = Database::Open(path, /*read_only=*/false);
  if (!database.ok()) return database.status();
  absl::Status s = (*database)->Execute("PRAGMA synchronous = FULL");
  if (!s.ok()) return s;
  return std::unique_ptr<SqliteVerdicts>(
      new SqliteVerdicts(*std::move(database)));
}

absl::StatusOr<StoredBook> SqliteVerdicts::LoadVerdicts() {
  absl::MutexLock lock(&mutex_);
  StoredBook out;
  if (absl::Status s = database_->Execute("BEGIN"); !s.ok()) return s;
  const absl::Status s = LoadBook(database_.get(), &out);
  database_->Execute("COMMIT").IgnoreError();
  if (!s.ok()) return s;
  return out;
}

absl::Status SqliteVerdicts::Write(const VerdictChanges& changes) {
  absl::MutexLock lock(&mutex_);
  absl::Status s = database_->Execute("BEGIN IMMEDIATE");
  if (!s.ok()) return s;
  s = WriteAll(database_.get(), changes);
  if (s.ok()) s = database_->Execute("COMMIT");
  if (!s.ok()) database_->Execute("ROLLBACK").IgnoreError();
  return s;
}

absl::StatusOr<std::vector<StoredVerdict>> SqliteVerdicts::Versions(
    uint64_t id) {
  absl::MutexLock lock(&mutex_);
  Query query = database_->Prepare(
      "SELECT n.version, n.evaluation_id, n.record, e.evaluation"
      " FROM verdict_versions AS n JOIN verdict_evaluations AS e"
      "  ON e.id = n.evaluation_id"
      " WHERE n.verdict_id = ?1 ORDER BY n.version DESC");
  query.Bind(id);
  std::vector<StoredVerdict> out;
  const absl::Status s = ForEachRow(&query, [&](const Query& row) {
    StoredVerdict v;
    v.id = id;
    v.version = row.Unsigned(0);
    v.evaluation = row.Unsigned(1);
    absl::StatusOr<VerdictRecord> record = ParseVerdictRecord(row.Text(2));
    if (!record.ok()) return record.status();
    v.record = *std::move(record);
    const absl::StatusOr<Evaluation> evaluation = ParseEvaluation(row.Text(3));
    if (!evaluation.ok()) return evaluation.status();
    SetEvaluation(*evaluation, &v);
    v.judged = evaluation->judged;
    out.push_back(std::move(v));
    return absl::OkStatus();
  });
  if (!s.ok()) return s;
  return out;
}

absl::StatusOr<Evaluation> SqliteVerdicts::EvaluationOf(uint64_t id) {
  absl::MutexLock lock(&mutex_);
  Query query = database_->Prepare(
      "SELECT evaluation FROM verdict_evaluations WHERE id = ?1");
  absl::StatusOr<bool> row = query.Bind(id).Step();
  if (!row.ok()) return row.status();
  if (!*row) {
    return absl::NotFoundError(absl::StrCat("no evaluation ", id, " is kept"));
  }
  return ParseEvaluation(query.Text(0));
}

}  // namespace swaplock
