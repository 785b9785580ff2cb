"""Small templates, one subject each, and the variables that they see. For make_template_cases.py."""

CONTEXT = {
    "n": 3, "z": 0, "neg": -7, "f": 2.5, "s": "abc", "u": "héllo Wörld ß", "e": "", "t": True,
    "no": None, "l": [1, 2.5, "a", None, True], "m": [{"a": "x", "b": 2}, {"a": "Y", "b": 1}, {"b": 3}],
    "d": {"b": 1, "a": [1, {"k": "v"}], "name": "N", "items": "hidden"},
    "deep": [[1, [2]], [3]], "words": ["b", "A", "c", "a b"],
}

EXPRESSIONS = r"""
1
1.0
1e5
1e16
1e-5
0.1 + 0.2
100000000000000000000.0
1_000
0x1f + 0b11 + 0o17
-3
- 3
-n
+n
+true
not n
not not n
1 + 2 * 3
(1 + 2) * 3
2 ** 10
2 ** 3 ** 2
-2 ** 2
2 ** -1
2 ** 0.5
7 / 2
6 / 2
7 // 2
-7 // 2
7 // -2
-7 % 3
7 % -3
7.5 // 2
-7.5 % 2
1 / 0
1 // 0
1 % 0
1.0 / 0
0.0 ** -1
true + true
'a' + 'b'
'a' + 1
1 + 'a'
'a' * 3
3 * 'ab'
'a' * -1
'a' * 2.0
[1] * 2
[1] + [2]
(1,) + (2,)
[1] + (2,)
'a' ~ 1 ~ none ~ true ~ 1.5
'a' ~ missing ~ 'b'
1 ~ 2 + 3
1 + 2 ~ 3
'%s-%s' % (1, 'x')
'%d' % 3.9
'%5.2f|%-5d|%05d' % (3.14159, 42, 42)
'%s' % 'x'
'%(a)s' % {'a': 1}
'%x %X %o %c %%' % (255, 255, 8, 'z')
'%r' % 'q'
'%e %g' % (12345.678, 0.00001)
'%s' % (1, 2)
'%s %s' % 1
'abc' % 1
'%+d % d' % (5, 5)
'%.2s' % 'abcdef'
1 == 1.0
1 == true
'1' == 1
none == none
[1, 2] == [1, 2]
[1] == (1,)
{'a': 1} == {'a': 1.0}
{'a': 1, 'b': 2} == {'b': 2, 'a': 1}
missing == missing
missing == none
1 != 2
1 < 2 < 3
1 < 3 < 2
3 > 2 >= 2
1 < 2 == true
'a' < 'b'
'a' < 'B'
'é' > 'z'
[1, 2] < [1, 3]
[1] < [1, 0]
(1, 'a') < (1, 'b')
1 < 'a'
none < 1
missing < 1
'b' in 'abc'
'' in 'abc'
1 in 'abc'
1 in [1, 2]
1.0 in [1]
'a' in {'a': 1}
[1] in {'a': 1}
'x' not in ['y']
none in [none]
1 in none
1 in missing
2 in range(3)
'a' in d
'b' in d.keys()
('b', 1) in d.items()
n and s
z and s
z or s
e or 'x' or 'y'
n and not z
not n or t
1 if t else 2
1 if no else 2
1 if no
(1 if no) is defined
1 if no else 2 if no else 3
'a' if t else 'b' ~ 'c'
[1, 2, 3]
[1, 2,]
[]
[[]]
(1, 2)
(1,)
()
1, 2
{'a': 1}
{'a': 1,}
{}
{1: 'x', 'a': [1, 2], none: none, true: 1.5}
{'a': 1, 'a': 2}
{[1]: 2}
['it\'s', "q\"q", 'a\\b', 'x\ny', 'é', 'tab\t', '\x00\x7f', '\u200b', '\U0001f600', '\xad']
"it's"
['\'"']
'a' 'b' "c"
'\x41\u00e9\101\d'
'\é'
'\u0041' ~ '\U00000042'
'\xZ'
'\ud800'
l
m
d
t
no
f
u
[none, true, 1.0, 1e300, -0.0]
missing
missing.x
missing['x']
missing()
missing + 1
missing|length
missing is defined
missing.x is defined
s.missing
s.missing.more
no.x
no['x']
n.x
d.b
d['b']
d.a[1].k
d['a'][1]['k']
d.name
d.items()|list
d.get('b')
d.get('zz')
d.get('zz', 4)
d.get()
d.keys()|list
d.values()|list
d.items()
d.keys()
d.update({'x': 1})
d.pop('b')
d.clear is defined
l.append(1)
l.append is defined
d.__class__
d.__class__ is defined
s.__len__()
d['__class__'] is defined
l[0]
l[-1]
l[9]
l[9] is defined
l['0']
l[1.0] is defined
l[true]
l.0
l.1
m[0].a
m.0.a
m[0]['a']
s[0]
s[-1]
s[5]
u[1]
u[-1]
s['upper']()
s[1:]
s[:2]
s[::-1]
u[::-1]
u[1:3]
u[-3:]
s[::2]
s[2:0:-1]
s[5:]
s[:-5]
l[1:3]
l[::-1]
l[::2]
l[-2:]
l[10:]
l[::0]
l['a':]
(1, 2, 3)[1:]
range(5)[1:3]
range(5)[1:3]|list
range(10)[::-3]|list
d[1:]
no[1:]
missing[1:]
n[0] is defined
l[1, 2] is defined
l[, 1]
l[1,]
l[1:, 2]
range(3)
range(1, 3)
range(0, 10, 3)
range(0, 10, 3)|list
range(3, 0, -1)|list
range(0)|list
range(2, 1)|length
range(1, 2, 0)
range('a')
range(1.5)
range(3)[1]
range(3)[-1]
range(100001)|length
range(100000)|length
dict(a=1, b=2)
dict([('a', 1), ('b', 2)])
dict({'a': 1}, b=3)
dict([1])
namespace(a=1).a
namespace(a=1)['a']
namespace(a=1).b is defined
namespace(a=1)
namespace({'a': 1}, b=2).b
namespace(_a=1)
namespace(a=1) is mapping
namespace()|length
raise_exception('x')
raise_exception()
' a '.strip()
'xxaxx'.strip('x')
'xyaxy'.strip('yx')
'  a '.lstrip() ~ '|'
'  a '.rstrip() ~ '|'
'\u00a0\u2003a\u3000\x1f'.strip()
'\u200ba'.strip()|length
'a\n'.rstrip('\n')
'a b  c'.split()
'a b  c'.split(' ')
' a b '.split(none, 1)
'a,b,c'.split(',', 1)
'a,b,c'.rsplit(',', 1)
' a b c '.rsplit(none, 1)
'a,b'.split(sep=',')
'abc'.split('')
''.split()
''.split(',')
'a</think>b</think>c'.split('</think>')[-1]
'a\nb\r\nc\x0bd\u2028e'.splitlines()
'a\nb\n'.splitlines(true)
'abc'.startswith('a')
'abc'.startswith(('x', 'a'))
'abc'.startswith('b', 1)
'abc'.startswith('')
'abc'.startswith('', 4)
'abc'.startswith(1)
'abc'.startswith(['a'])
'abc'.endswith('c')
'abc'.endswith('b', 0, 2)
'abcabc'.find('c')
'abcabc'.rfind('c')
'abc'.find('z')
'héllo'.find('l')
'abc'.index('z')
'abcabc'.count('bc')
'aaa'.count('aa')
'abc'.count('')
'aaa'.replace('a', 'b', 2)
'abc'.replace('', '-')
'héé'.replace('é', 'e')
'abc'.replace('b')
','.join(['a', 'b'])
','.join([1])
','.join('abc')
','.join(d)
'abc'.upper()
'straße ŉ'.upper()
'ÀÉ'.lower()
'ΑΣ ΣΑ'.lower()
'İ'.lower()|length
'hello wORLD it\'s'.title()
'hELLO'.capitalize()
'ǆa ßx'.capitalize()
'aBc'.swapcase()
'ab'.center(5, '*')
'ab'.center(5) ~ '|'
'abc'.center(6) ~ '|'
'ab'.ljust(4, '.') ~ 'ab'.rjust(4, '.')
'é'.rjust(3, '·')
'ab'.ljust(4, 'xy')
'42'.zfill(5) ~ '-42'.zfill(5) ~ '+1'.zfill(1)
'abc'.removeprefix('a') ~ 'abc'.removesuffix('c') ~ 'abc'.removeprefix('x')
'a=b=c'.partition('=')
'a=b=c'.rpartition('=')
'abc'.partition('x')
'abc'.rpartition('x')
'12'.isdigit() ~ '1.2'.isdigit() ~ ''.isdigit() ~ '²'.isdigit() ~ '²'.isdecimal() ~ '½'.isnumeric()
'ab'.isalpha() ~ 'a1'.isalpha() ~ 'é中'.isalpha() ~ 'a1'.isalnum() ~ 'a b'.isalnum()
'ab'.islower() ~ 'aB'.islower() ~ '1'.islower() ~ 'AB1'.isupper() ~ 'ǅ'.isupper()
' \t\u00a0'.isspace() ~ ''.isspace() ~ 'a\n'.isprintable() ~ 'a'.isascii() ~ 'é'.isascii()
'{} {}'.format(1, 'a')
'{1} {0}'.format(1, 'a')
'{a} {{x}}'.format(a=none)
'{!r}'.format('q')
'{}'.format()
'{'.format(1)
'abc'.nope()
'abc'.upper(1)
[1, 2, 1].count(1)
[1, 2].index(2)
[1].index(5)
(1, 2).index(2)
' a '|trim
'xax'|trim('x')
none|trim
5|trim
'abc'|length
'héllo'|length
5|length
none|length
d|length
l|count
l|tojson
d|tojson
'é<&>\'"\u2028\x01\x7f'|tojson
1.0|tojson
1e20|tojson
none|tojson
(1, 2)|tojson
{1: 2, none: 3, true: 4, 1.5: 5}|tojson
missing|tojson
range(2)|tojson
d.items()|tojson
d|tojson(indent=2)
[]|tojson(indent=2)
[[], {}]|tojson(indent=1)
{'b': 1, 'a': 2}|tojson(sort_keys=true)
'é🙂'|tojson(ensure_ascii=true)
[1, {'a': 2}]|tojson(separators=(',', ':'))
[1, 2]|tojson(indent='--')
[1]|tojson(indent=0)
d|items|list
missing|items|list
5|items|list
1.5|string
none|string
l|string
'<'|safe
('<'|safe) + '<'
'<' + ('>'|safe)
('a'|safe) ~ '<'
['<'|safe]
('<'|safe)|string + '<'
'<a>'|e
('<a>'|safe)|e
('<a>'|safe)|forceescape
('a'|safe).upper() + '<'
('a'|safe) is escaped
missing|default('x')
none|default('x')
none|default('x', true)
''|d('x', boolean=true)
missing|default
0|default(5, true)
'aBc'|upper ~ 'aBc'|lower
'hello wORLD-foo (bar) it\'s'|title
'hELLO'|capitalize
[3, 1, 2]|first
[]|first
[]|first is defined
[3, 1, 2]|last
'abc'|last
d|last
[1, 2]|join
[1, none, 'a']|join(', ')
m|join('|', attribute='b')
'abc'|join('-')
missing|join
5|join
'abc'|reverse
[1, 2]|reverse|list
d|reverse|list
[3, 1, 2]|sort
['b', 'A', 'c']|sort
['b', 'A', 'c']|sort(case_sensitive=true)
['b', 'A', 'c']|sort(true)
m|sort(attribute='b')
m|sort(attribute='b,a')
[1, 'a']|sort
[none, none]|sort
[1, 1.0, true, 2]|unique|list
['a', 'A']|unique|list
['a', 'A']|unique(true)|list
[[1]]|unique|list
[3, 1]|min ~ [3, 1]|max
['b', 'A']|min
[]|min
m|max(attribute='b')
[1, 2, 3]|sum
[1.5, true]|sum
['a']|sum
m|sum(attribute='b')
[1]|sum(start=10)
[]|sum
-5|abs
(-5)|abs
-5.5|abs
true|abs
'a'|abs
'42'|int
'42.9'|int
' 4_2 '|int
'0x1f'|int(base=16)
'0x1f'|int(0, 0)
'z'|int(7)
none|int
3.9|int
-3.9|int
true|int
'inf'|int
missing|int
[]|int(3)
'1.5'|float
'1e3'|float
' .5 '|float
'5.'|float
'x'|float
'x'|float(2.5)
'nan'|float
'-inf'|float
none|float
2.5|round
3.5|round
2.675|round(2)
42|round
42.55|round(1)
1.1|round(1, 'ceil')
1.19|round(1, 'floor')
5|round(0, 'ceil')
'a'|round
1|round(0, 'x')
'aXbX'|replace('X', '-')
'aXbX'|replace('X', '-', 1)
5|replace(5, 6)
'a\nb\n\nc'|indent
'a\nb\n\nc'|indent(2, true, true)
'a\nb'|indent('> ')
5|indent
words|map('upper')|list
words|map('replace', 'a', 'X')|join(',')
m|map(attribute='a')|list
m|map(attribute='a', default='?')|list
deep|map(attribute=0)|list
m|map(attribute='a.0')|list
words|map('nope')|list
words|map|list
[0, 1, '', 'a']|select|list
[0, 1, 2]|select('odd')|list
[0, 1, 2]|reject('eq', 1)|list
m|selectattr('a')|list
m|selectattr('a', 'defined')|map(attribute='b')|list
m|selectattr('b', 'gt', 1)|map(attribute='b')|list
m|rejectattr('a', 'equalto', 'x')|list|length
m|selectattr('a', 'nope')|list
m|selectattr|list
missing|select|list
words|select('in', ['b', 'c'])|list
[1, 2, 3, 4, 5]|batch(2)|list
[1, 2, 3]|batch(2, 'x')|list
[1, 2, 3, 4, 5]|slice(2)|list
[1, 2, 3]|slice(2, 'x')|list
d|dictsort|list
{'b': 1, 'A': 2}|dictsort
{'b': 1, 'A': 2}|dictsort(true)
{'b': 1, 'A': 2}|dictsort(by='value')
{'b': 1, 'A': 2}|dictsort(reverse=true)
5|dictsort
'abcdefghijklmn'|truncate(5)
'abc def ghi jkl'|truncate(9, leeway=0)
'abc def ghi jkl'|truncate(9, true, '…', 0)
'a b c_d é'|wordcount
'ab'|center(6) ~ '|'
'%s=%d'|format('a', 3)
'%(x)s'|format(x=1)
'abc'|list
d|list
none|list
'abc'|attr('upper') is callable
d|attr('b') is defined
'a'|upper|lower|title
-1|abs
n|string|length
n is odd ~ n is even
'a' is odd
n is divisibleby 3
n is divisibleby(2)
n is number ~ t is number ~ s is number ~ f is number
t is integer ~ n is integer ~ f is float ~ n is float
t is boolean ~ z is boolean
t is true ~ n is true ~ z is false ~ false is false
no is none ~ missing is none
s is string ~ n is string
d is mapping ~ l is mapping
l is sequence ~ s is sequence ~ d is sequence ~ n is sequence ~ missing is sequence
l is iterable ~ s is iterable ~ n is iterable ~ no is iterable ~ missing is iterable
d.items() is sequence ~ d.items() is iterable
range is callable ~ s is callable ~ s.upper is callable
s is defined ~ s is not defined
s is not none
s is eq 'abc'
n is gt 2 and n is lt(4)
n is in [3]
n is not in [3]
n is sameas 3 ~ no is sameas none ~ l is sameas l
'abc' is lower ~ 'ABC' is upper
'trim' is filter ~ 'nope' is filter ~ 'odd' is test
n is nope
n|nope
n is
n is odd is even
1 +
(1
[1, 2
{'a'}
{'a': }
a b
1 2
'abc
1 | upper |
s.
s[
s[]
f(
range(1 2)
range(*[1, 4])|list
dict(**{'a': 1})
dict(a=1, a=2)
range(1, *[3])|list
range(a=1)
n()
s()
none()
@
a ? b
1 = 2
true.x
True, False, None
not
x.y.z
loop
caller
007
1.5.2
n.bit is defined
1..2
"""

