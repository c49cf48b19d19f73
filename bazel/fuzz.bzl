"""Fuzz targets: one source for libFuzzer and for a short run in every test."""

load("//bazel:cc.bzl", "swaplock_cc_binary", "swaplock_cc_test")

def fuzz_target(name, src, corpus, deps):
    """`src` defines LLVMFuzzerTestOneInput.

    NAME is the fuzzer: manual, built by tools/fuzz.sh with clang. NAME_corpus_test
    runs the corpus and some thousand variations of it, the same each time.
    """
    swaplock_cc_binary(
        name = name,
        testonly = True,
        srcs = [src],
        deps = deps,
        tags = ["manual"],
    )
    swaplock_cc_test(
        name = name + "_corpus_test",
        srcs = [src],
        data = corpus,
        args = ["$(location %s)" % file for file in corpus],
        deps = deps + ["//tests/fuzz:corpus_run"],
    )
