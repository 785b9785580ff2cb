"""Random templates over the variables of template_small.CONTEXT, for make_template_cases.py."""

NAMES = ["n", "z", "neg", "f", "s", "u", "e", "t", "no", "l", "m", "d", "deep", "words", "missing"]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in",
          "and", "or", "**"]
FILTERS = ["trim", "length", "tojson", "items|list", "string", "safe", "default('D')",
           "d('D', true)", "upper", "lower", "title", "capitalize", "first", "last", "list",
           "join(',')", "join", "reverse|list", "sort", "sort(reverse=true)", "unique|list",
           "min", "max", "sum", "abs", "int", "float", "round", "round(1)", "replace('a', 'X')",
           "replace('a', 'X', 1)", "indent", "indent(2, true)", "map('upper')|list",
           "map(attribute='a')|list", "map('string')|join('-')", "select|list", "reject|list",
           "select('string')|list", "rejectattr('a')|list", "selectattr('a', 'defined')|list",
           "batch(2)|list", "slice(2)|list", "tojson(indent=1)", "dictsort", "truncate(5)",
           "wordcount", "center(9)", "escape", "count", "trim('ab')", "tojson(sort_keys=true)",
           "int(7)", "float(1.5)", "format(1)", "e"]
TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean",
         "mapping", "sequence", "iterable", "true", "false", "odd", "even", "divisibleby(3)",
         "divisibleby 2", "eq 3", "in [1, 2, 'a']", "lower", "upper", "sameas none", "gt(1)",
         "escaped", "callable", "equalto('abc')", "ne none", "filter", "test"]
METHODS = ["strip()", "lstrip()", "rstrip('!')", "upper()", "lower()", "title()", "capitalize()",
           "split()", "split('a')", "split(' ', 1)", "rsplit('a', 1)", "splitlines()",
           "startswith('a')", "endswith(('b', ' '))", "find('b')", "rfind('l')", "count('l')",
           "replace('l', 'LL')", "join(['x', 'y'])", "items()", "keys()|list", "values()|list",
           "get('a')", "get('zz', 5)", "index('a')", "isdigit()", "isalpha()", "islower()",
           "isupper()", "isspace()", "isalnum()", "partition('l')", "rpartition('a')", "zfill(6)",
           "ljust(5, '.')", "rjust(6)", "center(8, '*')", "removeprefix('a')", "removesuffix('c')",
           "swapcase()", "append(1)", "pop()", "format(1, 2)", "copy()", "nothing()", "a", "name",
           "find('a', 1)", "count('a', 0, 2)", "startswith('b', 1)"]
LITERALS = ["0", "1", "-1", "2", "3", "7", "10", "1.5", "2.0", "-0.5", "1e3", "''", "'abc'",
            "'a b'", "\"it's\"", "'é'", "'\\n'", "true", "false", "none", "[]", "{}", "()",
            "[1, 2, 3]", "['a', 'b']", "{'a': 1, 'b': [1]}", "(1,)", "(1, 'x')", "range(3)",
            "[[1, 'a'], [2, 'b']]"]


