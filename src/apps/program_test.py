#!/usr/bin/env python3
"""Drives the real program: what a user types, what comes out on which stream, with which exit code.

usage: program_test.py PROGRAM SOURCE_FOLDER [TEST ...]
"""
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = ""
SOURCE = Path()


def lockstep(*arguments, stdin=b"", stdout=subprocess.PIPE, environment=None, timeout=300):
    return subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, stdout=stdout,
                          stderr=subprocess.PIPE, timeout=timeout,
                          env={**os.environ, **(environment or {})}, check=False)


def run_tiny(*arguments, **keywords):
    return lockstep("run", "tiny", *arguments, **keywords)


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="lockstep_program_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def copy_tiny(self):
        copy = self.folder / "model"
        shutil.copytree(SOURCE / "models/tiny-dense-mlx-4bit", copy)
        return copy

    def assert_refused(self, result, code, *words):
        """One clear line on standard error, nothing on standard output."""
        error = result.stderr.decode()
        self.assertEqual(result.returncode, code, error)
        self.assertEqual(result.stdout or b"", b"")
        lines = error.splitlines()
        self.assertTrue(lines and lines[-1].startswith("lockstep: "), error)
        for word in words:
            self.assertIn(word, lines[-1])
        return lines

    def assert_one_line(self, result, code, *words):
        self.assertEqual(len(self.assert_refused(result, code, *words)), 1, result.stderr.decode())


