#include "cli/report/plain_record.h"

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/plain_text.h"
#include "common/run.h"
#include "common/window.h"

namespace swaplock {
namespace {

void Name(std::string* text) { *text = PlainText(*text, kLongestName); }
void Sentence(std::string* text) { *text = PlainText(*text, kLongestSentence); }
void Identity(std::string* text) { *text = PlainText(*text); }

void Names(std::vector<std::string>* texts) {
  for (std::string& text : *texts) Name(&text);
}

void Sentences(std::vector<std::string>* texts) {
  for (std::string& text : *texts) Sentence(&text);
}

// Of names that become the same, the first in order stays.
template <typename Value, typename MakeValuePlain>
void Map(std::map<std::string, Value>* map, const MakeValuePlain& make_plain) {
  std::map<std::string, Value> out;
  for (auto& [name, value] : *map) {
    make_plain(&value);
    out.emplace(PlainText(name, kLongestName), std::move(value));
  }
  *map = std::move(out);
}

void Texts(Environment* environment) {
  for (std::string* text :
       {&environment->kernel_release, &environment->kernel_build_id,
        &environment->architecture, &environment->preempt,
        &environment->agent_version, &environment->swap_backend}) {
    Name(text);
  }
  Sentence(&environment->kernel_version);
  Map(&environment->labels, Sentence);
}

void Actors(std::vector<Actor>* actors) {
  for (Actor& actor : *actors) Name(&actor.comm);
}

void Holds(std::vector<Hold>* holds) {
  for (Hold& hold : *holds) {
    Name(&hold.comm);
    Actors(&hold.preemptors);
    Actors(&hold.waiters);
    Sentence(&hold.cgroup);
    Names(&hold.release_stack);
    Names(&hold.switch_stack);
  }
}

void Make(Window* window) {
  Identity(&window->key.host_id);
  Texts(&window->environment);
  for (Cell& cell : window->cells) {
    Name(&cell.key.device);
    Name(&cell.key.algorithm);
  }
  Holds(&window->top_holds);
  Holds(&window->holds_in_progress);
  for (Probe& probe : window->coverage.probes) {
    Name(&probe.name);
    Sentence(&probe.reason);
  }
  Sentences(&window->coverage.not_measured);
  const auto leave = [](uint64_t* /*number*/) {};
  Map(&window->context.counters, leave);
  Map(&window->context.gauges, leave);
  Map(&window->context.facts, Sentence);
}

void Make(RunBegin* begin) {
  Identity(&begin->id);
  Identity(&begin->host_id);
  Name(&begin->name);
  Name(&begin->variant);
  Sentences(&begin->command);
  Map(&begin->labels, Sentence);
  Texts(&begin->environment);
}

void Make(RunEnd* end) {
  Identity(&end->run_id);
  Sentence(&end->error);
  for (Measurement& measurement : end->result.measurements) {
    Name(&measurement.name);
  }
  Map(&end->result.facts, Sentence);
}

}  // namespace

void MakePlain(Record* record) {
  std::visit([](auto& what) { Make(&what); }, *record);
}

}  // namespace swaplock
