#include "server/metrics/otlp_exporter.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/log.h"
#include "common/plain_text.h"
#include "proto/otlp.grpc.pb.h"

namespace swaplock {
namespace {

constexpr std::chrono::seconds kPatience(10);

}  // namespace

absl::Status CheckOtlp(const OtlpOptions& options) {
  if (options.endpoint.empty()) return absl::OkStatus();
  if (options.interval < absl::Seconds(1)) {
    return absl::InvalidArgumentError("--otlp_interval is at least 1s");
  }
  if (options.identity.tls.ca.empty() && !IsLoopbackServer(options.endpoint)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--otlp_endpoint=", options.endpoint,
        " is another machine, which takes --otlp_tls_ca: nothing is sent in "
        "plaintext"));
  }
  return CheckIdentity(options.identity, options.endpoint);
}

OtlpExporter::OtlpExporter(OtlpOptions options, Collect collect)
    : options_(std::move(options)),
      collect_(std::move(collect)),
      source_({options_.instance, absl::Now()}) {
  thread_ = std::thread([this] { Run(); });
}

OtlpExporter::~OtlpExporter() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void OtlpExporter::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&stopping_),
                                  options_.interval)) {
        return;
      }
    }
    if (absl::Status s = Export(); !s.ok()) {
      static LogSite site(absl::Minutes(10));
      site.Log(LogLevel::kWarning,
               absl::StrCat("otlp: ", options_.endpoint, ": ",
                            PlainText(s.message(), 400)));
    }
  }
}

absl::Status OtlpExporter::Export() {
  absl::Status status = Send();
  ++(status.ok() ? succeeded_ : failed_);
  return status;
}

absl::Status OtlpExporter::Send() {
  grpc::ChannelArguments arguments;
  const auto credentials = MakeCredentials(options_.identity, &arguments);
  if (!credentials.ok()) return credentials.status();
  const auto stub = otlp::MetricsService::NewStub(
      grpc::CreateCustomChannel(options_.endpoint, *credentials, arguments));
  const auto deadline = std::chrono::system_clock::now() + kPatience;
  for (const otlp::ExportMetricsServiceRequest& request :
       OtlpRequests(collect_(), source_, absl::Now())) {
    grpc::ClientContext context;
    context.set_deadline(deadline);
    otlp::ExportMetricsServiceResponse response;
    const grpc::Status status = stub->Export(&context, request, &response);
    if (!status.ok()) {
      return {static_cast<absl::StatusCode>(status.error_code()),
              status.error_message()};
    }
    const auto& partial = response.partial_success();
    if (partial.rejected_data_points() > 0) {
      return absl::UnavailableError(
          absl::StrCat(partial.rejected_data_points(),
                       " data points were refused: ", partial.error_message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace swaplock