class Run(Program):
    def test_text_on_standard_output_alone_and_figures_last(self):
        result = run_tiny("--max-tokens", 20, "--seed", 1, "What does the ls command do?")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = result.stdout.decode()
        self.assertTrue(text.endswith("\n") and text.strip())
        self.assertNotIn("\x1b", text)
        lines = result.stderr.decode().splitlines()
        self.assertRegex(lines[-1], r"^prompt \d+ tokens at [\d.]+ tok/s, reply \d+ tokens at [\d.]+ tok/s"
                         r"(, \d+ of \d+ drafts right)? \((stop|length)\)$")
        report = "\n".join(lines)
        for word in ("precision int8", "thread", "draft head", "temperature 0.7", "top-k 20",
                     "generation_config.json", "seed 1"):
            self.assertIn(word, report)

    def test_every_way_to_give_the_prompt_is_the_same(self):
        options = ("--max-tokens", 8, "--temperature", 0)
        prompt = "List the files."
        file = self.write("prompt", prompt)
        outputs = {run_tiny(*options, prompt).stdout,
                   run_tiny(*options, "--file", file).stdout,
                   run_tiny(*options, "-", stdin=prompt.encode()).stdout}
        self.assertEqual(len(outputs), 1)
        self.assertTrue(outputs.pop().strip())

    def test_seed_decides_and_an_absent_one_is_told(self):
        def reply(*options):
            result = run_tiny("--json", "--max-tokens", 12, "--temperature", 1.5, "--top-k", 0,
                              "--top-p", 1, *options, "Hi")
            return json.loads(result.stdout)
        told = reply()
        again = reply("--seed", told["seed"])
        self.assertEqual(told["ids"], again["ids"])
        self.assertNotEqual(reply("--seed", 1)["ids"], reply("--seed", 2)["ids"])

    def test_json_is_one_object_with_everything(self):
        result = run_tiny("--json", "--logprobs", 3, "--seed", 5, "--max-tokens", 6, "Hi")
        self.assertEqual(result.stdout.count(b"\n"), 1)
        reply = json.loads(result.stdout)
        self.assertEqual(reply["seed"], 5)
        typed = {"temperature": 0.7, "top_k": 20, "top_p": 0.95, "min_p": 0.0}
        self.assertEqual(typed, {name: reply["sampling"][name] for name in typed})
        self.assertEqual(reply["sampling"]["repetition_penalty"], 1.0)
        self.assertEqual(reply["sampling"]["logit_bias"], {})
        self.assertEqual(len(reply["ids"]), reply["timings"]["reply_tokens"])
        self.assertEqual(len(reply["logprobs"]), len(reply["ids"]))
        for entry, token in zip(reply["logprobs"], reply["ids"]):
            self.assertEqual(entry["id"], token)
            self.assertEqual(len(entry["top"]), 3)
            self.assertLessEqual(entry["logprob"], entry["top"][0]["logprob"])
            self.assertLess(entry["top"][0]["logprob"], 0)
        self.assertIn("precision=int8", reply["precision_tuple"])
        self.assertIn(reply["finish_reason"], ("stop", "length"))
        self.assertNotIn("logprobs", json.loads(run_tiny("--json", "--max-tokens", 1, "Hi").stdout))

    def test_json_scores_the_prompt_where_that_is_asked(self):
        ids = self.write("p.ids", "5 6 7 8 9")
        reply = json.loads(run_tiny("--json", "--prompt-logprobs", 2, "--max-tokens", 0, "--ids", ids).stdout)
        self.assertEqual([entry["id"] for entry in reply["prompt_logprobs"]], [6, 7, 8, 9])
        for entry in reply["prompt_logprobs"]:
            self.assertEqual(len(entry["top"]), 2)
            self.assertLessEqual(entry["logprob"], entry["top"][0]["logprob"])

    def test_a_later_run_goes_on_from_what_is_on_disk(self):
        cache = self.folder / "cache"
        command = ("--json", "--seed", 3, "--max-tokens", 4, "--cache-dir", cache, "word " * 60)
        first, second = (json.loads(run_tiny(*command).stdout) for _ in range(2))
        self.assertEqual(first["timings"]["cached_tokens"], 0)
        self.assertEqual(second["timings"]["cached_tokens"], second["timings"]["prompt_tokens"] - 1)
        self.assertEqual(first["ids"], second["ids"])
        self.assert_refused(run_tiny("--cache-dir", self.write("file", ""), "Hi"), 1, "cache folder")

    def test_ids_in_place_of_text(self):
        first = json.loads(run_tiny("--json", "--raw", "--temperature", 0, "--max-tokens", 5,
                                    "Once upon").stdout)
        ids = self.write("ids", "300 301, 302")
        reply = json.loads(run_tiny("--json", "--temperature", 0, "--max-tokens", 5, "--ids",
                                    ids).stdout)
        self.assertEqual(reply["timings"]["prompt_tokens"], 3)
        self.assertEqual(len(first["ids"]), 5)

    def test_no_think_leaves_no_trace_of_thinking(self):
        result = run_tiny("--no-think", "--temperature", 0, "--max-tokens", 40, "Say hello.")
        self.assertEqual(result.returncode, 0)
        self.assertNotIn(b"think>", result.stdout)
        reply = json.loads(run_tiny("--json", "--no-think", "--temperature", 0, "--max-tokens", 40,
                                    "Say hello.").stdout)
        self.assertEqual(reply["thinking"], "")

    def test_threads_and_instruction_sets_change_nothing(self):
        outputs = {run_tiny("--temperature", 0, "--max-tokens", 6, *options, "Hi").stdout
                   for options in ((), ("--threads", 1), ("--threads", 3), ("--isa", "scalar"))}
        self.assertEqual(len(outputs), 1)
        report = run_tiny("--max-tokens", 1, "--isa", "scalar", "Hi").stderr.decode()
        self.assertIn("slow", report)

    def test_the_context_ends_the_reply_at_the_exact_count(self):
        reply = json.loads(run_tiny("--json", "--raw", "--ctx", 12, "--temperature", 0, "a b c").stdout)
        count = reply["timings"]["prompt_tokens"] + reply["timings"]["reply_tokens"]
        self.assertTrue(count == 12 or reply["finish_reason"] == "stop")

    def test_full_precision_and_the_other_embedded_model(self):
        self.assertEqual(run_tiny("--precision", "full", "--max-tokens", 3, "Hi").returncode, 0)
        result = lockstep("run", "tiny-moe", "--max-tokens", 3, "Hi")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout)


