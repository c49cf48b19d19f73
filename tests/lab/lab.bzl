"""Tests that boot real kernels."""

def guest_test(name, script, args, data = []):
    """Boots a kernel in a VM with agents in it.

    Args:
      name: the test's name.
      script: what runs on the host.
      args: its arguments.
      data: what it needs besides the lab and the agent.
    """
    native.sh_test(
        name = name,
        size = "large",
        timeout = "long",
        srcs = [script],
        args = args,
        data = [
            ":lab_files",
            "//agent:swaplock-agent",
        ] + data,
        # The guest mounts this machine's root, so no sandbox; the cache of
        # kernels lies in the home folder.
        tags = [
            "exclusive",
            "lab",
            "local",
            "no-sandbox",
        ],
    )

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
    guest_test(
        name = name,
        script = "capture_test.sh",
        args = [kernel, preempt, workload, tier] + expect,
        data = [
            ":hold_oracle_main",
            ":zswap_pageout",
            "//agent/capture:kernel_symbols_main",
            "//server:swaplock-server",
        ],
    )
