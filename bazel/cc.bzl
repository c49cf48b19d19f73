"""C++ rules with the project's warnings. Use these, not the native ones."""

load("//bazel:copts.bzl", "SWAPLOCK_COPTS")

def swaplock_cc_library(name, copts = [], **kwargs):
    native.cc_library(name = name, copts = SWAPLOCK_COPTS + copts, **kwargs)

def swaplock_cc_binary(name, copts = [], **kwargs):
    native.cc_binary(name = name, copts = SWAPLOCK_COPTS + copts, **kwargs)

def swaplock_cc_test(name, copts = [], deps = [], size = "small", **kwargs):
    native.cc_test(
        name = name,
        size = size,
        copts = SWAPLOCK_COPTS + copts,
        deps = deps + [
            "//bazel:tsan_suppressions",
            "@system//:gtest_main",
        ],
        **kwargs
    )