class BadInput(Program):
    def test_wrong_usage_is_exit_code_2(self):
        self.assert_one_line(lockstep(), 2, "no command")
        self.assert_one_line(run_tiny("--frob", "Hi"), 2, "--frob")
        self.assert_one_line(run_tiny(), 2, "no prompt")
        self.assert_one_line(run_tiny("--top-p", 7, "Hi"), 2, "top_p is 7")

    def test_models_that_are_not_there(self):
        self.assert_one_line(lockstep("run", "no-such", "Hi"), 3, "no-such", "tiny")
        self.assert_one_line(lockstep("info", self.folder / "gone"), 3, "gone")
        self.assert_one_line(lockstep("info", self.write("m.gguf", "GGUF")), 1, "m.gguf", "header")
        self.assert_one_line(lockstep("info", self.write("file", "x")), 1, "is a file")
        self.assert_one_line(lockstep("info", self.folder), 1)

    def test_prompts_with_broken_utf8_name_the_offset(self):
        broken = self.write("broken", b"abc\xff\xfe")
        self.assert_one_line(run_tiny("--file", broken), 1, "offset 3", "broken")
        self.assert_one_line(run_tiny("-", stdin=b"ab\xc3"), 1, "offset 2", "standard input")
        result = subprocess.run([PROGRAM.encode(), b"run", b"tiny", b"a\xff"], capture_output=True,
                                check=False)
        self.assert_one_line(result, 1, "offset 1")
        self.assert_one_line(run_tiny("--file", self.folder), 1)
        self.assert_one_line(run_tiny("--file", self.folder / "none"), 1)

    def test_a_prompt_longer_than_the_context_gives_both_numbers(self):
        self.assert_one_line(run_tiny("--raw", "--ctx", 4, "one two three four five six"), 1,
                            "tokens", "4")
        self.assert_one_line(run_tiny("--json", "--raw", "--ctx", 4, "one two three four five six"),
                            1, "4")
        self.assert_one_line(run_tiny("--ctx", 99999999, "Hi"), 1, "99999999", "32768")

    def test_bad_ids(self):
        self.assert_one_line(run_tiny("--ids", self.write("a", "1 two")), 1, "entry 1")
        self.assert_one_line(run_tiny("--ids", self.write("b", "12288")), 1, "12288", "vocabulary")

    def test_broken_weights(self):
        def refuse(change, *words):
            model = self.copy_tiny()
            change(model / "model.safetensors", model)
            self.assert_one_line(lockstep("run", model, "Hi"), 1, *words)
            self.assert_one_line(lockstep("info", model), 1, *words)
            shutil.rmtree(model)

        def truncate(path, _):
            os.truncate(path, path.stat().st_size - 1000)

        def header_of_2_to_63(path, _):
            with open(path, "r+b") as file:
                file.write(struct.pack("<Q", 1 << 63))

        def empty(path, _):
            os.truncate(path, 0)

        def folder(path, _):
            path.unlink()
            path.mkdir()

        def edit_header(path, edit):
            data = path.read_bytes()
            size = struct.unpack("<Q", data[:8])[0]
            header = json.loads(data[8:8 + size])
            edit(header)
            text = json.dumps(header).encode()
            path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size:])

        def wrong_type(path, _):
            edit_header(path, lambda h: next(v for k, v in h.items() if k.endswith("q_norm.weight"))
                        .update(dtype="I32"))

        def overlap(path, _):
            def edit(header):
                first, second = [v for k, v in header.items() if k.endswith("input_layernorm.weight")][:2]
                second["data_offsets"] = first["data_offsets"]
            edit_header(path, edit)

        def missing_shard(path, model):
            (model / "model.safetensors.index.json").write_text(json.dumps(
                {"metadata": {}, "weight_map": {"model.norm.weight": "model-00001-of-00002.safetensors"}}))
            path.unlink()

        refuse(truncate, "model.safetensors")
        refuse(header_of_2_to_63, "model.safetensors")
        refuse(empty, "model.safetensors")
        refuse(folder)
        refuse(wrong_type, "q_norm.weight")
        refuse(overlap, "model.safetensors")
        refuse(missing_shard, "model-00001-of-00002.safetensors")

    def test_a_template_that_loops_or_throws(self):
        model = self.copy_tiny()
        template = model / "chat_template.jinja"
        template.write_text("{{ raise_exception('no pictures here') }}")
        self.assert_one_line(lockstep("run", model, "Hi"), 1, "no pictures here", "chat_template")
        template.write_text("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}")
        self.assert_one_line(lockstep("run", model, "Hi"), 1, "chat_template")
        template.write_text("{% if %}")
        self.assert_one_line(lockstep("run", model, "Hi"), 1, "chat_template", "--raw")
        self.assertEqual(lockstep("run", model, "--raw", "--max-tokens", 2, "Hi").returncode, 0)

    def test_a_foreign_model_type_is_refused_by_name(self):
        model = self.copy_tiny()
        config = json.loads((model / "config.json").read_text())
        config["model_type"] = "qwen4_exp"
        (model / "config.json").write_text(json.dumps(config))
        self.assert_one_line(lockstep("run", model, "Hi"), 1, "qwen4_exp")

    def test_unknown_weights_are_refused_unless_allowed(self):
        model = self.copy_tiny()
        path = model / "model.safetensors"
        data = path.read_bytes()
        size = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:8 + size])
        end = len(data) - 8 - size
        header["model.mystery.weight"] = {"dtype": "F32", "shape": [1], "data_offsets": [end, end + 4]}
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size:] + bytes(4))
        self.assert_one_line(lockstep("run", model, "Hi"), 1, "model.mystery.weight", "--allow-unused")
        self.assertEqual(
            lockstep("run", model, "--allow-unused", "--max-tokens", 1, "Hi").returncode, 0)

    def test_a_foreign_draft_head_is_refused_by_name_and_can_be_left_alone(self):
        self.assert_one_line(run_tiny("--mtp", self.folder, "Hi"), 1, str(self.folder))
        self.assert_one_line(run_tiny("--mtp", SOURCE / "models/tiny-moe-mlx-4bit", "Hi"), 1,
                             "draft head")
        model = self.copy_tiny()
        os.truncate(model / "mtp/model.safetensors", 100)
        self.assert_one_line(lockstep("run", model, "Hi"), 1, "mtp/model.safetensors")
        result = lockstep("run", model, "--no-mtp", "--max-tokens", 1, "Hi")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"draft head Turned off.", result.stderr)


