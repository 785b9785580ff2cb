"""Chat templates with the behaviour of Qwen3.5, 3.6 and 3.8, and conversations to render with them.

The templates are our own, written from the description in the model specification; short sentences
stand where a checkpoint has its own instructions. For make_template_cases.py.
"""
import itertools

MEDIA = """            {%- @IF@ @TEST@ or part.type == '@KIND@' %}
                {%- if in_system %}
                    {{- raise_exception('A system message has no @KIND@s.') }}
                {%- endif %}
                {%- if number_media %}
                    {%- set @KIND@s.seen = @KIND@s.seen + 1 %}
                {%- endif %}
                {%- if add_vision_id %}
                    {{- '@LABEL@ ' ~ @KIND@s.seen ~ ': ' }}
                {%- endif %}
                {{- '<|vision_start|><|@KIND@_pad|><|vision_end|>' }}
"""


def media(word, kind, label, test):
    text = MEDIA.replace("@IF@", word).replace("@TEST@", test)
    return text.replace("@KIND@", kind).replace("@LABEL@", label)


CONTENT_MACRO = """{%- set images = namespace(seen=0) %}
{%- set videos = namespace(seen=0) %}
{%- macro show(content, number_media=false, in_system=false) %}
    {%- if content is string %}
        {{- content }}
    {%- elif content is none or content is undefined %}
        {{- '' }}
    {%- elif content is iterable and content is not mapping %}
        {%- for part in content %}
""" + media("if", "image", "Picture", "'image' in part or 'image_url' in part") + media(
    "elif", "video", "Video", "'video' in part") + """            {%- elif 'text' in part %}
                {{- part.text }}
            {%- else %}
                {{- raise_exception('A part of the content is of no known kind.') }}
            {%- endif %}
        {%- endfor %}
    {%- else %}
        {{- raise_exception('The content is of no known kind.') }}
    {%- endif %}
{%- endmacro %}
{%- if not messages %}
    {{- raise_exception('There are no messages.') }}
{%- endif %}
"""

TOOL_LIST = """    {{- "# Tools\\n\\nYou have access to the following functions:\\n\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>" }}
    {{- '\\n\\nCall them so:\\n<tool_call>\\n<function=name>\\n</function>\\n</tool_call>' }}
"""

SYSTEM_35 = """{%- if tools and tools is iterable and tools is not mapping %}
    {{- '<|im_start|>system\\n' }}
""" + TOOL_LIST + """    {%- if messages[0].role == 'system' %}
        {%- set content = show(messages[0].content, false, true) | trim %}
        {%- if content %}
            {{- '\\n\\n' + content }}
        {%- endif %}
    {%- endif %}
    {{- '<|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
    {%- set content = show(messages[0].content, false, true) | trim %}
    {{- '<|im_start|>system\\n' + content + '<|im_end|>\\n' }}
{%- endif %}
"""

SYSTEM_38 = """{%- set effort = '' %}
{%- if enable_thinking is undefined or enable_thinking is true %}
    {%- set wanted = reasoning_effort | default('xhigh') %}
    {%- if wanted == 'xhigh' %}
        {%- set effort = 'Think with great care.' %}
    {%- elif wanted == 'low' %}
        {%- set effort = 'Think briefly.' %}
    {%- elif wanted != 'medium' %}
        {{- raise_exception('reasoning_effort must be xhigh, medium or low, not ' ~ wanted) }}
    {%- endif %}
{%- endif %}
{%- set content = '' %}
{%- if messages[0].role == 'system' %}
    {%- set content = show(messages[0].content, false, true) | trim %}
{%- endif %}
{%- if tools and tools is iterable and tools is not mapping %}
    {{- '<|im_start|>system\\n' }}
    {%- if effort %}
        {{- effort + '\\n\\n' }}
    {%- endif %}
""" + TOOL_LIST + """    {%- if content %}
        {{- '\\n\\n' + content }}
    {%- endif %}
    {{- '<|im_end|>\\n' }}
{%- elif effort or content %}
    {{- '<|im_start|>system\\n' + effort }}
    {%- if effort and content %}
        {{- '\\n\\n' }}
    {%- endif %}
    {{- content + '<|im_end|>\\n' }}
{%- endif %}
"""

