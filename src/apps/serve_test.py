"""Runs `lockstep serve` and asks it as clients do.   serve_test.py PROGRAM SOURCE_FOLDER [SECONDS_OF_LOAD]"""
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
LOAD_SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 10.0
QUESTION = [{"role": "user", "content": "What does `mount` do?"}]
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "Weather of a city", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


class Server:
    def __init__(self, *flags, model="tiny", environment=None):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([PROGRAM, "serve", model, "--port", "0", "--threads", "2", *flags],
                                        stdout=subprocess.DEVNULL, stderr=self.log, cwd=SOURCE, env=environment)
        deadline = time.monotonic() + 120
        while True:
            found = re.search(r"serving +(https?)://[^ ]*:(\d+)/v1", self.text())
            if found:
                self.tls, self.port = found.group(1) == "https", int(found.group(2))
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the server did not start: {self.text()}")
            time.sleep(0.05)

    def text(self):
        self.log.seek(0)
        return self.log.read().decode()

    def connect(self, timeout=120):
        if self.tls:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, body as bytes)"""
        connection = self.connect()
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, data, headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def get(self, path):
        status, _, body = self.ask("GET", path)
        assert status == 200, (status, body)
        return json.loads(body)

    def post(self, path, **fields):
        status, _, body = self.ask("POST", path, fields)
        assert status == 200, (status, body)
        return json.loads(body)

    def chat(self, **fields):
        return self.post("/v1/chat/completions", **{"messages": QUESTION, **fields})

    def stream(self, path, **fields):
        """The events of a stream, [DONE] required and left out."""
        status, headers, body = self.ask("POST", path, {**fields, "stream": True})
        assert status == 200, (status, body)
        assert headers["content-type"] == "text/event-stream", headers
        blocks = [block for block in body.decode().split("\n\n") if block and not block.startswith(":")]
        assert all(block.startswith("data: ") for block in blocks), blocks
        assert blocks[-1] == "data: [DONE]", blocks[-1]
        return [json.loads(block[len("data: "):]) for block in blocks[:-1]]

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def joined(events, index=0):
    """What the chunks of one reply come to, in the form of a whole answer's choice."""
    message = {"role": "assistant", "content": ""}
    calls, finish, ids = [], None, []
    for event in events:
        for choice in event["choices"]:
            if choice["index"] != index:
                continue
            delta = choice["delta"]
            message["content"] += delta.get("content") or ""
            for name in ("reasoning", "reasoning_content"):
                if name in delta:
                    message[name] = message.get(name, "") + delta[name]
            for call in delta.get("tool_calls", []):
                if "id" in call:
                    assert call["index"] == len(calls)
                    calls.append({"name": call["function"]["name"], "arguments": ""})
                calls[call["index"]]["arguments"] += call["function"]["arguments"]
            ids += choice.get("token_ids", [])
            finish = finish or choice["finish_reason"]
    return message, calls, finish, ids