class Streams(Program):
    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            for options in ((), ("--json",)):
                result = run_tiny("--max-tokens", 3, *options, "Hi", stdout=full)
                self.assertEqual(result.returncode, 1)
                self.assertIn(b"standard output: No space left", result.stderr.splitlines()[-1])
            self.assertEqual(lockstep("models", stdout=full).returncode, 1)
            self.assertEqual(lockstep("--help", stdout=full).returncode, 1)

    def test_a_closed_pipe_ends_the_reply(self):
        reader, writer = os.pipe()
        os.close(reader)
        start = time.monotonic()
        with os.fdopen(writer, "wb") as pipe:
            result = run_tiny("--max-tokens", 20000, "Hi", stdout=pipe)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"Broken pipe", result.stderr)
        self.assertLess(time.monotonic() - start, 120)

    def test_closed_standard_streams_are_not_given_to_files(self):
        command = f"'{PROGRAM}' run tiny --max-tokens 2 Hi >&-"
        result = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"standard output", result.stderr)
        result = subprocess.run(["sh", "-c", f"'{PROGRAM}' run tiny --max-tokens 2 Hi 2>&- <&-"],
                                capture_output=True, check=False)
        self.assertEqual(result.returncode, 0)

    def test_ctrl_c_stops_a_reply_and_json_is_not_half_printed(self):
        for options in ((), ("--json",)):
            process = subprocess.Popen(
                [PROGRAM, "run", "tiny", *options, "--temperature", "2", "--top-k", "0", "--top-p",
                 "1", "Count to a million."],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(0.2)
            while b"sampling" not in process.stderr.readline():
                pass
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
            if process.returncode == 0:
                continue  # the model stopped by itself before the signal came
            self.assertEqual(process.returncode, 1)
            self.assertIn(b"interrupted", err.splitlines()[-1])
            if options:
                self.assertEqual(out, b"")


class OtherCommands(Program):
    def test_models_lists_the_embedded_ones(self):
        text = lockstep("models").stdout.decode()
        self.assertIn("tiny-moe", text)
        models = json.loads(lockstep("models", "--json").stdout)
        self.assertEqual([m["name"] for m in models], ["tiny", "tiny-moe"])
        for model in models:
            self.assertTrue(Path(model["folder"]).is_dir())

    def test_info_tells_what_it_is_and_what_it_needs(self):
        result = lockstep("info", "tiny")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = result.stdout.decode()
        for word in ("qwen3_5", "6 gated delta, 2 full attention", "4-bit affine, groups of 64",
                     "draft head", "norms", "stop ids", "<|im_end|>", "context 4096",
                     "context 32768", "not supported", "precision=int8"):
            self.assertIn(word, text)
        info = json.loads(lockstep("info", "tiny-moe", "--json").stdout)
        self.assertEqual(info["model"]["type"], "qwen3_5_moe")
        plan = info["memory"]["context_4096"]
        self.assertEqual(plan["total"], sum(v for k, v in plan.items() if k != "total"))

    def test_synth_writes_a_model_that_runs(self):
        model = self.folder / "synthetic"
        shape = "micro"
        names = [line.split()[0] for line in lockstep("synth", "--help").stdout.decode().splitlines()
                 if line.strip().startswith(shape)]
        self.assertTrue(names)
        result = lockstep("synth", names[0], model)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, b"")
        self.assertEqual(lockstep("run", model, "--max-tokens", 2, "Hi").returncode, 0)
        self.assert_refused(lockstep("synth", names[0], model), 1, str(model))

    def test_convert_writes_models_that_answer_alike(self):
        """Through GGUF and back: the tokenizer, the template and the weights go along."""
        reply = [str(word) for word in ("--temperature", 0, "--max-tokens", 8, "What does `ls` do?")]
        source = SOURCE / "models/tiny-dense-mlx-4bit"
        wanted = lockstep("run", source, *reply).stdout
        steps = (("a.gguf", "--to", "gguf", "--type", "q8_0"), ("b", "--to", "mlx", "--bits", 8),
                 ("c", "--to", "bf16"))
        model = source
        for name, *arguments in steps:
            result = lockstep("convert", model, self.folder / name, *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"read back and found as encoded", result.stderr)
            self.assertIn(b"draft head included", result.stderr)
            model = self.folder / name
            self.assertEqual(lockstep("run", model, *reply).stdout, wanted)
            self.assert_refused(lockstep("convert", source, model, *arguments), 1, "exists already")
        self.assert_refused(lockstep("convert", "tiny", self.folder / "d", "--to", "exl2"), 2, "exl2")

    def test_verify_exact_says_what_held(self):
        prompts = self.write("prompts", "Ten small boats lie in the harbour\n\nand wait for the tide\n")
        command = ("verify", "exact", "tiny", "--quick", "--prompts", prompts)
        result = lockstep(*command)
        self.assertEqual(result.returncode, 0, result.stderr)
        *clauses, logits, summary = result.stdout.decode().splitlines()
        for line in clauses:
            self.assertRegex(line, r"^clause .+: PASS \(\d+ (rows|tokens)(, \d+ of \d+ drafts right)?\)$")
        self.assertRegex(logits, "^logits [0-9a-f]{32}$")
        self.assertEqual(summary, f"verify exact: GREEN, {len(clauses)} clauses")
        report = json.loads(lockstep(*command, "--json", "--threads", 1).stdout)
        self.assertTrue(report["green"])
        self.assertEqual(len(report["clauses"]), len(clauses))
        self.assertEqual(f"logits {report['logits_hash']}", logits)

    def test_verify_exact_refuses_prompts_by_name(self):
        command = ("verify", "exact", "tiny", "--prompts")
        self.assert_refused(lockstep(*command, self.folder / "none"), 3, "none")
        self.assert_refused(lockstep(*command, self.write("empty", "\n\n")), 1, "empty", "no prompt")
        self.assert_refused(lockstep(*command, self.write("bytes", b"a\n\xff\n")), 1, "line 2", "UTF-8")


