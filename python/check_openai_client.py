"""Asks `lockstep serve` by the official OpenAI client library: plain, streamed, with tools, as an agent does.

  python/check_openai_client.py PROGRAM      build/release/lockstep, say. Needs the package openai
"""
import json
import pathlib
import re
import subprocess
import sys
import time

import openai
from openai import OpenAI

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "Weather of a city", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]
QUESTION = [{"role": "user", "content": "What does `mount` do?"}]


def start(program):
    server = subprocess.Popen([program, "serve", "tiny", "--port", "0", "--api-key", "secret"], stderr=subprocess.PIPE,
                              text=True, cwd=SOURCE)
    for line in server.stderr:
        found = re.search(r"serving +(http://\S+)", line)
        if found:
            return server, found.group(1)
    raise SystemExit("the server did not start")


def check_answers(client):
    model = client.models.list().data[0].id
    whole = client.chat.completions.create(model=model, messages=QUESTION, temperature=0, seed=1)
    message = whole.choices[0].message
    assert message.content and whole.choices[0].finish_reason == "stop", whole
    assert message.reasoning_content and whole.usage.completion_tokens_details.reasoning_tokens > 0
    pieces, thinking, usage = [], [], None
    for chunk in client.chat.completions.create(model=model, messages=QUESTION, temperature=0, seed=1, stream=True,
                                                stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            pieces.append(choice.delta.content or "")
            thinking.append(getattr(choice.delta, "reasoning_content", None) or "")
    assert "".join(pieces) == message.content and "".join(thinking) == message.reasoning_content
    assert usage.total_tokens == whole.usage.total_tokens
    with client.chat.completions.stream(model=model, messages=QUESTION, temperature=0, seed=1) as stream:
        assert stream.get_final_completion().choices[0].message.content == message.content
    text = client.completions.create(model=model, prompt="mount is", max_tokens=8, temperature=0, logprobs=2)
    assert len(text.choices[0].logprobs.tokens) == 8
    logprobs = client.chat.completions.create(model=model, messages=QUESTION, max_tokens=4, logprobs=True, top_logprobs=2)
    assert len(logprobs.choices[0].logprobs.content) == 4
    own = client.chat.completions.create(model=model, messages=QUESTION, max_tokens=4,
                                         extra_body={"top_k": 1, "min_p": 0.1, "return_tokens": True})
    assert len(own.choices[0].token_ids) == 4


def check_agent(client):
    """A tool is called, its result is sent back, and the reply goes on."""
    messages = [{"role": "system", "content": "You help."}, {"role": "user", "content": "What is the weather in Oslo?"}]
    for seed in range(8):
        answer = client.chat.completions.create(model="tiny-dense-mlx-4bit", messages=messages, tools=TOOLS, seed=seed,
                                                temperature=0.5, max_tokens=200)
        calls = answer.choices[0].message.tool_calls or []
        if answer.choices[0].finish_reason == "tool_calls":
            break
    assert calls, "no tool was called in eight tries"
    for call in calls:
        assert isinstance(json.loads(call.function.arguments), dict)
    messages.append(answer.choices[0].message.model_dump(exclude_none=True))
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "12 degrees, rain"} for call in calls]
    after = client.chat.completions.create(model="tiny-dense-mlx-4bit", messages=messages, tools=TOOLS, max_tokens=60)
    assert after.choices[0].finish_reason in ("stop", "length", "tool_calls")
    assert after.usage.prompt_tokens_details.cached_tokens > 0
    names = []
    for event in client.chat.completions.create(model="tiny-dense-mlx-4bit", messages=messages[:2], tools=TOOLS, seed=seed,
                                                temperature=0.5, max_tokens=200, stream=True):
        for choice in event.choices:
            names += [call.function.name for call in choice.delta.tool_calls or [] if call.function.name]
    assert names == [call.function.name for call in calls]


def check_errors(client, url):
    for error, make in ((openai.NotFoundError, lambda: client.chat.completions.create(model="other", messages=QUESTION)),
                        (openai.BadRequestError, lambda: client.chat.completions.create(
                            model="tiny-dense-mlx-4bit", messages=QUESTION, response_format={"type": "json_object"})),
                        (openai.AuthenticationError, lambda: OpenAI(base_url=url, api_key="wrong").models.list()),
                        (openai.NotFoundError, lambda: client.embeddings.create(model="x", input="y"))):
        try:
            make()
        except error:
            continue
        raise AssertionError(f"no {error.__name__}")


def check_leaving(client):
    stream = client.chat.completions.create(model="tiny-dense-mlx-4bit", messages=QUESTION, stream=True, max_tokens=30000,
                                            logit_bias={"12264": -100, "12262": -100})
    next(iter(stream))
    stream.close()
    deadline = time.monotonic() + 10
    while client.get("/../slots", cast_to=object)["running"]:
        assert time.monotonic() < deadline, "the stream was not freed"
        time.sleep(0.02)


def main():
    server, url = start(str(pathlib.Path(sys.argv[1]).resolve()))
    try:
        client = OpenAI(base_url=url, api_key="secret", max_retries=0)
        check_answers(client)
        check_agent(client)
        check_errors(client, url)
        check_leaving(client)
        print(f"openai {openai.__version__}: plain, streamed, tools, errors and leaving are as they should be")
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    main()
