"""Compiler options for our own code; packaged headers are left alone."""

SWAPLOCK_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wimplicit-fallthrough",
    # GCC 12 with -O2 sees overlaps in std::string that are not there (GCC bug
    # 105651).
    "-Wno-restrict",
]
