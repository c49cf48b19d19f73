#include "tests/load/scenario_file.h"

#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "tests/load/scenario.pb.h"

namespace swaplock {
namespace {

// Keeps the first error.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!error_.empty()) return;
    error_ = absl::StrFormat("line %d, column %d: %s", line + 1, column + 1,
                             message);
  }

  const std::string& error() const { return error_; }

 private:
  std::string error_;
};

// Takes the fields of one message into a Scenario, and says what is out of
// range.
class Taker {
 public:
  explicit Taker(const load::Scenario& message) : message_(message) {}

  absl::StatusOr<Scenario> Run() {
    constexpr double kAny = std::numeric_limits<double>::max();
    scenario_.name = message_.name();
    if (scenario_.name.empty()) {
      return absl::InvalidArgumentError("a scenario has no name");
    }
    Take("hosts_per_arm", message_.has_hosts_per_arm(),
         message_.hosts_per_arm(), 1, 100'000, &scenario_.hosts_per_arm);
    Take("waves", message_.has_waves(), message_.waves(), 1, 52,
         &scenario_.waves);
    Take("operations", message_.has_operations(), message_.operations(), 1, 4,
         &scenario_.operations);
    Take("ratio", message_.has_ratio(), message_.ratio(), 1e-6, 1e6,
         &scenario_.ratio);
    Take("mean_events", message_.has_mean_events(), message_.mean_events(), 0,
         1e6, &scenario_.mean_events);
    Take("exposure", message_.has_exposure(), message_.exposure(), 1e-3, 1e3,
         &scenario_.exposure);
    Take("noise", message_.has_noise(), message_.noise(), 0, 10,
         &scenario_.noise);
    Take("burst_shape", message_.has_burst_shape(), message_.burst_shape(),
         1e-3, kAny, &scenario_.burst_shape);
    Take("worst_rate", message_.has_worst_rate(), message_.worst_rate(), 1e-9,
         1, &scenario_.worst_rate);
    Take("calendar_sd", message_.has_calendar_sd(), message_.calendar_sd(), 0,
         10, &scenario_.calendar_sd);
    Take("class_b_treated", message_.has_class_b_treated(),
         message_.class_b_treated(), 0, 1, &scenario_.class_b_treated);
    Take("class_b_controls", message_.has_class_b_controls(),
         message_.class_b_controls(), 0, 1, &scenario_.class_b_controls);
    Take("fresh_boot", message_.has_fresh_boot(), message_.fresh_boot(), 1e-6,
         1e6, &scenario_.fresh_boot);
    Take("controls_not_rebooted", message_.has_controls_not_rebooted(),
         message_.controls_not_rebooted(), 0, 1,
         &scenario_.controls_not_rebooted);
    Take("crazy_host", message_.has_crazy_host(), message_.crazy_host(), 1e-6,
         1e9, &scenario_.crazy_host);
    Take("attrition", message_.has_attrition(), message_.attrition(), 0, 1,
         &scenario_.attrition);
    Take("worst_first", message_.has_worst_first(), message_.worst_first(),
         0.01, 1, &scenario_.worst_first);
    Take("workload_changed", message_.has_workload_changed(),
         message_.workload_changed(), 0, 1, &scenario_.workload_changed);
    Take("lost_events", message_.has_lost_events(), message_.lost_events(), 0,
         1, &scenario_.lost_events);
    if (scenario_.worst_first > 0 &&
        (scenario_.ratio != 1 || scenario_.exposure != 1 ||
         scenario_.crazy_host != 1 || scenario_.class_b_treated > 0 ||
         scenario_.class_b_controls > 0 || scenario_.workload_changed > 0 ||
         scenario_.controls_not_rebooted > 0 || scenario_.lost_events > 0)) {
      Fail(
          "worst_first goes only with scenarios in which upgrades change "
          "nothing");
    }
    if (!error_.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("scenario \"", scenario_.name, "\": ", error_));
    }
    return scenario_;
  }

 private:
  void Fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
  }

  template <typename Value>
  void Take(const char* field, bool there, double value, double least,
            double most, Value* out) {
    if (!there) return;
    if (!(value >= least && value <= most)) {
      Fail(absl::StrFormat("%s is %g, and may be from %g to %g", field, value,
                           least, most));
      return;
    }
    *out = static_cast<Value>(value);
  }

  const load::Scenario& message_;
  Scenario scenario_;
  std::string error_;
};

}  // namespace

absl::StatusOr<std::vector<Scenario>> ParseScenarios(absl::string_view text) {
  load::ScenarioFile file;
  FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  if (!parser.ParseFromString(std::string(text), &file)) {
    return absl::InvalidArgumentError(errors.error());
  }
  std::vector<Scenario> scenarios;
  std::set<std::string> names;
  for (const load::Scenario& message : file.scenario()) {
    absl::StatusOr<Scenario> scenario = Taker(message).Run();
    if (!scenario.ok()) return scenario.status();
    if (!names.insert(scenario->name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two scenarios are called \"", scenario->name, "\""));
    }
    scenarios.push_back(*std::move(scenario));
  }
  return scenarios;
}

absl::StatusOr<std::vector<Scenario>> ReadScenarios(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  }
  absl::StatusOr<std::vector<Scenario>> scenarios = ParseScenarios(text.str());
  if (!scenarios.ok()) {
    return absl::Status(scenarios.status().code(),
                        absl::StrCat(path, ": ", scenarios.status().message()));
  }
  return scenarios;
}

}  // namespace swaplock