class Batch(Program):
    def batch(self, lines, *arguments):
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        result = lockstep("run", "tiny", "--batch", self.write("batch", text), *arguments)
        return result, [json.loads(line) for line in result.stdout.splitlines()]

    def test_answers_come_in_the_order_of_the_questions_as_each_would_alone(self):
        questions = [{"id": i, "prompt": f"Count to {i}.", "max_tokens": 3 + i % 4, "seed": i}
                     for i in range(7)]
        result, answers = self.batch(questions, "--parallel", 3)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"7 answered, 0 failed", result.stderr)
        self.assertEqual([a["id"] for a in answers], list(range(7)))
        self.assertEqual([a["line"] for a in answers], list(range(1, 8)))
        alone = json.loads(run_tiny("--json", "--max-tokens", 4, "--seed", 5, "Count to 5.").stdout)
        self.assertEqual(answers[5]["ids"], alone["ids"])
        self.assertEqual(answers[5]["text"], alone["text"])

    def test_a_bad_line_gets_an_error_and_the_others_go_on(self):
        result, answers = self.batch(
            [{"prompt": "Hi", "max_tokens": 2}, "{", "", {"id": "x", "prompt": "Hi", "max_token": 2},
             {"ids": [99999]}, {"ids": [300, 301], "max_tokens": 3, "n": 2, "seed": 1},
             {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2, "logprobs": 1}])
        self.assertEqual(result.returncode, 1)
        self.assertEqual([a["line"] for a in answers], [1, 2, 4, 5, 6, 7])
        self.assertEqual(["error" in a for a in answers], [False, True, True, True, False, False])
        self.assertIn("line 2", answers[1]["error"])
        self.assertIn("max_token", answers[2]["error"])
        self.assertIn("99999", answers[3]["error"])
        self.assertEqual(len(answers[4]["replies"]), 2)
        self.assertEqual(len(answers[5]["logprobs"]), len(answers[5]["ids"]))

    def test_wrong_usage(self):
        self.assert_refused(run_tiny("--batch", "x", "Hi"), 2, "--batch")
        self.assert_refused(run_tiny("--parallel", 2, "Hi"), 2, "--parallel")
        self.assert_refused(run_tiny("--batch", "x", "--parallel", 0), 2, "--parallel")
        self.assert_refused(run_tiny("--batch", self.folder / "none"), 1, "none")


