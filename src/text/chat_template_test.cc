#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = LOCKSTEP_SOURCE_DIR "/models";

json::array messages(std::string_view text) {
  return parse_json(text, "messages").value().as_array();
}

// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "chat_template_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  void write(const char* name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string render(const fs::path& folder, const ChatInput& input = {}) {
  const auto loaded = load_chat_template(folder);
  if (!loaded.ok()) return "error: " + loaded.error().message;
  const auto text = loaded.value().render(input);
  return text.ok() ? text.value() : "error: " + text.error().message;
}

TEST(ChatTemplate, EmbeddedTemplateFollowsThinkingAndHistory) {
  const fs::path folder = kModels / "tiny-dense-mlx-4bit";
  ChatInput input;
  input.messages = messages(R"([{"role":"user","content":"Hi"}])");
  const std::string head = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n";
  EXPECT_EQ(render(folder, input), head + "<think>\n");
  input.enable_thinking = true;
  EXPECT_EQ(render(folder, input), head + "<think>\n");
  input.enable_thinking = false;
  EXPECT_EQ(render(folder, input), head + "<think>\n\n</think>\n\n");
  input.add_generation_prompt = false;
  EXPECT_EQ(render(folder, input), "<|im_start|>user\nHi<|im_end|>\n");
}

TEST(ChatTemplate, AHundredMessagesTakeFewMilliseconds) {
  const auto loaded = load_chat_template(kModels / "tiny-dense-mlx-4bit");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  ChatInput input;
  const std::string text(2000, 'x');
  for (int i = 0; i < 50; ++i) {
    input.messages.push_back(json::object{{"role", "user"}, {"content", text}});
    input.messages.push_back(json::object{{"role", "assistant"}, {"content", text}});
  }
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(loaded.value().render(input).ok());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  RecordProperty("microseconds", static_cast<int>(best * 1e6));
  EXPECT_LT(best, 0.1);  // ten times the goal: sanitizers and busy machines pass, too
}

TEST(ChatTemplate, VariablesReachTheTemplate) {
  const auto parsed = parse_chat_template(
      "{{ bos_token }}|{{ eos_token }}|{{ tools is none }}|{{ documents is none }}|"
      "{{ enable_thinking is defined }}|{{ reasoning_effort }}|{{ more }}|{{ messages | length }}",
      "t");
  ASSERT_TRUE(parsed.ok());
  ChatTemplate with_tokens = parsed.value();
  with_tokens.set_special_tokens({{"bos_token", "<s>"}});
  EXPECT_EQ(with_tokens.render({}).value(), "<s>||True|True|False|||0");
  ChatInput input;
  input.tools = json::array();
  input.enable_thinking = false;
  input.reasoning_effort = "low";
  input.extra["more"] = 3;
  input.extra["eos_token"] = "</s>";
  EXPECT_EQ(with_tokens.render(input).value(), "<s>|</s>|False|True|True|low|3|0");
}

TEST(ChatTemplateFolder, SourcesAreTriedInOrder) {
  const Folder folder;
  EXPECT_NE(render(folder.path()).find("no chat template"), std::string::npos);
  folder.write("chat_template.json", R"({"chat_template": "from json"})");
  EXPECT_EQ(render(folder.path()), "from json");
  folder.write("tokenizer_config.json",
               R"({"eos_token": {"content": "E"}, "chat_template": null})");
  EXPECT_EQ(render(folder.path()), "from json");
  folder.write("tokenizer_config.json", R"({"eos_token": {"content": "E"}, "bos_token": null,
      "chat_template": "config {{ eos_token }} {{ bos_token is defined }}"})");
  EXPECT_EQ(render(folder.path()), "config E False");
  folder.write("chat_template.jinja", "file {{ eos_token }}");
  EXPECT_EQ(render(folder.path()), "file E");
}

TEST(ChatTemplateFolder, NamedTemplatesAreChosenByTools) {
  const Folder folder;
  folder.write("tokenizer_config.json", R"({"chat_template": [
      {"name": "default", "template": "plain"}, {"name": "tool_use", "template": "tools"}]})");
  ChatInput input;
  EXPECT_EQ(render(folder.path(), input), "plain");
  input.tools = json::array();
  EXPECT_EQ(render(folder.path(), input), "tools");
  folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "rag", "template": "x"}]})");
  EXPECT_NE(render(folder.path()).find("none is called 'default'"), std::string::npos);
}

TEST(ChatTemplateFolder, FaultsNameTheFile) {
  const Folder folder;
  folder.write("tokenizer_config.json", "{");
  EXPECT_NE(render(folder.path()).find("tokenizer_config.json"), std::string::npos);
  folder.write("tokenizer_config.json", R"({"chat_template": 3})");
  EXPECT_NE(render(folder.path()).find("must be a text"), std::string::npos);
  fs::create_directory(folder.path() / "chat_template.jinja");
  EXPECT_NE(render(folder.path()).find("not a file"), std::string::npos);
  fs::remove(folder.path() / "chat_template.jinja");
  folder.write("chat_template.jinja", "line\n{{ }}");
  EXPECT_NE(render(folder.path()).find("chat_template.jinja, line 2: "), std::string::npos);
}

}  // namespace
}  // namespace lockstep