LAST_QUERY = """{%- set query = namespace(wanted=true, index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if query.wanted and message.role == "user" %}
        {%- set content = show(message.content) | trim %}
        {%- if not (content.startswith('<tool_response>') and content.endswith('</tool_response>')) %}
            {%- set query.wanted = false %}
            {%- set query.index = index %}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if query.wanted %}
    {{- raise_exception('There is no user message.') }}
{%- endif %}
"""

SPLIT_THINKING = """            {%- if '</think>' in content %}
                {%- set reasoning = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
"""

MESSAGES = """{%- for message in messages %}
    {%- set content = show(message.content, true) | trim %}
    {%- if message.role == "system" %}
        {%- if not loop.first %}
            {{- raise_exception('The system message must come first.') }}
        {%- endif %}
    {%- elif message.role == "user" %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning = message.reasoning_content %}
        {%- else %}
@SPLIT@        {%- endif %}
        {%- set reasoning = reasoning | trim %}
        {%- if @KEEP@ %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning + '\\n</think>\\n\\n' + content }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls and message.tool_calls is iterable and message.tool_calls is not mapping %}
            {%- for tool_call in message.tool_calls %}
                {%- if tool_call.function is defined %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {%- if loop.first %}
                    {%- if content | trim %}
                        {{- '\\n\\n' }}
                    {%- endif %}
                {%- else %}
                    {{- '\\n' }}
                {%- endif %}
                {{- '<tool_call>\\n<function=' + tool_call.name + '>\\n' }}
                {%- if @HAS_ARGUMENTS@ %}
                    {%- for name, value in tool_call.arguments|items %}
                        {{- '<parameter=' + name + '>\\n' }}
                        {%- set value = @VALUE@ %}
                        {{- value }}
                        {{- '\\n</parameter>\\n' }}
                    {%- endfor %}
                {%- endif %}
                {{- '</function>\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.previtem and loop.previtem.role != "tool" %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- content }}
        {{- '\\n</tool_response>' }}
        {%- if not loop.last and loop.nextitem.role != "tool" %}
            {{- '<|im_end|>\\n' }}
        {%- elif loop.last %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- else %}
        {{- raise_exception('The role is not known.') }}
    {%- endif %}
{%- endfor %}
"""

PROMPT_THINKING = """{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- else %}
        {{- '<think>\\n' }}
    {%- endif %}
{%- endif %}"""

