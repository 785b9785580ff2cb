#!/usr/bin/env python3
"""What HTTP, parsing and formatting cost beside the engine.

  bench/serve_bench.py PROGRAM [MODEL]      default: tiny

Prints, each against its goal:
- processor time of the threads that serve (not the engine's) a token of streams, and what that is of one core at
  500 tokens a second;
- how much later the first byte of a stream comes than the engine's first token;
- resident memory of 1,000 idle connections.
"""
import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")
BODY = {"messages": [{"role": "user", "content": "What does `mount` do?"}], "stream": True, "temperature": 0,
        "logit_bias": {"12264": -100, "12262": -100}}


def start(program, model):
    server = subprocess.Popen([program, "serve", model, "--port", "0", "--parallel", "8"], stderr=subprocess.PIPE,
                              text=True)
    for line in server.stderr:
        found = re.search(r"serving +http://[^:]+:(\d+)/", line)
        if found:
            threading.Thread(target=server.stderr.read, daemon=True).start()
            return server, int(found.group(1))
    raise SystemExit("the server did not start")


def serving_seconds(pid):
    """Processor time of the thread that reads and writes, and of those that make answers."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        if name == "http-worker" or task.name == str(pid):
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICK


def resident_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def stream(port, tokens):
    """Seconds to the first byte, and the whole answer's text."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    begin = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", json.dumps({**BODY, "max_tokens": tokens}))
    response = connection.getresponse()
    text = b""
    first = None
    while piece := response.read1(1 << 16):
        text += piece
        # The first chunk only opens the reply; the second holds its first token.
        if first is None and text.count(b"data: ") > 1:
            first = time.perf_counter() - begin
    connection.close()
    return first, text.decode()


def main():
    server, port = start(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "tiny")
    try:
        stream(port, 50)
        before = serving_seconds(server.pid)
        threads = [threading.Thread(target=stream, args=(port, 1000)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        a_token = (serving_seconds(server.pid) - before) / 8000
        print(f"serving: {a_token * 1e6:.1f} us of processor time a token in 8 streams; at 500 tokens/s "
              f"{a_token * 500:.2%} of one core (goal 2 %)")
        late = []
        for _ in range(50):
            first, text = stream(port, 2)
            chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
            timings = next(c["timings"] for chunk in chunks for c in chunk["choices"] if "timings" in c)
            late.append(first - timings["queue_seconds"] - timings["prompt_seconds"])
        print(f"first token: {statistics.median(late) * 1e3:.2f} ms after the engine drew it, median of 50 "
              f"(goal 2 ms)")
        before = resident_bytes(server.pid)
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(1000)]
        time.sleep(1)
        print(f"1,000 idle connections: {(resident_bytes(server.pid) - before) / 2**20:.1f} MiB (goal 50 MB)")
        for connection in idle:
            connection.close()
    finally:
        server.terminate()
        server.wait(60)


if __name__ == "__main__":
    main()
