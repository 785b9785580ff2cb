#!/usr/bin/env python3
"""Writes src/text/jinja/template_cases.json: templates, variables, and what Python makes of them.

Each case is [template, variables, output]; the output is null where Python raises. A template is its
text, or {"source": NAME} for one of "templates"; variables are an object, or the name of one of
"contexts". The oracle is transformers' own compile function; versions are recorded in the file.
Needs: pip install transformers jinja2 (no torch).
"""
import copy
import importlib.metadata
import json
import os
import pathlib
import platform
import random

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import jinja2.nodes  # noqa: E402
from transformers.utils.chat_template_utils import _compile_jinja_template  # noqa: E402

import template_chats  # noqa: E402
import template_grammar  # noqa: E402
import template_small  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "src/text/jinja/template_cases.json"
RANDOM_CASES = 3000
SEED = 20261129
LIMIT = 1 << 63


def render(source, variables):
    """The output, or None where Python raises, or could not write the output as UTF-8."""
    try:
        # A copy, because indent extends a list that it is given.
        output = _compile_jinja_template(source).render(**copy.deepcopy(variables))
        output.encode()
        return output
    except Exception:  # noqa: BLE001: every failure counts alike
        return None


def render_unfolded(source, variables):
    """As render(), but subscripts of constants are computed when they are reached, like others.

    Folding them beforehand makes the slice of a number undefined where it otherwise raises.
    """
    fold = jinja2.nodes.Getitem.as_const

    def refuse(*_):
        raise jinja2.nodes.Impossible

    jinja2.nodes.Getitem.as_const = refuse
    # A comment makes it another text for the cache of compiled templates.
    output = render(source.removesuffix("\n") + "{# unfolded #}", variables)
    jinja2.nodes.Getitem.as_const = fold
    return output


def comparable(output):
    """False for what depends on the run or on integers that we refuse."""
    if output is None:
        return True
    if " at 0x" in output or "<function" in output or "<class" in output or "built-in" in output:
        return False
    if "Macro" in output or "LoopContext" in output or len(output) > 2000:
        return False
    digits = ""
    for c in output + " ":
        if c.isdigit():
            digits += c
        else:
            if len(digits) > 18 and int(digits) >= LIMIT:
                return False
            digits = ""
    return True


def small_cases():
    for source in template_small.TEMPLATES:
        output = render(source, template_small.CONTEXT)
        assert comparable(output), (source, output)
        yield [source, "small", output]


def random_cases():
    generator = template_grammar.Generator(random.Random(SEED))
    seen = set()
    failed = 0
    while len(seen) < RANDOM_CASES:
        source = generator.template()
        output = render(source, template_small.CONTEXT)
        if source in seen or not comparable(output):
            continue
        if output != render_unfolded(source, template_small.CONTEXT):
            continue
        # At most a third of the cases may be errors.
        if output is None and failed * 3 > len(seen):
            continue
        failed += output is None
        seen.add(source)
        yield [source, "small", output]


def chat_cases(templates):
    for name, variables in template_chats.cases():
        output = render(templates[name], variables)
        yield [{"source": name}, variables, output]


def main():
    templates = dict(template_chats.TEMPLATES)
    embedded = ROOT / "models/tiny-dense-mlx-4bit/chat_template.jinja"
    templates["embedded"] = embedded.read_text(encoding="utf-8")
    template_chats.check_known_renderings(lambda name, v: render(templates[name], v))
    result = {
        "tools": {name: importlib.metadata.version(name) for name in ("jinja2", "transformers")}
        | {"python": platform.python_version()},
        "templates": templates,
        "contexts": {"small": template_small.CONTEXT},
        "small": list(small_cases()),
        "random": list(random_cases()),
        "chats": list(chat_cases(templates)),
    }
    lines = []
    for key, value in result.items():
        if isinstance(value, list):
            items = ",\n".join(json.dumps(item, ensure_ascii=False) for item in value)
            lines.append(f"{json.dumps(key)}: [\n{items}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    for key in ("small", "random", "chats"):
        errors = sum(case[2] is None for case in result[key])
        print(f"{key}: {len(result[key])} cases, {errors} of them errors")
    print(f"{OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
