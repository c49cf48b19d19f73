// What one verdict rests on, as tables of plain text: the same ones for a
// terminal and for a page. Text is as the fleet gave it; who shows it makes it
// harmless for the place.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_EVIDENCE_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_EVIDENCE_H_

#include <string>
#include <vector>

#include "server/verdict/verdict_book.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

struct EvidenceColumn {
  std::string title;
  bool number = false;  // to the right
};

struct EvidenceTable {
  std::string title;
  std::vector<EvidenceColumn> columns;
  std::vector<std::vector<std::string>> rows;  // may be none beside notes
  std::vector<std::string> notes;              // sentences
};

// From the one that matters most; what there is nothing for is left out.
std::vector<EvidenceTable> EvidenceOf(const VerdictRecord& record);
// With its life in the first of them.
std::vector<EvidenceTable> EvidenceOf(const StoredVerdict& verdict);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_EVIDENCE_H_
