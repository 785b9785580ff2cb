#include "apps/conversation.h"

#include <gtest/gtest.h>

#include "apps/chat_prompt.h"

namespace lockstep {
namespace {

std::string roles_of(const Conversation& conversation) {
  std::string roles;
  for (const ChatMessage& message : conversation.messages()) roles += message.role[0];
  return roles;
}

TEST(Conversation, UndoTakesTheLastExchangeBack) {
  Conversation conversation("Be kind.");
  EXPECT_FALSE(conversation.undo());
  conversation.add_user("one");
  conversation.add_reply("1", "");
  conversation.add_user("two");
  conversation.add_reply("2", "hm");
  EXPECT_EQ(roles_of(conversation), "suaua");
  EXPECT_TRUE(conversation.undo());
  EXPECT_EQ(roles_of(conversation), "sua");
  conversation.add_user("three");
  EXPECT_TRUE(conversation.undo());
  EXPECT_EQ(roles_of(conversation), "sua");
  EXPECT_TRUE(conversation.undo());
  EXPECT_EQ(roles_of(conversation), "s");
}

TEST(Conversation, RegenNumbersTheRepliesToOneMessage) {
  Conversation conversation({});
  EXPECT_FALSE(conversation.take_back_reply());
  conversation.add_user("one");
  EXPECT_FALSE(conversation.take_back_reply());
  conversation.add_reply("1", "");
  EXPECT_EQ(conversation.reply_index(), 0u);
  EXPECT_TRUE(conversation.take_back_reply());
  EXPECT_EQ(roles_of(conversation), "u");
  EXPECT_EQ(conversation.reply_index(), 1u);
  conversation.add_reply("1b", "");
  conversation.add_user("two");
  EXPECT_EQ(conversation.reply_index(), 0u);
}

TEST(Conversation, ResetKeepsTheSystemMessage) {
  Conversation with("Be kind."), without({});
  for (Conversation* conversation : {&with, &without}) {
    conversation->add_user("one");
    conversation->add_reply("1", "");
    conversation->reset();
  }
  EXPECT_EQ(roles_of(with), "s");
  EXPECT_EQ(roles_of(without), "");
}

TEST(Conversation, IsSavedAsChatMessages) {
  Conversation conversation("S");
  conversation.add_user("q\n");
  conversation.add_reply("a", "t");
  EXPECT_EQ(dump_messages(conversation.messages()),
            "[\n  {\n    \"role\": \"system\",\n    \"content\": \"S\"\n  },\n"
            "  {\n    \"role\": \"user\",\n    \"content\": \"q\\n\"\n  },\n"
            "  {\n    \"role\": \"assistant\",\n    \"content\": \"a\",\n"
            "    \"reasoning_content\": \"t\"\n  }\n]");
}

}  // namespace
}  // namespace lockstep
