// Answers as JSON: field names as in the .proto, all fields present,
// enumerations by name.
#ifndef SWAPLOCK_SERVER_JSON_ANSWER_H_
#define SWAPLOCK_SERVER_JSON_ANSWER_H_

#include <google/protobuf/message.h>

#include <string>

namespace swaplock {

std::string JsonAnswer(const google::protobuf::Message& message);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_JSON_ANSWER_H_