def whole(choice):
    message = dict(choice["message"])
    calls = [call["function"] for call in message.pop("tool_calls", [])]
    message["content"] = message["content"] or ""
    return message, calls, choice["finish_reason"], choice.get("token_ids", [])


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--parallel", "4")

    @classmethod
    def tearDownClass(cls):
        assert cls.server.close() == 0, cls.server.text()

    def error(self, body, path="/v1/chat/completions", method="POST", headers=None):
        status, _, answer = self.server.ask(method, path, body, headers)
        error = json.loads(answer)["error"]
        self.assertEqual(set(error), {"message", "type", "param", "code"})
        return status, error

    def test_health_is_green_once_a_token_was_made(self):
        self.assertEqual(self.server.get("/health"), {"status": "ok"})

    def test_the_model_is_listed(self):
        models = self.server.get("/v1/models")["data"]
        self.assertEqual([m["id"] for m in models], ["tiny-dense-mlx-4bit"])
        self.assertEqual(self.server.get("/v1/models/tiny-dense-mlx-4bit"), models[0])

    def test_a_reply_is_the_one_that_run_gives(self):
        for fields, flags in (({"temperature": 0}, ["--temperature", "0"]),
                              ({"temperature": 0.9, "seed": 7, "top_k": 40}, ["--temperature", "0.9", "--seed", "7",
                                                                             "--top-k", "40"])):
            solo = json.loads(subprocess.run(
                [PROGRAM, "run", "tiny", "--json", "--max-tokens", "40", *flags, QUESTION[0]["content"]], check=True,
                capture_output=True, cwd=SOURCE).stdout)
            answer = self.server.chat(max_tokens=40, return_tokens=True, **fields)
            choice = answer["choices"][0]
            self.assertEqual(choice["token_ids"], solo["ids"])
            self.assertEqual(choice["message"]["content"], solo["answer"])
            self.assertEqual(choice["message"].get("reasoning_content", ""), solo["thinking"])
            self.assertEqual(answer["system_fingerprint"], solo["precision_tuple"])

    def test_a_stream_is_the_whole_answer_in_pieces(self):
        weather = [{"role": "user", "content": "What is the weather in Oslo?"}]
        cases = [dict(messages=QUESTION), dict(messages=weather, tools=TOOLS), dict(messages=QUESTION, n=3, seed=5),
                 dict(messages=QUESTION, enable_thinking=False), dict(messages=QUESTION, stop=["mount", "(8)"]),
                 dict(messages=weather, tools=TOOLS, max_tokens=15), dict(messages=QUESTION, max_tokens=3)]
        for case in cases:
            case = {"seed": 3, "temperature": 0.7, "max_tokens": 80, "return_tokens": True, **case}
            answer = self.server.post("/v1/chat/completions", **case)
            events = self.server.stream("/v1/chat/completions", stream_options={"include_usage": True}, **case)
            self.assertEqual(events[-1]["choices"], [])
            usage = dict(events[-1]["usage"])
            for counted in (usage, answer["usage"]):
                counted.pop("prompt_tokens_details")
            self.assertEqual(usage, answer["usage"])
            for choice in answer["choices"]:
                self.assertEqual(joined(events, choice["index"]), whole(choice), case)

    def test_a_tool_is_called_with_json_arguments(self):
        for seed in range(6):
            answer = self.server.post("/v1/chat/completions", tools=TOOLS, seed=seed, max_tokens=200, temperature=0.5,
                                      messages=[{"role": "user", "content": "What is the weather in Oslo?"}])
            choice = answer["choices"][0]
            calls = choice["message"].get("tool_calls", [])
            if choice["finish_reason"] == "tool_calls":
                self.assertTrue(calls)
            for call in calls if choice["finish_reason"] != "length" else []:
                self.assertIsInstance(json.loads(call["function"]["arguments"]), dict)
            if calls:
                return
        self.fail("the model called no tool in six tries")

    def test_drafts_change_no_token(self):
        for sampling in ({"temperature": 0}, {"temperature": 0.8, "seed": 11}):
            plain, drafted, predicted = (
                self.server.chat(max_tokens=60, return_tokens=True, **sampling, **draft)["choices"][0]
                for draft in ({"draft": "off"}, {"draft": 3},
                              {"prediction": {"type": "content", "content": "`mount` (8): mount filesystem."}}))
            self.assertEqual(whole(plain), whole(drafted))
            self.assertEqual(whole(plain), whole(predicted))
            kinds = ("copies", "head")
            self.assertEqual(sum(sum(plain["timings"]["drafts"][kind]["offered"]) for kind in kinds), 0)
            # How many are offered follows the clock: a drafter that does not pay here is left alone.
            for kind in kinds:
                counts = drafted["timings"]["drafts"][kind]
                self.assertEqual((len(counts["offered"]), len(counts["accepted"])), (8, 8))
                self.assertTrue(all(a <= o for a, o in zip(counts["accepted"], counts["offered"])), counts)
                self.assertEqual(sum(counts["offered"][3:]), 0)  # no window deeper than asked

    def test_a_prompt_is_scored_without_drawing(self):
        prompt = "mount - mount a filesystem"
        scored = self.server.post("/v1/completions", prompt=prompt, max_tokens=0, echo=True, logprobs=2)["choices"][0]
        lists = scored["logprobs"]
        self.assertEqual(scored["text"], prompt)
        self.assertEqual("".join(lists["tokens"]), prompt)
        self.assertIsNone(lists["token_logprobs"][0])
        self.assertTrue(all(value <= 0 for value in lists["token_logprobs"][1:]))
        self.assertEqual({len(lists[name]) for name in lists}, {len(lists["tokens"])})
        # A reply's token has the figure that it has as part of a prompt.
        reply = self.server.post("/v1/completions", prompt=prompt, max_tokens=1, temperature=0, logprobs=2)["choices"][0]
        longer = self.server.post("/v1/completions", prompt=prompt + reply["text"], max_tokens=0, echo=True, logprobs=2)
        if longer["choices"][0]["logprobs"]["tokens"][-1] == reply["text"]:
            self.assertEqual(longer["choices"][0]["logprobs"]["token_logprobs"][-1],
                             reply["logprobs"]["token_logprobs"][0])
        events = self.server.stream("/v1/completions", prompt=prompt, max_tokens=2, echo=True, logprobs=2, seed=1)
        at_once = self.server.post("/v1/completions", prompt=prompt, max_tokens=2, echo=True, logprobs=2, seed=1)
        pieces = [choice for event in events for choice in event["choices"]]
        self.assertEqual("".join(piece["text"] for piece in pieces), at_once["choices"][0]["text"])
        for name in lists:
            self.assertEqual([entry for piece in pieces for entry in (piece["logprobs"] or {name: []})[name]],
                             at_once["choices"][0]["logprobs"][name])

    def test_a_spent_thinking_budget_leads_to_the_answer(self):
        free = self.server.chat(temperature=0, max_tokens=60)
        self.assertGreater(free["usage"]["completion_tokens_details"]["reasoning_tokens"], 8)
        for budget in (0, 4):
            short = self.server.chat(temperature=0, max_tokens=60, thinking_budget=budget)
            self.assertLessEqual(short["usage"]["completion_tokens_details"]["reasoning_tokens"], budget + 2)
            self.assertTrue(short["choices"][0]["message"]["content"])
            self.assertNotIn("think>", short["choices"][0]["message"]["content"])

    def test_stop_strings_cut_content_and_never_leak(self):
        free = self.server.chat(temperature=0, max_tokens=60)["choices"][0]["message"]
        stop = free["content"][3:6]
        choice = self.server.chat(temperature=0, max_tokens=60, stop=stop)["choices"][0]
        self.assertEqual(choice["message"]["content"], free["content"].split(stop)[0])
        self.assertEqual((choice["finish_reason"], choice["stop_reason"]), ("stop", stop))
        word = free["reasoning_content"].split()[1]
        if word not in free["content"]:
            kept = self.server.chat(temperature=0, max_tokens=60, stop=[word])["choices"][0]["message"]
            self.assertEqual(kept["reasoning_content"], free["reasoning_content"])

    def test_completions_go_on_from_text_and_from_ids(self):
        ids = self.server.post("/tokenize", content="mount is")["tokens"]
        by_text = self.server.post("/v1/completions", prompt="mount is", max_tokens=8, temperature=0, logprobs=2)
        by_ids = self.server.post("/v1/completions", prompt=ids, max_tokens=8, temperature=0, logprobs=2)
        self.assertEqual(by_text["choices"][0]["text"], by_ids["choices"][0]["text"])
        lists = by_text["choices"][0]["logprobs"]
        self.assertEqual("".join(lists["tokens"]), by_text["choices"][0]["text"])
        self.assertEqual({len(lists[name]) for name in lists}, {8})
        echoed = self.server.post("/v1/completions", prompt="mount is", max_tokens=8, temperature=0, echo=True)
        self.assertEqual(echoed["choices"][0]["text"], "mount is" + by_text["choices"][0]["text"])
        events = self.server.stream("/v1/completions", prompt="mount is", max_tokens=8, temperature=0)
        self.assertEqual("".join(c["text"] for e in events for c in e["choices"]), by_text["choices"][0]["text"])

    def test_logprobs_are_of_every_token_with_its_bytes(self):
        answer = self.server.chat(temperature=0, max_tokens=12, logprobs=True, top_logprobs=3, return_tokens=True)
        content = answer["choices"][0]["logprobs"]["content"]
        self.assertEqual(len(content), len(answer["choices"][0]["token_ids"]))
        for entry in content:
            self.assertEqual(len(entry["top_logprobs"]), 3)
            self.assertLessEqual(entry["logprob"], 0.0)
            self.assertEqual(entry["token"], entry["top_logprobs"][0]["token"])  # greedy
            self.assertEqual(bytes(entry["bytes"]).decode(), entry["token"])

    def test_the_second_turn_is_read_from_where_the_first_ended(self):
        document = " ".join(f"Line {i} says {i * 7 % 13}." for i in range(120))
        first = [{"role": "system", "content": document}, {"role": "user", "content": "What does line 3 say?"}]
        answer = self.server.chat(messages=first, max_tokens=30, temperature=0)
        reply = answer["choices"][0]["message"]
        second = first + [{"role": "assistant", "content": reply["content"]}, {"role": "user", "content": "And 4?"}]
        usage = self.server.chat(messages=second, max_tokens=5, temperature=0)["usage"]
        self.assertGreater(usage["prompt_tokens_details"]["cached_tokens"], 0.9 * answer["usage"]["prompt_tokens"])
        again = self.server.chat(messages=first, max_tokens=30, temperature=0)
        self.assertEqual(again["choices"][0]["message"], reply)

    def test_wrong_requests_are_refused_by_name(self):
        ask = {"messages": QUESTION}
        image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}]
        for body, status, param, words in (
                (b"{", 400, None, "not valid JSON"), (b"[]", 400, None, "no JSON object"),
                (b"", 400, None, "not valid JSON"), (b'{"a":' * 100, 400, None, "not valid JSON"),
                ({}, 400, "messages", "missing or empty"),
                (dict(ask, model="gpt-9"), 404, "model", "tiny-dense-mlx-4bit"),
                (dict(ask, temperature=-1), 400, "temperature", "from 0 to 100"),
                (dict(ask, top_p=0), 400, "top_p", "more than 0"), (dict(ask, n=0), 400, "n", "from 1 to 4"),
                (dict(ask, stop=[""]), 400, "stop", "empty text"),
                (dict(ask, logit_bias={"x": 1}), 400, "logit_bias", "token ids"),
                (dict(ask, top_logprobs=2), 400, "top_logprobs", "logprobs: true"),
                (dict(ask, stream_options={}), 400, "stream_options", "stream: true"),
                (dict(ask, tool_choice="required"), 400, "tool_choice", "cannot be required"),
                (dict(ask, tools=[{}]), 400, "tools", "tools[0]"),
                (dict(ask, response_format={"type": "json_object"}), 400, "response_format", "not built"),
                (dict(ask, reasoning_effort="huge"), 400, "reasoning_effort", "xhigh"),
                (dict(ask, chat_template_kwargs={"messages": []}), 400, "chat_template_kwargs", "cannot hold messages"),
                (dict(ask, max_tokens=3, max_completion_tokens=5), 400, "max_tokens", "one will do"),
                (dict(ask, nonsense=1), 400, "nonsense", "not a field"),
                (dict(messages=image), 400, "messages", "image_url"),
                (dict(messages=[{"role": "user", "content": "a " * 40000}]), 400, "messages", "32768")):
            got, error = self.error(body)
            self.assertEqual((got, error["param"]), (status, param), body)
            self.assertIn(words, error["message"])
            self.assertEqual(error["type"], "invalid_request_error")
        for body, param in (({"prompt": ["a", "b"]}, "prompt"), ({"prompt": []}, "prompt"), ({"prompt": [99999]}, "prompt"),
                            ({"prompt": "a", "suffix": "b"}, "suffix"), ({}, "prompt")):
            got, error = self.error(body, "/v1/completions")
            self.assertEqual((got, error["param"]), (400, param), body)

    def test_paths_and_methods_that_are_not_served_say_so(self):
        for path, words in (("/v1/responses", "not built yet"), ("/api/chat", "Ollama"), ("/x", "openapi.json")):
            status, error = self.error({}, path)
            self.assertEqual(status, 404)
            self.assertIn(words, error["message"])
        self.assertEqual(self.error(None, "/v1/chat/completions", "GET")[0], 405)

    def test_tokens_and_templates_can_be_looked_at(self):
        text = "Grüße <|im_start|> \U0001F600"
        tokens = self.server.post("/tokenize", content=text)["tokens"]
        self.assertEqual(self.server.post("/detokenize", tokens=tokens)["content"], text)
        pieces = self.server.post("/tokenize", content="a b", with_pieces=True)["tokens"]
        self.assertEqual("".join(p["piece"] for p in pieces), "a b")
        prompt = self.server.post("/apply-template", messages=QUESTION)["prompt"]
        self.assertIn("What does `mount` do?<|im_end|>", prompt)
        cut = self.server.post("/apply-template", continue_final_message=True,
                               messages=QUESTION + [{"role": "assistant", "content": "It mounts"}])["prompt"]
        self.assertTrue(cut.endswith("It mounts"), cut[-40:])

    def test_every_answer_fits_the_document_of_the_api(self):
        document = self.server.get("/openapi.json")
        for path, entry in document["paths"].items():
            if "{" in path:
                continue
            for method in entry:
                status, _, _ = self.server.ask(method.upper(), path, b"{}" if method == "post" else None)
                self.assertNotIn(status, (404, 405), path)
                self.assertIn(str(status), entry[method]["responses"], path)
        for path in ("/v1/chat/completions", "/v1/completions"):
            schema = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
            start = {"messages": QUESTION} if "chat" in path else {"prompt": "a"}
            for name in schema["properties"]:  # known to the server too: another error than an unknown field's
                _, _, body = self.server.ask("POST", path, {**start, "max_tokens": 1, name: {"wrong": "type"}})
                self.assertNotIn("is not a field", json.dumps(json.loads(body).get("error", "")), name)

    def test_a_caller_who_leaves_frees_its_stream(self):
        for stream in (True, False):
            connection = self.server.connect()
            body = json.dumps({"messages": QUESTION, "max_tokens": 30000, "stream": stream, "logit_bias":
                               {"12264": -100, "12262": -100}})
            connection.request("POST", "/v1/chat/completions", body)
            if stream:
                connection.getresponse().read1(10)
            deadline = time.monotonic() + 20
            while self.server.get("/slots")["running"] == 0 and time.monotonic() < deadline:
                time.sleep(0.01)
            connection.sock.close() if connection.sock else None
            connection.close()
            while self.server.get("/slots")["running"] > 0:
                self.assertLess(time.monotonic(), deadline, "the stream was not freed")
                time.sleep(0.01)

    def test_a_request_is_cancelled_by_its_id(self):
        answers = []
        body = {"messages": QUESTION, "max_tokens": 30000, "logit_bias": {"12264": -100, "12262": -100}}
        thread = threading.Thread(target=lambda: answers.append(self.server.ask(
            "POST", "/v1/chat/completions", body, {"X-Request-Id": "mine.1"})))
        thread.start()
        deadline = time.monotonic() + 20
        while self.server.ask("DELETE", "/v1/requests/mine.1")[0] != 200:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        thread.join(20)
        status, headers, answer = answers[0]
        self.assertEqual((status, headers["x-request-id"]), (200, "mine.1"))
        self.assertEqual(json.loads(answer)["choices"][0]["finish_reason"], "cancelled")
        self.assertEqual(self.server.ask("DELETE", "/v1/requests/none")[0], 404)

    def test_metrics_count(self):
        before = self.counter("lockstep_reply_tokens_total")
        self.server.chat(max_tokens=7, temperature=0, logit_bias={"12264": -100, "12262": -100})
        self.assertEqual(self.counter("lockstep_reply_tokens_total") - before, 7)

    def counter(self, name):
        text = self.server.ask("GET", "/metrics")[2].decode()
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .*|\w+(\{[^{}]*\})? [0-9.e+-]+)$')
        found = re.search(rf"^{name} ([0-9.e+]+)$", text, re.M)
        return float(found.group(1)) if found else 0.0


