"""BPF objects and their libbpf skeletons."""

_CLANG = "clang"
_BPFTOOL = "/usr/sbin/bpftool"

def bpf_skeleton(name, src, hdrs = [], visibility = None):
    """Compiles `src` for BPF and makes `<name>.skel.h` of it.

    The kernel's types come from a slice declared in our own headers with
    preserve_access_index, never from the building machine's kernel.

    Args:
      name: the skeleton's name: a cc_library with `<name>.skel.h`.
      src: one .bpf.c file.
      hdrs: headers it includes, by their path from the workspace's root.
      visibility: as everywhere.
    """
    arch = select({
        "@platforms//cpu:x86_64": "x86",
        "@platforms//cpu:aarch64": "arm64",
    })
    native.genrule(
        name = name + "_object",
        srcs = [src] + hdrs,
        outs = [name + ".bpf.o"],
        cmd = _CLANG + " -target bpf -mcpu=v3 -g -O2 -Wall -Werror" +
              " -Wno-missing-declarations -I. -I/usr/include/" +
              "$$(uname -m)-linux-gnu -D__TARGET_ARCH_" + arch +
              " -c $(location " + src + ") -o $@",
    )
    native.genrule(
        name = name + "_skeleton",
        srcs = [name + ".bpf.o"],
        outs = [name + ".skel.h"],
        cmd = _BPFTOOL + " gen skeleton $(location " + name + ".bpf.o)" +
              " name " + name + " > $@",
    )
    native.cc_library(
        name = name,
        hdrs = [name + ".skel.h"],
        visibility = visibility,
        deps = ["@system//:bpf"],
    )
