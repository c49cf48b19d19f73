// Operations, waits and holds as tables, a line per series.
#ifndef SWAPLOCK_SERVER_WEB_CELL_TABLES_H_
#define SWAPLOCK_SERVER_WEB_CELL_TABLES_H_

#include <string>

#include "server/web/page_text.h"

namespace swaplock {

// Whole operations; empty where no host measures them.
std::string OperationsHtml(const AllSeries& all);
std::string WaitsHtml(const AllSeries& all);
std::string HoldsHtml(const AllSeries& all);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_CELL_TABLES_H_
