#include "checkpoint/tensor_source.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TensorRecord record(std::string name, std::string source_name) {
  TensorRecord made;
  made.name = std::move(name);
  made.source_name = std::move(source_name);
  made.file = "model.safetensors";
  return made;
}

TEST(TensorSource, FindsEveryNameAndNoOther) {
  auto source = TensorSource::make({record("b", "x.b"), record("a", "x.a"), record("c", "x.c")});
  ASSERT_TRUE(source.ok());
  for (const char* name : {"a", "b", "c"}) {
    const TensorRecord* found = source.value().find(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->name, name);
    EXPECT_EQ(&source.value().tensors()[source.value().index_of(*found)], found);
  }
  for (const char* name : {"", "0", "aa", "d"}) EXPECT_EQ(source.value().find(name), nullptr);
}

TEST(TensorSource, RefusesTwoSpellingsOfOneName) {
  auto source = TensorSource::make({record("a", "one.a"), record("a", "two.a")});
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::kBadFile);
  EXPECT_NE(source.error().message.find("one.a"), std::string::npos);
  EXPECT_NE(source.error().message.find("two.a"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