STATEMENTS = [
    "", "plain", "line\n", "two\n\n", "a\r\nb\rc\r\n", "{{ 1 }}\n", "{{ 1 }}\n\n",
    "{% if t %}\nyes\n{% endif %}\n", "{% if t %}yes{% else %}no{% endif %}",
    "{% if no %}a{% elif z %}b{% elif n %}c{% else %}d{% endif %}", "{% if %}{% endif %}",
    "{% if t %}", "{% endif %}", "{% else %}", "{% if t %}{% endfor %}", "{% nope %}",
    "  {% if t %}\n  x\n  {% endif %}\ny", "  {%+ if t %}\n  x\n  {%+ endif %}\ny",
    "a  {%- if t -%}  x  {%- endif -%}  b", "a {% if t -%}\n\n x {%- endif %}\n b",
    "a\n\t {% if t %} x{% endif %}", "a\n\u00a0{% if t %}x{% endif %}", "x {% if t +%}\ny{% endif %}",
    "a {{- 1 -}} b", "a {{ 1 -}}\n b", "a\n {{- 1 }}", "a\n  {{ 1 }}\n", "{{+ 1 }}", "{{ 1 +}}",
    "a {# c #} b", "a\n  {# c #}\nb", "a {#- c -#} b", "a\n {#+ c +#}\n b", "{# {{ x }} {% if %} #}",
    "{# open", "{#-#}", "{##}x", "{{ '{{' }}{{ '}}' }}{{ '{%' }}", "{{ {'a': {'b': 1}} }}",
    "{{ {'a': {'b': 1}}}}", "{ {{ 1 }} }", "{{", "{%", "{% if t", "{{ 1", "}} %}", "{",
    "{% raw %}{{ x }} {% if %}{% endraw %}", "{% raw -%}\n  x\n  {%- endraw %} y",
    "a\n  {% raw %}\n x\n  {% endraw %}\n b", "{% raw %}open", "{%raw%}x{%endraw%}",
    "{%- raw +%}x{% endraw %}", "{% raw %}a{%+ endraw +%}\nb", "{% raw %} {% raw %} {% endraw %}",
    "{% for i in l %}{{ i }},{% endfor %}", "{% for i in [] %}x{% else %}empty{% endfor %}",
    "{% for i in missing %}x{% else %}empty{% endfor %}", "{% for i in no %}{% endfor %}",
    "{% for i in 5 %}{% endfor %}", "{% for c in 'héy' %}[{{ c }}]{% endfor %}",
    "{% for k in d %}{{ k }} {% endfor %}", "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k, v in d|items %}{{ k }}={{ v }};{% endfor %}",
    "{% for a, b in [(1, 2), [3, 4], 'xy'] %}{{ a }}{{ b }} {% endfor %}",
    "{% for a, b in [(1, 2, 3)] %}{% endfor %}", "{% for a, b in [(1,)] %}{% endfor %}",
    "{% for a, b in [1] %}{% endfor %}", "{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for i in words %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}"
    "{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }} {% endfor %}",
    "{% for i in words %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }} {% endfor %}",
    "{% for i in words %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }} {% endfor %}",
    "{% for i in words %}{{ loop.cycle('o', 'e') }}{% endfor %}", "{% for i in [1] %}{{ loop.cycle() }}{% endfor %}",
    "{% for i in [1, 1, 2] %}{{ loop.changed(i) }} {% endfor %}", "{% for i in [1] %}{{ loop.nope }}{% endfor %}",
    "{% for i in [1] %}{{ loop['index'] }}{{ loop|length }}{% endfor %}",
    "{% for i in l if i is number %}{{ i }}:{{ loop.index }}/{{ loop.length }} {% endfor %}",
    "{% for i in l if i is string %}{{ loop.last }}{% else %}none{% endfor %}",
    "{% for i in [] if i %}{% else %}none{% endfor %}",
    "{% for a, b in [[1, 2], [3, 4]] if a > 1 %}{{ loop.previtem is defined }}{{ a }}{% endfor %}",
    "{% for a, b in [[1, 2], [3, 4]] if b %}{{ loop.nextitem }}{% endfor %}",
    "{% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in [1, 2, 3] %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in [1] %}{% continue %}{% else %}else{% endfor %}",
    "{% for i in [1, 2] %}{% if i == 2 %}{% break %}{% endif %}{% else %}else{% endfor %}",
    "{% break %}", "{% continue %}", "{% for i in [1] %}{% endfor %}{% break %}",
    "{% for i in [1] %}{% for j in [1, 2] %}{% break %}{% endfor %}{{ i }}{% endfor %}",
    "{% for i in [1, 2] %}{% set x %}a{% break %}{% endset %}{% endfor %}{{ x }}",
    "{% for i in [1] %}{% macro q() %}{% break %}{% endmacro %}{% endfor %}",
    "{% for i in [1, 2] %}{% for j in [1, 2] %}{{ i }}{{ j }}{{ loop.index }} {% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in deep recursive %}{{ x if x is number else '(' ~ loop(x) ~ ')' }}{{ loop.depth }}{% endfor %}",
    "{% for i in [1] %}{{ loop(i) }}{% endfor %}", "{% for i in range(3) %}{{ i }}{% endfor %}",
    "{% for i in words|map('upper') %}{{ loop.last }}{{ i }}{{ loop.length }}{% endfor %}",
    "{% for i in words[::-1] %}{{ loop.index0 }}{{ i }}{% endfor %}",
    "{% for loop in [1] %}{% endfor %}", "{% for i in [1] %}{% set loop = 2 %}{% endfor %}",
    "{% set loop = 2 %}{{ loop }}", "{% for i in 1, 2, 3 %}{{ i }}{% endfor %}", "{% for i in %}{% endfor %}",
    "{% for 1 in l %}{% endfor %}", "{% for i of l %}{% endfor %}", "{% for i in l: %}{{ i }}{% endfor %}",
    "{% for i in [1, 2] %}{{ x }}{% set x = i %}{% endfor %}|{{ x }}",
    "{% set x = 0 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}|{{ x }}",
    "{% for i in [1, 2] %}{% if loop.first %}{% set x = 1 %}{% endif %}{{ x }}{% endfor %}",
    "{% for n in [9] %}{{ n }}{% endfor %}{{ n }}", "{% for i in [1] %}{% set n = 8 %}{{ n }}{% endfor %}{{ n }}",
    "{% set x = 1 %}{{ x }}", "{% set x, y = 1, 2 %}{{ x }}{{ y }}", "{% set x = 1, 2 %}{{ x }}",
    "{% set (a, b) = (1, 2) %}{{ a }}{{ b }}", "{% set a, b = [1] %}", "{% set x = %}", "{% set 1 = 2 %}",
    "{% set x.y = 1 %}", "{% set d.b = 1 %}", "{% set none = 1 %}", "{% set x[0] = 1 %}", "{% set x += 1 %}",
    "{% set ns = namespace(a=1) %}{% set ns.a = 2 %}{% set ns.b = [] %}{{ ns.a }}{{ ns.b }}{{ ns }}",
    "{% set ns = namespace() %}{% for i in [1, 2] %}{% set ns.x = i %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace() %}{% set ns._x = 1 %}", "{% set ns = namespace() %}{% set ns.a, ns.b = 1, 2 %}{{ ns.a + ns.b }}",
    "{% set ns = namespace() %}{% set ns.a.b = 1 %}", "{% set ns = namespace(a=1) %}{{ ns.a.b is defined }}",
    "{% set x %}a{{ n }}b{% endset %}[{{ x }}]", "{% set x | upper %}abc{% endset %}{{ x }}",
    "{% set x | replace('a', 'b') | upper %}aXa{% endset %}{{ x }}", "{% set x %}{% set y = 1 %}{% endset %}{{ y }}",
    "{% set ns = namespace() %}{% set ns.t %}body{% endset %}{{ ns.t }}", "{% set x %}open",
    "{% if t %}{% set x = 5 %}{% endif %}{{ x }}", "{% if no %}{% set n = 5 %}{% endif %}{{ n }}",
    "{% if no %}{% set q = 5 %}{% endif %}{{ q }}", "{{ x }}{% set x = 1 %}{{ x }}",
    "{% macro f() %}body{% endmacro %}{{ f() }}", "{% macro f(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}"
    "{{ f(1) }} {{ f(1, 3) }} {{ f(b=5, a=4) }} {{ f() }}", "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(x=2) }}", "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, a=2) }}",
    "{% macro f(a, b=a) %}{{ b }}{% endmacro %}{{ f(3) }}", "{% macro f(a=1, b) %}{% endmacro %}",
    "{% macro f(a, a) %}{% endmacro %}", "{% macro f(a=b, b=1) %}{{ a }}{% endmacro %}{{ f() }}|{{ f(b=7) }}",
    "{% macro f() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, x=3) }}",
    "{% macro f(a) %}{{ varargs }}{% endmacro %}{{ f(1, 2) }}{{ f(1, z=2) }}",
    "{% macro f(a) %}{{ a is defined }}{% endmacro %}{{ f() }}", "{% macro f(a) %}{{ a.x }}{% endmacro %}{{ f() }}",
    "{% macro f(a) %}{{ q }}{% endmacro %}{% set q = 7 %}{{ f(1) }}",
    "{% macro f() %}{% set q = 7 %}{% endmacro %}{{ f() }}{{ q }}", "{{ f() }}{% macro f() %}{% endmacro %}",
    "{% macro f(i) %}{% if i > 0 %}{{ i }}{{ f(i - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
    "{% macro f() %}{{ loop is defined }}{% endmacro %}{% for i in [1] %}{{ f() }}{% endfor %}",
    "{% for i in [1, 2] %}{% macro f() %}{{ i }}{% endmacro %}{{ f() }}{% endfor %}",
    "{% macro f() %} x {% endmacro %}[{{ f()|trim }}]", "{% macro f() %}{% endmacro %}{{ f.name }}{{ f is callable }}",
    "{% macro f(%}{% endmacro %}", "{% macro %}{% endmacro %}", "{% macro f() %}", "{% macro f(1) %}{% endmacro %}",
    "{% macro f(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ f(*[1, 2]) }}{{ f(**{'a': 3, 'b': 4}) }}",
    "{% macro f() %}[{{ caller() }}]{% endmacro %}{% call f() %}in{{ n }}{% endcall %}",
    "{% macro f() %}{{ caller(1, 2) }}{% endmacro %}{% call(a, b) f() %}{{ a + b }}{% endcall %}",
    "{% macro f() %}{{ caller() }}{% endmacro %}{{ f() }}", "{% macro f() %}x{% endmacro %}{% call f() %}{% endcall %}",
    "{% call n %}{% endcall %}", "{% macro f() %}{{ caller is defined }}{% endmacro %}{{ f() }}",
    "{% filter upper %}abc{{ s }}{% endfilter %}", "{% filter upper|replace('A', 'x') %}aba{% endfilter %}",
    "{% filter nope %}{% endfilter %}", "{% filter %}{% endfilter %}", "{% filter trim('x') %}xax{% endfilter %}",
    "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}", "{% with a = n, n = 5 %}{{ a }}{{ n }}{% endwith %}{{ n }}",
    "{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}", "{% with a %}{% endwith %}", "{% with (a, b) = (1, 2) %}{{ b }}{% endwith %}",
    "{% print 1 %}", "{% print 1, 'a' %}", "{% print %}", "{% generation %}a{{ n }}{% endgeneration %}b",
    "{% for i in [1, 2] %}{% generation %}{{ i }}{{ loop.index }}{% set q = 5 %}{% endgeneration %}{{ q }}{% endfor %}",
    "{% generation %}x", "{% for i in [1] %}{% generation %}{% break %}{% endgeneration %}{% endfor %}",
    "{% if t %}{{ 1|nope if no else 2 }}{% endif %}", "{{ 1|nope if no else 2 }}", "{% if no %}{{ 1|nope }}{% endif %}",
    "{% if no %}{% for i in l %}{{ 1|nope }}{% endfor %}{% endif %}", "{% for i in [] %}{{ i|nope }}{% endfor %}",
    "{% if no %}{{ n is nope }}{% endif %}", "{% if t %}{{ n is nope }}{% endif %}",
    "{% if no and missing.x.y %}a{% else %}b{% endif %}", "{% if missing.x %}a{% endif %}", "{% if 1, 2 %}a{% endif %}",
    "{% if not missing %}a{% endif %}", "{% if (missing.x is defined) %}a{% endif %}", "{% include 'x' %}", "{% extends 'x' %}",
    "{% import 'x' as y %}", "{% autoescape true %}{{ '<' }}", "{% do 1 %}", "{%- if t %}\n{{- '\\n' }}\n{%- endif %}",
    "{%- for i in l %}\n    {{- i }}\n{%- endfor %}\n", "{{ 'a' }}\n{%- set x = 1 %}\n{{ x }}\n\n\n",
    "{% set x = words|map('upper') %}{{ x|list }}{{ x|list }}", "{% set x = words|reverse %}{{ x|first }}{{ x|list }}",
    "{% set it = [1, 2, 3]|select %}{% for i in it %}{{ i }}{% break %}{% endfor %}{{ it|list }}",
    "{% set x = l|map('nope') %}fine", "{% set x = 5|items %}fine{{ x|list }}", "{% set x = [[1]]|unique %}fine",
    "\u00a0{%- if t %}x{% endif %}", "é{{ 'é' }}é", "{{\n1\n+\n2\n}}", "{{ 1 }}{# a\nb #}{{ x.y.z }}",
    "{{ s }}{{ s }}{{ s }}", "{%if t%}a{%endif%}", "{%-if t-%} a {%-endif-%}", "{{s}}{{-s-}}", "{{ s|upper}}",
    "{% if 'a' in ['a'] and not ('b' in ['a']) %}ok{% endif %}", "{% if n == 3 %}three{% endif -%} \n x",
    "{% set content = 'x<think>r</think>\n\ny' %}{{ content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') }}"
    "|{{ content.split('</think>')[-1].lstrip('\\n') }}",
    "{% set f = {'a': 1} %}{{ f.a if f.a else f }}", "{{ (m|first).a }}{{ (m|last).a is defined }}",
    "{{ m[0].a ~ m[1]['a'] }}{{ m[-1].b }}", "{{ dict(a=1).a }}{{ dict() }}", "{{ [1, 2][0] }}{{ {'a': [5]}.a[0] }}{{ 'abc'[1] }}",
    "{{ (1, 2) is sequence }}{{ (1, 2)|list }}", "{{ 'a,b'.split(',')|map('trim')|join('+') }}",
]

TEMPLATES = ["{{ " + line + " }}" for line in EXPRESSIONS.strip().split("\n")]
TEMPLATES += STATEMENTS
TEMPLATES += ["{{ '\\\nx' }}"]
