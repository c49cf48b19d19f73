"""Compiler options for our own code; packaged headers are left alone."""

SWAPLOCK_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wimplicit-fallthrough",
]
