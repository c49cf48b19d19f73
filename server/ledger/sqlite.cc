#include "server/ledger/sqlite.h"

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

// What SQLite says, by whether trying again later can help.
absl::Status StatusOf(sqlite3* database, int code, absl::string_view tried) {
  const std::string text = absl::StrCat(
      tried, ": ",
      database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code));
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
      return absl::UnavailableError(text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(text);
    default:
      return absl::InternalError(text);
  }
}

}  // namespace

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Query::BindNext(absl::string_view text) {
  Note(sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(),
                           SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Query::BindNext(const Blob& blob) {
  Note(sqlite3_bind_blob64(statement_, ++bound_, blob.bytes.data(),
                           blob.bytes.size(), SQLITE_TRANSIENT));
}

void Query::BindNext(const std::optional<uint64_t>& value) {
  if (value.has_value()) {
    BindNext(*value);
  } else {
    Note(sqlite3_bind_null(statement_, ++bound_));
  }
}

absl::StatusOr<bool> Query::Step() {
  if (statement_ == nullptr) {
    return StatusOf(database_, sqlite3_errcode(database_), "prepare statement");
  }
  if (error_ != SQLITE_OK) {
    return StatusOf(database_, error_,
                    absl::StrCat("bind ", sqlite3_sql(statement_)));
  }
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return StatusOf(database_, code, sqlite3_sql(statement_));
}

std::string Query::Text(int column) const {
  const auto* bytes =
      static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string()
                          : std::string(bytes, static_cast<size_t>(size));
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, bool read_only) {
  sqlite3* raw = nullptr;
  const int flags = read_only ? SQLITE_OPEN_READONLY
                              : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code =
      sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(raw));
  if (code != SQLITE_OK) {
    return StatusOf(raw, code, absl::StrCat("open ", path));
  }
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, 5000);
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(database_);
}

absl::Status Database::Execute(const std::string& sql) {
  const int code =
      sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return absl::OkStatus();
  return StatusOf(database_, code, sql.substr(0, 60));
}

Query Database::Prepare(const char* sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement == nullptr) {
    sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT,
                       &statement, nullptr);
  }
  return Query(database_, statement);
}

}  // namespace swaplock
