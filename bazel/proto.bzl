"""Protocol buffers with the distribution's protoc and gRPC plug-in."""

def cc_proto(name, src, deps = [], grpc = False, visibility = None):
    """One .proto file as a cc_library.

    Args:
      name: the library's name.
      src: the .proto file; its imports are given from the workspace's root.
      deps: cc_proto libraries of the files it imports.
      grpc: whether the file defines services.
      visibility: as everywhere.
    """
    stem = src[:-len(".proto")]
    outs = [stem + ".pb.h", stem + ".pb.cc"]
    command = "/usr/bin/protoc -I. -I$(GENDIR) --cpp_out=$(GENDIR)"
    if grpc:
        outs += [stem + ".grpc.pb.h", stem + ".grpc.pb.cc"]
        command += " --plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin"
        command += " --grpc_out=$(GENDIR)"
    native.filegroup(
        name = name + "_src",
        srcs = [src] + [d + "_src" for d in deps],
    )
    native.genrule(
        name = name + "_gen",
        srcs = [src] + [d + "_src" for d in deps],
        outs = outs,
        cmd = command + " $(location " + src + ")",
    )
    native.cc_library(
        name = name,
        srcs = [o for o in outs if o.endswith(".cc")],
        hdrs = [o for o in outs if o.endswith(".h")],
        visibility = visibility,
        deps = deps + ["@system//:grpc" if grpc else "@system//:protobuf"],
    )