class Generator:
    def __init__(self, rng):
        self.rng = rng

    def template(self):
        count = self.rng.choice([1, 1, 1, 2, 3])
        return "".join(self.part(2) for _ in range(count))

    # Expressions.
    def expression(self, depth):
        pick = self.rng.random()
        if depth <= 0 or pick < 0.2:
            return self.rng.choice(NAMES if self.rng.random() < 0.6 else LITERALS)
        inner = lambda: self.expression(depth - 1)  # noqa: E731
        if pick < 0.4:
            return f"{inner()} {self.rng.choice(BINARY)} {inner()}"
        if pick < 0.58:
            return f"{self.operand(depth)}|{self.rng.choice(FILTERS)}"
        if pick < 0.68:
            negation = self.rng.choice(["", "", "not "])
            return f"{self.operand(depth)} is {negation}{self.rng.choice(TESTS)}"
        if pick < 0.80:
            return f"{self.operand(depth)}.{self.rng.choice(METHODS)}"
        if pick < 0.90:
            return f"{self.operand(depth)}[{self.subscript(depth)}]"
        if pick < 0.94:
            return f"({inner()} if {inner()} else {inner()})"
        if pick < 0.96:
            return f"(not {inner()})"
        return f"[{inner()}, {inner()}]"

    def operand(self, depth):
        text = self.expression(depth - 1)
        return text if text.isidentifier() else f"({text})"

    def subscript(self, depth):
        number = lambda: self.rng.choice(["", "0", "1", "-1", "2", "-2", "5", "n"])  # noqa: E731
        pick = self.rng.random()
        if pick < 0.3:
            return self.rng.choice(["0", "1", "-1", "'a'", "'b'", "99", "-9", "true", "none"])
        if pick < 0.5:
            return "::-1"
        if pick < 0.7:
            return f"{number()}:{number()}"
        if pick < 0.85:
            return f"{number()}:{number()}:{self.rng.choice(['2', '-1', '-2', '3', '0'])}"
        return self.expression(depth - 1)

    # Statements, with every kind of space around the tags.
    def tag(self, text):
        left = self.rng.choice(["{%", "{%", "{%-", "{%+"])
        right = self.rng.choice(["%}", "%}", "-%}", "+%}"])
        return f"{left} {text} {right}"

    def output(self, text):
        left = self.rng.choice(["{{", "{{", "{{-"])
        right = self.rng.choice(["}}", "}}", "-}}"])
        return f"{left} {text} {right}"

    def space(self):
        return self.rng.choice(["", "", " ", "\n", "  \n", "\n  ", " x ", "\n\n", "\t"])

    def part(self, depth):
        return self.space() + self.statement(depth) + self.space()

    def statement(self, depth):
        pick = self.rng.random()
        if depth <= 0 or pick < 0.5:
            return self.output(self.expression(3))
        if pick < 0.62:
            return self.conditional(depth)
        if pick < 0.80:
            return self.loop(depth)
        if pick < 0.88:
            return self.tag(f"set v = {self.expression(2)}") + self.output("v")
        if pick < 0.91:
            return (self.tag("set v") + self.part(depth - 1) + self.tag("endset")
                    + self.output("v|string|length"))
        if pick < 0.94:
            return (self.tag(f"macro f(a, b={self.expression(1)})") + self.part(depth - 1)
                    + self.output("[a, b]") + self.tag("endmacro")
                    + self.output(f"f({self.expression(1)})"))
        if pick < 0.96:
            return (self.tag("filter upper") + self.part(depth - 1) + self.tag("endfilter"))
        if pick < 0.98:
            return (self.tag(f"with w = {self.expression(1)}") + self.output("w") + self.tag("endwith"))
        return "{#" + self.rng.choice(["", "-", " c"]) + " c " + self.rng.choice(["#}", "-#}", "+#}"])

    def conditional(self, depth):
        text = self.tag(f"if {self.expression(2)}") + self.part(depth - 1)
        if self.rng.random() < 0.3:
            text += self.tag(f"elif {self.expression(2)}") + self.part(depth - 1)
        if self.rng.random() < 0.5:
            text += self.tag("else") + self.part(depth - 1)
        return text + self.tag("endif")

    def loop(self, depth):
        source = self.rng.choice(["l", "words", "range(4)", "d", "d.items()", "s", "m", "deep",
                                  "d|items", "[[1, 2], [3, 4]]", "words[::-1]", "missing"])
        target = self.rng.choice(["i", "i", "i", "i, j"])
        test = f" if {self.expression(2)}" if self.rng.random() < 0.2 else ""
        attribute = self.rng.choice(["index", "index0", "first", "last", "length", "revindex",
                                     "previtem", "nextitem", "revindex0", "depth",
                                     "changed(i)", "cycle('a', 'b')"])
        body = self.output(self.rng.choice(["i", f"loop.{attribute}", "i ~ loop.index"]))
        body += self.part(depth - 1)
        if self.rng.random() < 0.15:
            body = self.tag(f"if loop.index == {self.rng.choice('123')}") + self.tag(
                self.rng.choice(["break", "continue"])) + self.tag("endif") + body
        if self.rng.random() < 0.1:
            body += self.tag("set i = 5") + self.output("i")
        otherwise = self.tag("else") + "none" if self.rng.random() < 0.2 else ""
        return self.tag(f"for {target} in {source}{test}") + body + otherwise + self.tag("endfor")