class Chat(Program):
    def test_a_second_turn_reads_only_what_is_new(self):
        document = "A fact about lighthouses and tides. " * 40
        result = lockstep("chat", "tiny", "--max-tokens", 6, "--seed", 3,
                          stdin=f"{document}\nShort.\n".encode())
        self.assertEqual(result.returncode, 0, result.stderr)
        turns = re.findall(r"prompt (\d+) tokens(?: \((\d+) kept\))?", result.stderr.decode())
        self.assertEqual(len(turns), 2, result.stderr)
        self.assertEqual(turns[0][1], "")
        read = int(turns[1][0]) - int(turns[1][1])
        self.assertLess(read, 40)

    def test_a_script_of_lines(self):
        saved = self.folder / "saved.json"
        script = f"/help\nHello.\n/prompt\n/regen\n/undo\n/undo\n/frob\nAgain.\n/save {saved}\n/reset\n/prompt\n//x\n/quit\n"
        result = lockstep("chat", "tiny", "--system", "Be brief.", "--max-tokens", 8, "--seed", 3,
                          stdin=script.encode())
        self.assertEqual(result.returncode, 0, result.stderr)
        errors = result.stderr.decode()
        self.assertIn("/regen", errors)
        self.assertIn("/frob is not a command", errors)
        self.assertIn("nothing to take back", errors)
        self.assertIn("<|im_start|>system\nBe brief.<|im_end|>", result.stdout.decode())
        messages = json.loads(saved.read_text())
        self.assertEqual([m["role"] for m in messages], ["system", "user", "assistant"])
        self.assertEqual(messages[1]["content"], "Again.")

    def test_an_error_in_a_script_is_told_at_the_end_and_leaves_no_trace(self):
        result = lockstep("chat", "tiny", "--ctx", 40, "--max-tokens", 2,
                          stdin=("word " * 100 + "\nHi\n/prompt\n").encode())
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"the context holds 40", result.stderr)
        self.assertNotIn(b"word word", result.stdout)
        self.assertIn(b"user\nHi", result.stdout)

    def terminal(self, *arguments, environment=None):
        process, descriptor = pty.fork()
        if process == 0:
            os.environ.update({"TERM": "xterm", **(environment or {})})
            os.execv(PROGRAM, [PROGRAM, *map(str, arguments)])
        self.addCleanup(os.close, descriptor)
        return process, descriptor

    def read_until(self, descriptor, *words, seconds=20):
        """Everything up to and with the words, which come one after another."""
        pattern = re.compile(b".*".join(map(re.escape, words)), re.DOTALL)
        seen = b""
        end = time.monotonic() + seconds
        while not pattern.search(seen) and time.monotonic() < end:
            if select.select([descriptor], [], [], 0.2)[0]:
                try:
                    seen += os.read(descriptor, 65536)
                except OSError:
                    break
        self.assertTrue(pattern.search(seen), (words, seen))
        return seen

    def wait(self, process):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        self.fail("the program did not end")

    def test_a_terminal_dims_thinking_and_keeps_a_history(self):
        process, descriptor = self.terminal("chat", "tiny", "--max-tokens", 12, "--temperature", 0)
        self.read_until(descriptor, b"> ")
        os.write(descriptor, "Grüße, wer bist du?\r".encode())
        seen = self.read_until(descriptor, b"tok/s")
        self.assertIn(b"\x1b[2m", seen)
        os.write(descriptor, b"\x1b[A\x01/save \x0b\r")  # up, home, replaced by a wrong command
        self.read_until(descriptor, b"name of a file")
        os.write(descriptor, b"/prompt\r")
        self.assertIn("Grüße, wer bist du?".encode(), self.read_until(descriptor, b"assistant\r\n"))
        os.write(descriptor, b"\x04")
        self.assertEqual(self.wait(process), 0)

    def test_no_color_is_obeyed(self):
        process, descriptor = self.terminal("run", "tiny", "--max-tokens", 12, "Hi",
                                            environment={"NO_COLOR": "1"})
        seen = self.read_until(descriptor, b"tok/s")
        self.assertNotIn(b"\x1b[2m", seen)
        self.assertEqual(self.wait(process), 0)

    def test_ctrl_c_stops_the_reply_only_and_twice_at_the_prompt_leaves(self):
        process, descriptor = self.terminal("chat", "tiny", "--temperature", 1, "--seed", 1,
                                            "--top-k", 0, "--top-p", 1)
        self.read_until(descriptor, b"> ")
        os.write(descriptor, b"Tell me everything.\r")
        self.read_until(descriptor, b"\x1b[2m")
        os.write(descriptor, b"\x03")
        seen = self.read_until(descriptor, b"\r\nprompt ", b"> ")
        self.assertTrue(b"cancelled" in seen or b"stop" in seen, seen)
        os.write(descriptor, b"half a line\x03")
        self.read_until(descriptor, b"Ctrl-C again")
        os.write(descriptor, b"\x03")
        self.assertEqual(self.wait(process), 0)


