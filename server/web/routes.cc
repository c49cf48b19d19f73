#include "server/web/routes.h"

#include <utility>

#include "server/web/assets.h"
#include "server/web/html.h"
#include "server/web/http_query.h"
#include "server/web/pages.h"
#include "server/web/verdict_pages.h"

namespace swaplock {
namespace {

// A page may change with every window; a file only with the program.
constexpr absl::Duration kFileAge = absl::Minutes(10);

HttpReply Html(std::string body) {
  if (body.empty()) {
    return {404, "text/plain; charset=utf-8",
            "no such host, hold or verdict: it may be gone by now\n"};
  }
  return {200, "text/html; charset=utf-8", std::move(body)};
}

HttpServer::Page File(const char* name, const char* type) {
  return [name, type](const PageQuery&) {
    HttpReply reply = {200, type, std::string(EmbeddedFile(name))};
    reply.max_age = kFileAge;
    return reply;
  };
}

}  // namespace

std::map<std::string, HttpServer::Page> PagesOf(
    const Fleet* fleet, const VerdictDesk* verdicts,
    std::function<absl::Time()> now) {
  std::map<std::string, HttpServer::Page> pages;
  const auto add = [&](const char* path, auto page) {
    pages[path] = [fleet, now, page](const PageQuery& query) {
      const FleetSnapshot snapshot = fleet->Snapshot();
      std::string body = page(snapshot, now(), query);
      if (!snapshot.replay.empty()) {
        body = WithNotice(std::move(body), snapshot.replay);
      }
      return Html(std::move(body));
    };
  };
  using S = FleetSnapshot;
  using Q = PageQuery;
  add("/", [verdicts](const S& s, absl::Time t, const Q&) {
    return FleetPage(s, *verdicts->Book(), t);
  });
  add("/verdicts", [verdicts](const S&, absl::Time t, const Q&) {
    return RenderVerdictsPage(*verdicts->Book(), t);
  });
  add("/verdict", [verdicts](const S& s, absl::Time t, const Q& q) {
    return RenderVerdictPage(*verdicts->Book(), s, ValueOf(q, "id"), t);
  });
  add("/holds",
      [](const S& s, absl::Time t, const Q&) { return HoldsPage(s, t); });
  add("/coverage",
      [](const S& s, absl::Time t, const Q&) { return CoveragePage(s, t); });
  add("/pipeline",
      [](const S& s, absl::Time t, const Q&) { return PipelinePage(s, t); });
  add("/kernels", KernelsPage);
  add("/hold", HoldPage);
  add("/host", [](const S& s, absl::Time t, const Q& q) {
    return HostPage(s, t, ValueOf(q, "id"));
  });
  pages["/assets/charts.js"] =
      File("charts.js", "text/javascript; charset=utf-8");
  pages["/assets/charts.licenses.txt"] =
      File("charts.licenses.txt", "text/plain; charset=utf-8");
  pages["/assets/page.css"] = File("page.css", "text/css; charset=utf-8");
  return pages;
}

}  // namespace swaplock
