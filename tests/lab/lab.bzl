"""Tests that boot real kernels."""

def capture_test(name, kernel, workload, preempt = "-", tier = "all", expect = []):
    """Measures a workload on a kernel in a VM; see capture_test.sh.

    Args:
      name: the test's name.
      kernel: version prefix of the kernel.
      workload: "zram" or "zswap".
      preempt: preemption mode, "-" for the kernel's own.
      tier: "all" or "tracepoints".
      expect: what must be true of the result.
    """
    native.sh_test(
        name = name,
        size = "large",
        timeout = "long",
        srcs = ["capture_test.sh"],
        args = [kernel, preempt, workload, tier] + expect,
        data = [
            ":lab_files",
            ":hold_oracle_main",
            ":zswap_pageout",
            "//agent:kernel_symbols_main",
            "//agent:swaplock-agent",
            "//server:swaplock-server",
        ],
        # The guest mounts this machine's root, so no sandbox; the cache of
        # kernels lies in the home folder.
        tags = [
            "exclusive",
            "lab",
            "local",
            "no-sandbox",
        ],
    )
