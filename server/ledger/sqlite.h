// One SQLite connection and its prepared statements, in Status and RAII.
//
// Integers are 64 bits; unsigned ones are stored by their bits. A Database and
// its statements belong to one thread at a time.
#ifndef SWAPLOCK_SERVER_LEDGER_SQLITE_H_
#define SWAPLOCK_SERVER_LEDGER_SQLITE_H_

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace swaplock {

// Bytes rather than text.
struct Blob {
  absl::string_view bytes;
};

// A statement while it runs: bind all parameters by Bind(), then Step() until
// it returns false. Resets itself at the end of its life.
class Query {
 public:
  Query(sqlite3* database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  // Binds the parameters ?1, ?2 ... in order. Text and blobs are copied.
  template <typename... Values>
  Query& Bind(const Values&... values) {
    (BindNext(values), ...);
    return *this;
  }

  // Whether there is a row to read; an error otherwise carries SQLite's words.
  absl::StatusOr<bool> Step();
  // For statements without rows.
  absl::Status Run() { return Step().status(); }

  int64_t Int(int column) const {
    return sqlite3_column_int64(statement_, column);
  }
  uint64_t Unsigned(int column) const {
    return static_cast<uint64_t>(Int(column));
  }
  bool IsNull(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  std::string Text(int column) const;

 private:
  void BindNext(absl::string_view text);
  void BindNext(const Blob& blob);
  void BindNext(const std::string& text) { BindNext(absl::string_view(text)); }
  void BindNext(const std::optional<uint64_t>& value);
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T> ||
                                                    std::is_enum_v<T>>>
  void BindNext(T value) {
    Note(sqlite3_bind_int64(statement_, ++bound_, static_cast<int64_t>(value)));
  }
  void Note(int code) {
    if (error_ == SQLITE_OK) error_ = code;
  }

  sqlite3* database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
  int error_ = SQLITE_OK;  // of the first Bind that failed
};

class Database {
 public:
  // Opens or creates the file; `read_only` needs it to be there.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path,
                                                        bool read_only);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs one or several statements without rows.
  absl::Status Execute(const std::string& sql);

  // The statement of `sql`, prepared on first use and kept. An error in the SQL
  // itself shows at the first Step.
  Query Prepare(const char* sql);

 private:
  explicit Database(sqlite3* database) : database_(database) {}
  sqlite3* database_;
  std::map<std::string, sqlite3_stmt*> statements_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_SQLITE_H_