class Wire(unittest.TestCase):
    """HTTP itself, by hand."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--max-body-mib", "1", "--max-header-kib", "8", "--read-seconds", "1", "--idle-seconds", "2",
                            "--cors-origin", "https://example.org")

    @classmethod
    def tearDownClass(cls):
        assert cls.server.close() == 0, cls.server.text()

    def talk(self, data, seconds=10):
        """All that comes back on one connection until the server closes it."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=seconds) as sock:
            sock.sendall(data)
            received = b""
            while True:
                try:
                    piece = sock.recv(65536)
                except ConnectionResetError:
                    return received
                if not piece:
                    return received
                received += piece

    def test_what_is_too_large_or_no_http_is_refused(self):
        for data, status in ((b"POST /tokenize HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n", 413),
                             (b"POST /tokenize HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"80000\r\n" +
                              b"x" * 0x80000 + b"\r\n80000\r\n" + b"x" * 0x80000 + b"\r\n10\r\n" + b"x" * 16 + b"\r\n", 413),
                             (b"GET /health HTTP/1.1\r\nX: " + b"y" * 9000 + b"\r\n\r\n", 431),
                             (b"nonsense\r\n\r\n", 400), (b"GET / HTTP/9.9\r\n\r\n", 400),
                             (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400)):
            answer = self.talk(data)
            self.assertTrue(answer.startswith(b"HTTP/1.1 %d " % status), (data[:60], answer[:200]))
            self.assertIn("message", json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"])

    def test_a_connection_serves_one_request_after_another(self):
        one = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
        last = b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        self.assertEqual(self.talk(one + one + last).count(b"HTTP/1.1 200 OK"), 3)  # pipelined
        self.assertEqual(self.talk(b"GET /health HTTP/1.0\r\n\r\n").count(b"HTTP/1.0 200 OK"), 1)

    def test_a_body_may_wait_for_leave_and_come_in_chunks(self):
        answer = self.talk(b"POST /tokenize HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 15\r\nConnection: close"
                           b"\r\n\r\n" + b'{"content":"a"}')
        self.assertTrue(answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"), answer)
        answer = self.talk(b"POST /tokenize HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                           b'5\r\n{"con\r\na\r\ntent":"a"}\r\n0\r\n\r\n')
        self.assertIn(b"200 OK", answer)

    def test_who_is_slow_or_silent_is_let_go(self):
        start = time.monotonic()
        self.talk(b"POST /tokenize HTTP/1.1\r\nContent-Length: 15\r\n\r\n{")
        self.talk(b"")
        self.assertLess(time.monotonic() - start, 9)

    def test_a_head_request_has_no_body(self):
        answer = self.talk(b"HEAD /health HTTP/1.1\r\nConnection: close\r\n\r\n")
        self.assertTrue(answer.endswith(b"\r\n\r\n") and b"200 OK" in answer, answer)

    def test_an_old_client_gets_a_stream_without_chunks(self):
        body = json.dumps({"prompt": "a", "max_tokens": 3, "stream": True}).encode()
        answer = self.talk(b"POST /v1/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        head, events = answer.split(b"\r\n\r\n", 1)
        self.assertNotIn(b"chunked", head.lower())
        self.assertTrue(events.startswith(b"data: {") and events.endswith(b"data: [DONE]\n\n"), events)

    def test_other_origins_are_let_in_where_they_are_named(self):
        status, headers, _ = self.server.ask("OPTIONS", "/v1/chat/completions")
        self.assertEqual((status, headers["access-control-allow-origin"]), (204, "https://example.org"))
        for origin, allowed in (("https://example.org", 200), ("https://example.com", 403), ("null", 403)):
            status, _, _ = self.server.ask("POST", "/tokenize", {"content": "a"}, {"Origin": origin})
            self.assertEqual(status, allowed, origin)

    def test_noise_does_not_end_the_server(self):
        noise = random.Random(3)
        for _ in range(200):
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=5) as sock:
                kind = noise.randrange(3)
                data = bytes(noise.randrange(256) for _ in range(noise.randrange(200)))
                if kind == 1:
                    data = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(data) + data
                if kind == 2:
                    data = b"GET /" + data + b" HTTP/1.1\r\n\r\n"
                sock.sendall(data)
        self.assertEqual(self.server.get("/health"), {"status": "ok"})


class Operations(unittest.TestCase):
    def test_keys_are_asked_for_and_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "keys"
            file.write_text("alpha\n")
            file.chmod(0o600)
            with Server("--api-key-file", str(file)) as server:
                key = lambda name: {"Authorization": f"Bearer {name}"}
                self.assertEqual(server.ask("GET", "/v1/models")[0], 401)
                self.assertEqual(server.ask("GET", "/v1/models", headers=key("beta"))[0], 401)
                self.assertEqual(server.ask("GET", "/v1/models", headers=key("alpha"))[0], 200)
                self.assertEqual(server.ask("GET", "/health")[0], 200)
                file.write_text("beta\n")
                server.process.send_signal(signal.SIGHUP)
                deadline = time.monotonic() + 10
                while server.ask("GET", "/v1/models", headers=key("beta"))[0] != 200:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.02)
                self.assertEqual(server.ask("GET", "/v1/models", headers=key("alpha"))[0], 401)
                for secret in ("alpha", "beta"):
                    self.assertNotIn(secret, server.text())
            file.chmod(0o644)
            refused = subprocess.run([PROGRAM, "serve", "tiny", "--api-key-file", str(file)], capture_output=True,
                                     cwd=SOURCE, text=True)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("chmod 600", refused.stderr)

    def test_callers_with_different_keys_share_nothing(self):
        long = [{"role": "user", "content": "Repeat: " + "one two three " * 40}]
        with Server("--api-key", "alpha", "--api-key", "beta") as server:
            cached = []
            for name in ("alpha", "beta", "beta"):
                answer = server.ask("POST", "/v1/chat/completions", {"messages": long, "max_tokens": 2},
                                    {"Authorization": f"Bearer {name}"})[2]
                cached.append(json.loads(answer)["usage"]["prompt_tokens_details"]["cached_tokens"])
            self.assertEqual(cached[:2], [0, 0])
            self.assertGreater(cached[2], 0)

    def test_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            names = [f"{folder}/{name}.pem" for name in ("cert", "key")]
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-keyout", names[1], "-out", names[0], "-days", "2", "-subj", "/CN=localhost"], check=True,
                           capture_output=True)
            with Server("--tls-cert", names[0], "--tls-key", names[1]) as server:
                self.assertTrue(server.tls)
                whole_answer = server.post("/v1/completions", prompt="a", max_tokens=4, temperature=0)
                events = server.stream("/v1/completions", prompt="a", max_tokens=4, temperature=0)
                self.assertEqual("".join(c["text"] for e in events for c in e["choices"]),
                                 whole_answer["choices"][0]["text"])
                with socket.create_connection(("127.0.0.1", server.port)) as plain:  # no TLS, no answer
                    plain.sendall(b"GET /health HTTP/1.1\r\n\r\n")
                    self.assertNotIn(b"200", plain.recv(1000))
            bad = subprocess.run([PROGRAM, "serve", "tiny", "--tls-cert", names[1], "--tls-key", names[0]],
                                 capture_output=True, cwd=SOURCE, text=True)
            self.assertEqual(bad.returncode, 1)
            self.assertIn("certificate", bad.stderr)

    def test_a_full_queue_says_come_again(self):
        endless = {"messages": QUESTION, "max_tokens": 30000, "stream": True, "logit_bias": {"12264": -100, "12262": -100}}
        with Server("--parallel", "1", "--queue", "0") as server:
            connection = server.connect()
            connection.request("POST", "/v1/chat/completions", json.dumps(endless))
            response = connection.getresponse()
            response.read1(10)
            status, headers, body = server.ask("POST", "/v1/chat/completions", {"messages": QUESTION})
            self.assertEqual((status, headers["retry-after"]), (429, "1"))
            self.assertEqual(json.loads(body)["error"]["code"], "queue_full")
            response.close()
            connection.close()

    def test_a_signal_lets_replies_end_and_a_second_one_does_not(self):
        endless = {"messages": QUESTION, "max_tokens": 2000, "stream": True, "logit_bias": {"12264": -100, "12262": -100}}
        server = Server()
        connection = server.connect()
        connection.request("POST", "/v1/chat/completions", json.dumps(endless))
        response = connection.getresponse()
        first = response.read1(10)
        server.process.send_signal(signal.SIGTERM)
        rest = first + response.read()
        self.assertTrue(rest.endswith(b"data: [DONE]\n\n"), rest[-200:])
        self.assertEqual(server.process.wait(20), 0)

        server = Server()
        connection = server.connect()
        connection.request("POST", "/v1/chat/completions", json.dumps({**endless, "max_tokens": 32000}))
        response = connection.getresponse()
        response.read1(10)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        self.assertIsNone(server.process.poll())
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(20), 0)

    def test_a_port_that_is_taken_is_named(self):
        with Server() as server:
            second = subprocess.run([PROGRAM, "serve", "tiny", "--port", str(server.port)], capture_output=True,
                                    cwd=SOURCE, text=True)
            self.assertEqual(second.returncode, 1)
            self.assertIn(str(server.port), second.stderr)

    def test_many_callers_at_once_each_get_their_own_answer(self):
        """Every answer under load equals the one that the same request got alone."""
        words = ["mount", "ls", "tar", "grep", "sort", "kill", "chmod", "find"]
        requests = []
        for i, word in enumerate(words):
            messages = [{"role": "user", "content": f"What does `{word}` do?"}]
            requests.append(("/v1/chat/completions", {"messages": messages, "temperature": i % 2, "seed": i,
                                                      "max_tokens": 10 + 7 * i, "n": 1 + i % 3}))
            requests.append(("/v1/completions", {"prompt": f"{word} is " * (1 + 20 * (i % 3)), "temperature": 0.8,
                                                 "seed": 100 + i, "max_tokens": 12, "top_k": 30}))

        def text_of(answer):
            return [choice.get("text") or choice["message"] for choice in answer["choices"]]

        with Server("--parallel", "6", "--queue", "1000") as server:
            alone = [text_of(server.post(path, **body)) for path, body in requests]
            end = time.monotonic() + LOAD_SECONDS
            faults, counts = [], [0] * 64

            def call(number):
                chance = random.Random(number)
                while (time.monotonic() < end or counts[number] == 0) and not faults:
                    which = chance.randrange(len(requests))
                    path, body = requests[which]
                    try:
                        if chance.random() < 0.15:  # leave early
                            connection = server.connect()
                            connection.request("POST", path, json.dumps({**body, "stream": True}))
                            if chance.random() < 0.5:
                                connection.getresponse().read1(10)
                            connection.close()
                            continue
                        got = text_of(server.post(path, **body))
                        counts[number] += 1
                        if got != alone[which]:
                            faults.append((body, got, alone[which]))
                    except Exception as error:  # noqa: BLE001: any failure is a fault of the run
                        faults.append((body, repr(error)))

            threads = [threading.Thread(target=call, args=(i,)) for i in range(64)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(faults, [])
            deadline = time.monotonic() + 20
            while server.get("/slots")["running"] + server.get("/slots")["waiting"] > 0:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            print(f"{sum(counts)} answers in {LOAD_SECONDS:.0f} s, each as it was alone", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