class Verify(Program):
    def dump(self, name, *arguments):
        path = self.folder / name
        result = lockstep("verify", "stages", "tiny", "--ids", self.write("p.ids", "5 6 7 8"), "--dump", path,
                          *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def test_a_dump_is_green_against_itself_and_refused_when_damaged(self):
        path = self.dump("a.safetensors")
        result = lockstep("verify", "stages", path, path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"verify stages: GREEN", result.stdout)
        self.assertIn(b"agrees at 4 of 4", result.stdout)
        damaged = bytearray(path.read_bytes())
        damaged[-1] ^= 1
        other = self.write("b.safetensors", bytes(damaged))
        self.assert_one_line(lockstep("verify", "stages", path, other), 1, "b.safetensors", "wrong checksum")
        self.assert_one_line(lockstep("verify", "stages", path, self.folder / "c.safetensors"), 3, "no such file")
        self.assert_one_line(lockstep("verify", "stages", path), 2, "second one")
        self.assert_one_line(lockstep("verify", "mtp", "tiny", path), 1, "neither mtp_post.logits")

    def test_dumps_of_two_models_are_refused(self):
        full = self.dump("full.safetensors", "--precision", "full")
        other = self.folder / "other.safetensors"
        lockstep("verify", "stages", "tiny-moe", "--ids", self.folder / "p.ids", "--dump", other)
        self.assert_one_line(lockstep("verify", "stages", full, other), 1, "other weights")

    def test_float64_holds_the_table_and_writes_three_dumps(self):
        result = lockstep("verify", "stages", "tiny", "--precision", "full", "--float64", "--ids",
                          self.write("p.ids", "5 6 7 8"), "--dump", self.folder / "out", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertTrue(report["green"])
        self.assertIn("own input, worst token", [clause["name"] for clause in report["clauses"]])
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()),
                         ["engine.safetensors", "float64-chained.safetensors", "float64-own.safetensors"])

    def test_eval_says_the_same_twice_whatever_the_threads(self):
        text = self.write("text.txt", "Rain fell on the harbour all night.")
        runs = [lockstep("eval", "tiny", text, "--against", "full", "--window", 8, "--stride", 4, "--json",
                         "--threads", threads) for threads in (1, 2)]
        self.assertEqual(runs[0].returncode, 0, runs[0].stderr)
        self.assertEqual(runs[0].stdout, runs[1].stdout)
        report = json.loads(runs[0].stdout)
        self.assertGreater(report["perplexity"], 1)
        self.assertGreater(report["against"]["mean_kl"], 0)
        self.assert_one_line(lockstep("eval", "tiny", text, "--stride", 512), 2, "--stride")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    SOURCE = Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
