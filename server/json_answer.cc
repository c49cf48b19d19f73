#include "server/json_answer.h"

#include <google/protobuf/util/json_util.h>

namespace swaplock {

std::string JsonAnswer(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string out;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &out, options);
  // Messages made here always have a JSON form.
  return status.ok() ? out : "{}";
}

}  // namespace swaplock
