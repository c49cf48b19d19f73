// Prints docs/LOCKS.md. The argument is the folder of the symbol lists.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "agent/capture/locks_document.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: locks_document FOLDER\n";
    return 2;
  }
  std::vector<std::pair<std::string, swaplock::KernelSymbols>> kernels;
  for (const auto& [name, list] : swaplock::RecordedKernels()) {
    const std::string path = std::string(argv[1]) + "/" + list + ".symbols";
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    const auto symbols = swaplock::ParseKernelSymbols(text.str());
    if (!in || !symbols.ok()) {
      std::cerr << "locks_document: cannot read " << path << "\n";
      return 1;
    }
    kernels.emplace_back(name, *symbols);
  }
  std::cout << swaplock::LocksDocument(kernels);
  return 0;
}
