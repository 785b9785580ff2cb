// What --help teaches after the list of options.
#pragma once

namespace lockstep {

inline constexpr const char* kMainHelp =
    "Try it:\n"
    "  lockstep run tiny --temperature 0 \"What does \\`mount\\` do?\"\n"
    "  lockstep chat tiny\n"
    "  lockstep info ~/models/Qwen3.5-4B-MLX-4bit\n"
    "\n"
    "A MODEL is a folder as MLX or Hugging Face lay it out, a .gguf file, or an embedded one by "
    "name\n"
    "(lockstep models). The text of a reply goes to standard output, everything else to\n"
    "standard error. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no such model.\n"
    "lockstep COMMAND --help tells more about each.";

inline constexpr const char* kRunHelp =
    "Examples:\n"
    "  lockstep run tiny --temperature 0 \"What does \\`mount\\` do?\"\n"
    "  lockstep run tiny --no-think --temperature 0 \"Say hello.\" > hello.txt\n"
    "  git diff | lockstep run ~/models/m --system \"Write a commit message.\" -\n"
    "  lockstep run tiny --raw --max-tokens 20 \"Once upon a time\"\n"
    "  lockstep run tiny --json --logprobs 5 --seed 1 \"Hi\" | python3 -m json.tool\n"
    "  lockstep run tiny --batch questions.jsonl --parallel 8 > answers.jsonl\n"
    "\n"
    "A line of a batch is an object with a \"prompt\", \"messages\" or \"ids\", and, where it\n"
    "wants other than the command line says: id, system, raw, no_think, max_tokens, n, logprobs,\n"
    "prompt_logprobs, draft, prediction and the samplers by their names (temperature, logit_bias, "
    "..., seed). --system is for lines\n"
    "with a prompt. Answers are JSON lines in the order of the questions, each with its \"line\"\n"
    "and \"id\"; a line that cannot be answered gets an \"error\", and the others go on.\n"
    "\n"
    "Thinking is shown dimmed on a terminal, and between <think> and </think> elsewhere;\n"
    "--json gives it apart from the answer. A prompt from a file or standard input loses one\n"
    "final newline, except with --raw. Ctrl-C stops the reply.";

inline constexpr const char* kChatHelp =
    "Examples:\n"
    "  lockstep chat tiny\n"
    "  lockstep chat ~/models/m --system \"Answer in one sentence.\" --max-tokens 400\n"
    "\n"
    "Inside: /help lists the commands. Ctrl-C stops a reply, Ctrl-D leaves.";

inline constexpr const char* kServeHelp =
    "Examples:\n"
    "  lockstep serve tiny\n"
    "  lockstep serve ~/models/m --host 0.0.0.0 --api-key-file keys.txt\n"
    "  curl http://127.0.0.1:8080/v1/chat/completions \\\n"
    "       -d '{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'\n"
    "\n"
    "Clients of OpenAI's chat and completions work with the base URL http://HOST:PORT/v1.\n"
    "/openapi.json lists all paths, docs/api.md all fields. SIGTERM and Ctrl-C let what runs come\n"
    "to its end; a second one stops at once. The log goes to standard error, a line a request.";

inline constexpr const char* kInfoHelp =
    "Examples:\n"
    "  lockstep info tiny\n"
    "  lockstep info ~/models/m --json\n"
    "\n"
    "Reads the headers and the small tensors; the weights stay on disk.";

inline constexpr const char* kSynthHelp =
    "\n"
    "Examples:\n"
    "  lockstep synth 2b /tmp/2b\n"
    "  lockstep synth 4b /tmp/4b --format bf16\n"
    "\n"
    "The weights are random in a sane scale, the tokenizer is the embedded one: such a model\n"
    "is as fast and as large as the real one and writes nonsense.";

inline constexpr const char* kConvertHelp =
    "Examples:\n"
    "  lockstep convert tiny tiny.gguf --to gguf\n"
    "  lockstep convert ~/models/m m-q4_k.gguf --to gguf --type q4_k\n"
    "  lockstep convert m.gguf m-mlx --to mlx --bits 6 --group-size 32\n"
    "  lockstep convert m.gguf m-bf16 --to bf16\n"
    "\n"
    "Tensor by tensor, in little memory. Tokenizer, template and draft head go along, a vision\n"
    "tower does not. Rows that are no whole number of blocks become q8_0 or f16, vectors and\n"
    "routers f32. What was written is read back and compared before it gets its name.";

inline constexpr const char* kModelsHelp =
    "Examples:\n"
    "  lockstep models\n"
    "  lockstep run tiny \"What is a mutex?\"";

inline constexpr const char* kVerifyHelp =
    "Each check ends with one line that sums it up. Exit codes: 0 green, 1 red, 2 wrong usage,\n"
    "3 something that the check needs is missing.\n"
    "lockstep verify CHECK --help tells more about each.";

inline constexpr const char* kBenchHelp =
    "Examples:\n"
    "  lockstep bench tiny\n"
    "  lockstep bench ~/models/m --prefill 512,2048 --depth 0,4096 --roofline\n"
    "  lockstep bench ~/models/m --streams 1,8 --json > figures.json\n"
    "\n"
    "Every figure is the median of --repeat measurements with its quartiles, after a warm-up; the\n"
    "cases take turns, so that a busy moment meets them all. Tokens are random ids. --roofline\n"
    "also measures how fast all threads read memory, beside each decode, and gives decode as a\n"
    "share of that: (packed weights touched + state read and written + keys and values read) / "
    "time.";

inline constexpr const char* kVerifyExactHelp =
    "Examples:\n"
    "  lockstep verify exact tiny\n"
    "  lockstep verify exact ~/models/m --quick --precision full\n"
    "  lockstep verify exact tiny --json | python3 -m json.tool\n"
    "\n"
    "Reads prompts in chunks of many sizes, beside other streams, in draft windows, from\n"
    "snapshots, on other numbers of threads and on every instruction set of this processor.\n"
    "The bits of each logit row, of the state and of the cache must be those of the prompt read\n"
    "alone and whole. Of a difference the first stage, row and column are shown, with both\n"
    "values. --isa leaves out the comparison of instruction sets.\n"
    "\n"
    "The line \"logits\" holds a hash of all logits of the prompts. It must be the same on every\n"
    "machine that runs the same checkpoint, precision and prompts.";

inline constexpr const char* kVerifyKernelsHelp =
    "Examples:\n"
    "  lockstep verify kernels tiny\n"
    "  lockstep verify kernels ~/models/m --only linear\n"
    "  lockstep verify kernels --shape 27b --only \"attention\"\n"
    "  lockstep verify kernels tiny --json > contract.json\n"
    "\n"
    "Every kernel at every shape that the model plans, in both precisions; no weight is read, the\n"
    "values are synthetic. A line is one gate of one kernel at one shape:\n"
    "  G1  NaN and infinities come out as float64 says\n"
    "  G2  a row's bits are its own: alone, in any call, beside NaN rows\n"
    "  G3  the same bits on every repeat, thread count and instruction set; every output written,\n"
    "      nothing outside\n"
    "  G4  errors within the derived bound, which sums in bf16 or float16 miss a hundredfold\n"
    "  G5  a kernel for every instruction set, sizes within what it holds\n"
    "Then defects are planted on purpose, and each must turn its gate RED; one that stays GREEN\n"
    "fails the run. docs/kernel-contract.md says more.";

inline constexpr const char* kVerifyStagesHelp =
    "Examples:\n"
    "  lockstep verify stages tiny --float64 \"Rain fell on the harbour.\"\n"
    "  lockstep verify stages tiny --precision full --float64 --ids prompt.ids --json\n"
    "  lockstep verify stages tiny --dump ours.safetensors --ids prompt.ids --positions 0-9,last\n"
    "  lockstep verify stages ours.safetensors theirs.safetensors\n"
    "\n"
    "With a MODEL and a sequence: runs it, and writes or measures every intermediate value.\n"
    "--float64 computes the same in float64 twice, every layer fed the engine's own input, and\n"
    "chained from the ids, and holds the difference to the table of docs/numerics.md. PROMPT is\n"
    "text as it stands, without chat template.\n"
    "With two dumps A and B, named *.safetensors: compares them, B being the reference. A choice\n"
    "that differs counts as a near tie only if both have the same two contenders and both margins\n"
    "are under one bf16 step of the logit.\n"
    "python/stage_dump.py writes such dumps with other programs.";

inline constexpr const char* kVerifyMtpHelp =
    "Example:\n"
    "  lockstep verify mtp tiny reference.safetensors\n"
    "\n"
    "REFERENCE is a dump that holds mtp_post.logits, mtp_pre.logits or both: the draft head fed\n"
    "with hidden rows after the final norm, and before it. The acceptance is the share of drafts\n"
    "whose first choice is the model's own next choice.";

inline constexpr const char* kEvalHelp =
    "Examples:\n"
    "  lockstep eval tiny README.md\n"
    "  lockstep eval ~/models/m --against full --window 2048 --stride 1024 text.txt\n"
    "\n"
    "Every token but the first is scored once, by the first window that holds it with a token\n"
    "before it. --against runs the same text in another precision too and gives the KL divergence\n"
    "from it and how often the first choices agree. The same file, model and settings give the\n"
    "same figures, whatever the number of threads.";

}  // namespace lockstep
