#!/usr/bin/env python3
"""What drafting gains and costs: measure_drafting.py LOCKSTEP MODEL [--repeats N] [--tokens N] [--parallel N]

Twenty fixed prompts (prose, code, JSON, chat, tool calls), four of which ask for a copy of a text, each answered with
drafting on and off in turn, greedy and sampled, by one process. Prints for each prompt the seconds of prompt and reply with
drafting over those without, the median of the pairs, and how many drafts were right. Replies must be the same token for
token; one that is not ends the script with exit code 1.
"""
import argparse
import json
import statistics
import subprocess
import sys

TEXT = ("The harbour lay quiet under the rain. Two boats had come in before noon, and their crews sat in the shed and mended "
        "nets. Nobody spoke of the storm. The keeper lit the lamp early, wrote the hour into his book, and went down to count "
        "the ropes, because he had promised it to his father. ")
CODE = ("def moving_average(values, window):\n    total = 0.0\n    result = []\n    for index, value in enumerate(values):\n"
        "        total += value\n        if index >= window:\n            total -= values[index - window]\n"
        "        result.append(total / min(index + 1, window))\n    return result\n")
DATA = json.dumps([{"id": i, "name": f"item {i}", "tags": ["a", "b"], "price": 10 * i} for i in range(6)], indent=1)
TOOLS = ("You can call get_weather(city) and send_mail(to, subject). Answer with one call.\n<tool_call>\n<function=get_weather>\n"
         "<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>\n")

PROMPTS = {
    "prose 1": "Tell a short story about a lamp.", "prose 2": "Describe the sea in winter.",
    "prose 3": "Why do leaves fall?", "prose 4": "Write a letter to a friend about a journey.",
    "code 1": "Write a function that reverses a list.", "code 2": "What does this do?\n" + CODE,
    "code 3": "Write a shell loop over all files.", "code 4": "Explain a mutex with an example.",
    "json 1": "Give three cities as JSON.", "json 2": "Which of these costs most?\n" + DATA,
    "json 3": "Make a JSON object of a person.", "json 4": "Count the tags:\n" + DATA,
    "chat 1": "Hello!", "chat 2": "What does the ls command do?", "chat 3": "Thanks. And what is a pipe?",
    "tools 1": TOOLS + "What is the weather in Rome?",
    "copy prose": "Repeat this text word for word:\n" + 2 * TEXT + "\nThe text again:\n" + TEXT[:60],
    "copy code": "Repeat this code:\n" + 2 * CODE + "\nThe code again:\n" + CODE[:60],
    "copy json": "Repeat this JSON:\n" + 2 * DATA + "\nThe JSON again:\n" + DATA[:60],
    "copy calls": "Repeat the calls:\n" + 4 * TOOLS + "\nThe calls again:\n" + TOOLS[:60],
}


def lines_of(arguments):
    for repeat in range(arguments.repeats):
        for temperature in (0, 0.7):
            for name, prompt in PROMPTS.items():
                for draft in (True, False) if repeat % 2 == 0 else (False, True):
                    yield {"id": [name, temperature, repeat, draft], "prompt": prompt, "raw": name.startswith("copy"),
                           "max_tokens": arguments.tokens, "temperature": temperature, "seed": 7, "draft": draft}


def answers_of(arguments):
    command = [arguments.lockstep, "run", arguments.model, "--batch", "-", "--parallel", str(arguments.parallel)]
    text = "\n".join(json.dumps(line) for line in lines_of(arguments))
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return {tuple(answer["id"]): answer for answer in map(json.loads, done.stdout.splitlines())}


def seconds_of(answer):
    timings = answer["timings"]
    return timings["prompt_seconds"] + timings["reply_seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lockstep")
    parser.add_argument("model")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=120)
    parser.add_argument("--parallel", type=int, default=1)
    arguments = parser.parse_args()
    answers = answers_of(arguments)
    differ = 0
    print(f"{'prompt':12} {'temperature':>11} {'time with / without':>20} {'copies right':>14} {'head right':>14}")
    for temperature in (0, 0.7):
        for name in PROMPTS:
            pairs = [[answers[name, temperature, repeat, draft] for draft in (True, False)]
                     for repeat in range(arguments.repeats)]
            differ += sum(on["ids"] != off["ids"] for on, off in pairs)
            ratio = statistics.median(seconds_of(on) / seconds_of(off) for on, off in pairs)
            shares = []
            for drafter in ("copies", "head"):
                counts = [on["timings"]["drafts"][drafter] for on, _ in pairs]
                offered, right = (sum(sum(count[key]) for count in counts) for key in ("offered", "accepted"))
                shares.append(f"{right} of {offered}")
            print(f"{name:12} {temperature:11} {ratio:20.3f} {shares[0]:>14} {shares[1]:>14}")
    print(f"{differ} replies differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