PROMPT_PLAIN = """{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is true %}
        {{- '<think>\\n' }}
    {%- else %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""

AFTER_QUERY = "loop.index0 > query.index"
STR_VALUE = ("value | tojson | safe if value is mapping or (value is sequence and value is not string)"
             " else value | string")


def assemble(system, split, keep, has_arguments, value, prompt):
    body = MESSAGES.replace("@SPLIT@", split).replace("@KEEP@", keep)
    body = body.replace("@HAS_ARGUMENTS@", has_arguments).replace("@VALUE@", value)
    return CONTENT_MACRO + system + LAST_QUERY + body + prompt


TEMPLATES = {
    "3.5": assemble(SYSTEM_35, SPLIT_THINKING, AFTER_QUERY, "tool_call.arguments is defined",
                    STR_VALUE, PROMPT_THINKING),
    "3.5 plain": assemble(SYSTEM_35, SPLIT_THINKING, AFTER_QUERY, "tool_call.arguments is defined",
                          STR_VALUE, PROMPT_PLAIN),
    "3.6": assemble(SYSTEM_35, SPLIT_THINKING,
                    "(preserve_thinking is defined and preserve_thinking is true) or " + AFTER_QUERY,
                    "tool_call.arguments is defined", STR_VALUE, PROMPT_THINKING),
    "3.8": assemble(SYSTEM_38, "", "(preserve_thinking is undefined or preserve_thinking is true) or "
                    + AFTER_QUERY, "tool_call.arguments is defined and tool_call.arguments != ''",
                    "value if value is string else value | tojson", PROMPT_THINKING),
}

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Weather of a city: <now> & \"soon\"",
    "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "enum": ["Oslo", "Zürich", "東京"]},
        "days": {"type": "integer", "minimum": 1, "default": 1.0}}, "required": ["city"]}}}
NOW = {"type": "function", "function": {"name": "now", "parameters": {}}}


def call(name, arguments, wrapped=True):
    inner = {"name": name, "arguments": arguments}
    return {"type": "function", "id": "c1", "function": inner} if wrapped else inner


def message(role, content, **more):
    return {"role": role, "content": content} | more


IMAGE = {"type": "image"}
TOOL_ROUND = [
    message("user", "Weather?"),
    message("assistant", "Checking.", reasoning_content="need tool", tool_calls=[
        call("get_weather", {"city": "Oslo", "days": 2, "hourly": True, "tags": ["a", "b"],
                             "n": None}), call("now", {})]),
    message("tool", '{"t": 3}'), message("tool", "12:00"),
]
SPEC_HISTORY = [message("system", "S"), message("user", "a"),
                message("assistant", "<think>\nr\n</think>\n\nb"),
                message("user", [IMAGE, {"type": "text", "text": "c"}])]

CONVERSATIONS = [
    [],
    [message("user", " Weather in Oslo? ")],
    [message("user", "")],
    [message("system", ""), message("user", "x")],
    [message("system", "  Be brief.\n"), message("user", "Grüße, 世界 🙂\u00a0")],
    SPEC_HISTORY,
    TOOL_ROUND,
    TOOL_ROUND + [message("assistant", "Three degrees.", reasoning_content="easy")],
    TOOL_ROUND + [message("assistant", "Three degrees."), message("user", "Thanks")],
    [message("user", "a"), message("assistant", "b", reasoning_content="\n why \n"),
     message("user", "c"), message("assistant", "d", reasoning_content=None)],
    [message("user", "a"), message("assistant", "one</think>two</think>\n\nthree")],
    [message("user", "a"), message("assistant", "x<think>y<think>z\n\n</think>w")],
    [message("user", "a"), message("assistant", None, tool_calls=[call("now", {})])],
    [message("user", "a"), message("assistant", "", tool_calls=[
        call("f", {"s": "two\nlines", "t": "<x> & 'y'", "f": 1.5, "big": 1e20, "o": {"k": [1, {}]},
                   "e": [], "neg": -3, "u": "é\u2028"}, wrapped=False)])],
    [message("user", "a"), message("assistant", "t", tool_calls=[call("f", "")])],
    [message("user", "a"), message("assistant", "t", tool_calls=[call("f", '{"a": 1}')])],
    [message("user", "a"), message("assistant", "t", tool_calls=[{"function": {"name": "f"}}])],
    [message("user", "a"), message("assistant", "t", tool_calls=[])],
    [message("user", [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])],
    [message("user", [{"type": "image_url", "image_url": {"url": "u"}}, {"video": "v"},
                      {"type": "text", "text": "what"}]), message("assistant", "that"),
     message("user", [IMAGE, {"type": "video"}])],
    [message("user", [{"type": "audio"}])],
    [message("user", 5)],
    [message("user", {"text": "x"})],
    [message("system", [{"type": "text", "text": "sys"}]), message("user", "x")],
    [message("system", [IMAGE]), message("user", "x")],
    [message("user", "x"), message("system", "late")],
    [message("system", "a"), message("system", "b"), message("user", "x")],
    [message("system", "only")],
    [message("assistant", "hello")],
    [message("tool", "early"), message("user", "x")],
    [message("user", "x"), message("tool", "r"), message("user", "y"), message("tool", "s")],
    [message("user", "<tool_response>\nr\n</tool_response>")],
    [message("user", "q"), message("assistant", "c", reasoning_content="r"),
     message("user", " <tool_response>\nr\n</tool_response>\n"), message("assistant", "d")],
    [message("developer", "x"), message("user", "y")],
    [{"role": "user"}],
    [{"content": "x"}],
]

FLAGS = [
    {"add_generation_prompt": True},
    {"add_generation_prompt": True, "enable_thinking": False},
    {"add_generation_prompt": True, "enable_thinking": True, "preserve_thinking": True},
    {"add_generation_prompt": False, "preserve_thinking": False, "add_vision_id": True},
]
TOOLS = [None, [WEATHER, NOW]]
EFFORTS = [{"reasoning_effort": effort} for effort in ("xhigh", "medium", "low", "high", None)]


def variables(messages, flags, tools):
    return {"messages": messages, "tools": tools, "documents": None} | flags


def cases():
    """Pairs of a template's name and the variables to render it with."""
    names = [*TEMPLATES, "embedded"]
    for index, (name, messages) in enumerate(itertools.product(names, CONVERSATIONS)):
        for shift in (0, 1):
            flags = FLAGS[(index + shift) % len(FLAGS)]
            yield name, variables(messages, flags, TOOLS[(index // 4 + shift) % 2])
    for effort, flags, tools in itertools.product(EFFORTS, FLAGS[:3], TOOLS):
        for messages in (CONVERSATIONS[1], SPEC_HISTORY):
            yield "3.8", variables(messages, flags | effort, tools)


TOOL_TAIL = (
    "<think>\nneed tool\n</think>\n\nChecking.\n\n<tool_call>\n<function=get_weather>\n"
    "<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n2\n</parameter>\n<parameter=hourly>\n"
    "true\n</parameter>\n<parameter=tags>\n[\"a\", \"b\"]\n</parameter>\n<parameter=n>\nnull\n"
    "</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>"
    "<|im_end|>\n<|im_start|>user\n<tool_response>\n{\"t\": 3}\n</tool_response>\n<tool_response>\n"
    "12:00\n</tool_response><|im_end|>\n<|im_start|>assistant\n<think>\n")


def check_known_renderings(render):
    """The renderings that the model specification lists, by its own templates' description."""
    prompt = {"add_generation_prompt": True}
    image = "<|vision_start|><|image_pad|><|vision_end|>"
    tail = f"<|im_start|>user\n{image}c<|im_end|>\n<|im_start|>assistant\n<think>\n"
    assert render("3.5", variables(SPEC_HISTORY, prompt, None)) == (
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb"
        "<|im_end|>\n" + tail)
    assert render("3.8", variables(SPEC_HISTORY, prompt | {"reasoning_effort": "low"}, None)) == (
        "<|im_start|>system\nThink briefly.\n\nS<|im_end|>\n<|im_start|>user\na<|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\n<think>\nr\n</think>\n\nb<|im_end|>\n" + tail)
    question = variables(CONVERSATIONS[1], prompt | {"reasoning_effort": "medium"}, None)
    head = "<|im_start|>user\nWeather in Oslo?<|im_end|>\n<|im_start|>assistant\n<think>\n"
    assert render("3.8", question) == head
    off = variables(CONVERSATIONS[1], prompt | {"enable_thinking": False}, None)
    assert render("3.8", off) == head + "\n</think>\n\n"
    rounds = variables(TOOL_ROUND, prompt, [WEATHER, NOW])
    assert render("3.8", rounds).endswith("<|im_start|>assistant\n" + TOOL_TAIL)
    python_spelling = TOOL_TAIL.replace("\ntrue\n", "\nTrue\n").replace("\nnull\n", "\nNone\n")
    assert render("3.5", rounds).endswith("<|im_start|>assistant\n" + python_spelling)
    assert render("3.6", rounds).endswith("<|im_start|>assistant\n" + python_spelling)
