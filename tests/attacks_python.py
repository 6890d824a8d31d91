"""Attacks on the Python sandbox."""

from attacks import CANARY, Attack

AFTER = Attack(
    "the next run finds everything as it was",
    """
import json
try:
    eval("leaked")
except NameError:
    print(json.dumps([len("abc"), sum([1, 2]), "a".upper()]))
""",
    printed='[3, 3, "A"]\n',
)

SWALLOW = """
while True:
    try:
        while True:
            {body}
    except BaseException:
        pass
"""

TIME = [
    Attack("endless loop", "while True: pass", "time"),
    Attack("endless loop that swallows every exception", SWALLOW.format(body="pass"), "time"),
    Attack("endless async loop", "import asyncio\nwhile True:\n    await asyncio.sleep(0)", "time"),
    Attack("endless exec in exec", "exec('exec(\"while True: pass\")')", "time"),
    Attack("endless sum", "sum(range(10**15))", "time"),
    Attack("factorial", "import math\nmath.factorial(10**6)", "time|memory"),
    Attack(
        "a hash of a billion rounds",
        "import hashlib\nhashlib.pbkdf2_hmac('sha256', b'a', b'b', 10**9)",
        "time",
    ),
    Attack(
        "recursion that goes on in its own handler",
        "def f():\n    try:\n        f()\n    except BaseException:\n        f()\nf()",
        "time",
    ),
    Attack(
        "a sort whose key never ends",
        "def key(x):\n    while True: pass\nsorted([2, 1], key=key)",
        "time",
    ),
    Attack(
        "sorting, again and again",
        "import random\nwhile True: sorted(random.random() for _ in range(1000))",
        "time",
    ),
    Attack("a host function that hangs", "crm.hang()", "time"),
    Attack(
        "a host function that hangs, swallowed",
        "try:\n    crm.hang()\nexcept BaseException:\n    crm.hang()",
        "time",
    ),
    Attack(
        "host functions that hang, gathered", "async def f(): return crm.hang()\nawait f()", "time"
    ),
    Attack("sleep for a minute", "import time\ntime.sleep(60)\n'awake'", value="awake"),
    Attack("sleep for ever", "import time\nwhile True: time.sleep(1)", "time"),
    Attack("async sleep", "import asyncio\nawait asyncio.sleep(60)\n'awake'", value="awake"),
    Attack("names that are not there, for ever", SWALLOW.format(body="nowhere"), "time"),
    Attack("files that are not there, for ever", SWALLOW.format(body="open('/data/none')"), "time"),
    Attack("imports that are not there, for ever", SWALLOW.format(body="import socket"), "time"),
    Attack("an iterator without end", "import itertools\nlist(itertools.count())", "memory|time"),
    Attack(
        "a pattern that backtracks",
        "import re\nbool(re.match('(a+)+$', 'a' * 40 + '!'))",
        value=False,
    ),
    Attack(
        "a pattern with a back reference",
        r"import re; bool(re.match(r'(a*)*\1$', 'a' * 30 + '!'))",
        error="PatternError",
    ),
]

MEMORY = [
    Attack("a power of a power", "10**10**8", "memory"),
    Attack("a shift", "1 << 10**10", "memory"),
    Attack("pow()", "pow(3, 10**9)", "memory|time"),
    Attack("a list of a billion", "[0] * 10**9", "memory"),
    Attack("a range of a billion, as a list", "list(range(10**9))", "memory"),
    Attack("a comprehension of a billion", "[x for x in range(10**9)]", "memory|time"),
    Attack("a text that doubles", "s = 'x'\nwhile True: s += s", "memory"),
    Attack("a text that is padded", "'a'.ljust(10**9)", "memory"),
    Attack("a number that is padded", "f'{1:1000000000}'", "memory"),
    Attack("a % format that is padded", "'%1000000000d' % 1", "memory"),
    Attack("a replacement that grows", "'x'.replace('x', 'y' * 10**9)", "memory"),
    Attack("a join that grows", "','.join(['x' * 1000] * 10**6)", "memory"),
    Attack("a dict that grows", "d = {}\nwhile True: d[len(d)] = 'x' * 100", "memory|time"),
    Attack("a list that nests", "x = []\nwhile True: x = [x, x[:]]", "memory|time"),
    Attack(
        "a closure that nests",
        "f = lambda: 0\nwhile True:\n    f = (lambda g: lambda: g())(f)",
        "memory|time",
    ),
    Attack("random choices", "import random\nrandom.choices([1], k=10**9)", "memory"),
    Attack(
        "a product",
        "import itertools\nlist(itertools.product(range(1000), repeat=5))",
        "memory|time",
    ),
    Attack("a table of bytes", "bytes(10**9)", "memory"),
    Attack("more rows than memory holds", "len(crm.big())", "memory|time"),
    Attack("memory errors that are swallowed", SWALLOW.format(body="[0] * 10**9"), "time|memory"),
    Attack("a memory error made by hand", "raise MemoryError('x')", "memory"),
]

DEPTH = [
    Attack("recursion", "def f(n): return f(n + 1)\nf(0)", error="RecursionError"),
    Attack(
        "recursion of two", "def f(): return g()\ndef g(): return f()\nf()", error="RecursionError"
    ),
    Attack(
        "recursion in repr",
        "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        error="RecursionError",
    ),
    Attack(
        "recursion in a comparison",
        "class A:\n    def __eq__(self, other): return self == other\nA() == A()",
        error="RecursionError",
    ),
    Attack("brackets, deep", "(" * 9000 + ")" * 9000, error="nested"),
    Attack("lists, deep", "[" * 9000 + "]" * 9000, error="nested"),
    Attack("minus signs", "-" * 19_000 + "1", error="nested"),
    Attack("a long sum", "1" + "+1" * 9000, error="nested"),
    Attack("a long chain of attributes", "a" + ".a" * 9000, error="nested"),
    Attack(
        "if in if",
        "".join(" " * i + "if 1:\n" for i in range(150)) + " " * 150 + "pass",
        printed="",
    ),
    Attack("source that is too long", "#" * 20_001, "source"),
    Attack(
        "JSON, deep",
        "import json\njson.loads('[' * 100000 + ']' * 100000)",
        error="recursion limit",
    ),
    Attack("a value, deep", "x = []\nfor i in range(100000): x = [x]\nx", error="nested deeper"),
    Attack("digits in, many", "int('9' * 10**6)", error="4300 digits"),
    Attack("digits out, many", "str(10**100000)", error="4300 digits"),
    Attack("digits as a value", "10**5000", error="4,300 digits"),
    Attack(
        "a decimal with a huge exponent",
        "import decimal\ndecimal.Decimal('1e1000000000') + 1",
        error="Overflow",
    ),
]

OUTPUT = [
    Attack("prints for ever", "while True: print('hello')", "output"),
    Attack("prints for ever, swallowed", SWALLOW.format(body="print('hello')"), "output"),
    Attack("prints for ever, without new lines", "while True: print('x', end='')", "output"),
    Attack("20,000 prints of 10 KB", "for i in range(20000): print('x ' * 5000)", "output"),
    Attack("one print of 20 MB", "print('abc ' * 5_000_000)", "output|memory"),
    Attack("prints nothing for ever", "while True: print('', end='')", "time"),
    Attack(
        "prints control characters for ever",
        "while True: print('\\x00' * 1000, end='')",
        "output|time",
    ),
    Attack(
        "control characters and colours",
        "print('\\x1b[31mred\\x1b[0m\\x00\\x07\\x9b2J')",
        printed="red\n",
    ),
    Attack("half a surrogate pair", "print('a\\ud83db')", printed="a\ufffdb\n"),
    Attack("all rows as the value", "list(range(100000))", "output"),
    Attack("a long text as the value", "'x y ' * 100000", "output"),
    Attack(
        "a value of a billion items in a kilobyte",
        "x = [0] * 1000\nx = [x] * 1000\n[x] * 1000",
        "output",
    ),
    Attack("a value of 2**60 items", "x = [0, 0]\nfor i in range(60): x = [x, x]\nx", "output"),
    Attack(
        "a value of a billion keys that JSON has no text for",
        "d = {(i,): 0 for i in range(10_000)}\nx = [d] * 1000\n[x] * 1000",
        "output",
    ),
    Attack("a value of long keys", "{'k' * 1000 + str(i): i for i in range(10000)}", "output"),
    Attack("a value of long integers", "[10**4000] * 100_000", "output"),
    Attack(
        "a value of long decimals",
        "from decimal import Decimal\n[Decimal('1' * 4000)] * 100_000",
        "output",
    ),
    Attack(
        "a value of long paths",
        "from pathlib import Path\n[Path('a' * 10_000)] * 100_000",
        "output",
    ),
    Attack(
        "a value of instances that hold a billion",
        "class A:\n    def __init__(self, x): self.x = x\nx = [0] * 1000\nx = [x] * 1000\n"
        "[A([x] * 1000)] * 100_000",
        "output",
    ),
    Attack(
        "arguments of long integers",
        "crm.echo(*[[10**4000] * 400_000])",
        error="over 1000000 characters",
    ),
    Attack("a value that holds itself", "x = [1]\nx.append(x)\nx", value=[1, "[...]"]),
    Attack("a value that is a class", "class A: pass\nA", value="<class 'A'>"),
    Attack("a value that is an instance", "class A: pass\n[A()]", error="has no JSON"),
    Attack("a value that is a function", "[print, lambda: 0][1:] and 'f'", value="f"),
    Attack("a value that is a module", "crm", error="has no JSON"),
    Attack("infinity", "[1e999]", error="infinite"),
    Attack("not a number", "[1e999 - 1e999]", value=[None]),
    Attack("keys that are not text", "{(1, 2): 3}", error="keys are text"),
    Attack("keys that collide", "{1: 'a', '1': 'b'}", error="two keys"),
    Attack("a message of a megabyte", "raise ValueError('x' * 10**6)", error="ValueError: xxx"),
    Attack(
        "a message of a thousand lines", "raise ValueError('no\\n' * 1000)", error="ValueError: no"
    ),
]

ESCAPE = [
    Attack("bases of a class", "().__class__.__bases__", error="AttributeError"),
    Attack("subclasses", "object.__subclasses__()", error="AttributeError"),
    Attack("the order of bases", "int.__mro__", error="AttributeError"),
    Attack("getattr by a made-up name", "getattr((), '__cl' + 'ass__')", error="AttributeError"),
    Attack("globals of a function", "(lambda: 0).__globals__", error="AttributeError"),
    Attack("globals of a host function", "crm.list_tasks.__globals__", error="AttributeError"),
    Attack("code of a function", "(lambda: 0).__code__", error="AttributeError"),
    Attack("self of a built-in", "print.__self__", error="AttributeError"),
    Attack("built-ins", "__builtins__", error="NameError"),
    Attack("__import__", "__import__('os').system('id')", error="NameError"),
    Attack("__import__ in eval", "eval('__import__(\"os\")')", error="NameError"),
    Attack("compile", "compile('1', 'x', 'exec')", error="NameError"),
    Attack(
        "the frame of an exception",
        "try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame",
        error="Error",
    ),
    Attack("attributes in a format string", "'{0.__class__}'.format(1)", error="AttributeError"),
    Attack(
        "globals in a format string",
        "'{0.__init__.__globals__}'.format(crm)",
        error="AttributeError",
    ),
    Attack(
        "a format string on a host function",
        "'{0.__globals__}'.format(crm.list_tasks)",
        error="AttributeError",
    ),
    Attack("an f-string", "f'{crm.list_tasks.__globals__[\"CANARY\"]}'", error="AttributeError"),
    Attack("a class of type()", "type('X', (object,), {})().__reduce__()", error="Error"),
    Attack("subprocess", "import subprocess", error="subprocess"),
    Attack("socket", "import socket", error="socket"),
    Attack("ctypes", "import ctypes", error="ctypes"),
    Attack("importlib", "import importlib", error="importlib"),
    Attack("pickle", "import pickle", error="pickle"),
    Attack("the project itself", "import toolresults", error="toolresults"),
    Attack("the test's module", "from attacks import CANARY", error="attacks"),
    Attack("os.system", "import os\nos.system('id')", error="AttributeError"),
    Attack("os._exit", "import os\nos._exit(1)", error="AttributeError"),
    Attack("os.kill", "import os\nos.kill(os.getppid(), 9)", error="AttributeError"),
    Attack("os.fork", "import os\nwhile True: os.fork()", error="AttributeError"),
    Attack("the environment", "import os\ndict(os.environ)", error="RuntimeError"),
    Attack("a variable of the environment", "import os\nos.getenv('CANARY')", error="RuntimeError"),
    Attack("modules", "import sys\nsys.modules", error="AttributeError"),
    Attack(
        "the recursion limit", "import sys\nsys.setrecursionlimit(10**9)", error="AttributeError"
    ),
    Attack("sys.exit", "import sys\nsys.exit(0)", error="AttributeError"),
    Attack("SystemExit", "raise SystemExit", error="SystemExit"),
    Attack("KeyboardInterrupt", "raise KeyboardInterrupt", error="KeyboardInterrupt"),
    Attack("quit", "quit()", error="NameError"),
    Attack("input", "input()", error="NameError"),
    Attack("a breakpoint", "breakpoint()", error="NameError"),
]

FILES = [
    Attack("a file of the system", "open('/etc/passwd').read()", error="PermissionError"),
    Attack(
        "the process's environment", "open('/proc/self/environ').read()", error="PermissionError"
    ),
    Attack("a listing of the root", "import os\nos.listdir('/')", error="PermissionError"),
    Attack(
        "a listing above the mount", "import os\nos.listdir('/data/..')", error="PermissionError"
    ),
    Attack(
        "a path out of the mount", "open('/data/../secret.txt').read()", error="PermissionError"
    ),
    Attack("a link out of the mount", "open('/data/relative').read()", error="PermissionError"),
    Attack(
        "an absolute link out of the mount",
        "open('/data/absolute').read()",
        error="PermissionError",
    ),
    Attack(
        "through a linked folder", "open('/data/up/secret.txt').read()", error="PermissionError"
    ),
    Attack(
        "through a linked folder, listed",
        "import os\nos.listdir('/data/up')",
        error="PermissionError",
    ),
    Attack(
        "by pathlib",
        "from pathlib import Path\nPath('/data/relative').read_text()",
        error="PermissionError",
    ),
    Attack("writes", "open('/data/new', 'w').write('x')", error="Read-only"),
    Attack("appends", "open('/data/orders.json', 'a').write('x')", error="Read-only"),
    Attack("removes", "import os\nos.remove('/data/orders.json')", error="Read-only"),
    Attack("renames", "import os\nos.rename('/data/orders.json', '/data/x')", error="Read-only"),
    Attack(
        "writes by pathlib",
        "from pathlib import Path\nPath('/data/x').write_text('x')",
        error="Read-only",
    ),
    Attack("a null byte", "open('/data/orders.json\\0')", error="null byte"),
]

HOST = [
    Attack("a million calls", "for i in range(10**6): crm.list_tasks()", "host calls"),
    Attack("calls, swallowed", SWALLOW.format(body="crm.list_tasks()"), "host calls"),
    Attack("calls that fail, swallowed", SWALLOW.format(body="crm.leak()"), "host calls"),
    Attack(
        "calls, in threads of asyncio",
        "import asyncio\nasync def f():\n    while True: crm.list_tasks()\n"
        "await asyncio.gather(f(), f())",
        "host calls",
    ),
    Attack(
        "an error with a path and a key",
        "crm.leak()",
        error="RuntimeError: crm.leak failed (OSError)",
    ),
    Attack(
        "the text of an error",
        "try:\n    crm.leak()\nexcept Exception as e:\n    print(type(e).__name__, str(e))",
        printed="RuntimeError crm.leak failed (OSError). This is not caused by your arguments.\n",
    ),
    Attack(
        "a refusal with a path",
        "try:\n    crm.refuse()\nexcept PermissionError as e:\n    print(e)",
        printed="you need the scope hr:salary, see [path]\n",
    ),
    Attack("a result that has no JSON", "crm.odd()", error="RuntimeError: crm.odd failed"),
    Attack(
        "a result that is infinite", "crm.infinite()", error="RuntimeError: crm.infinite failed"
    ),
    Attack("a lambda as an argument", "crm.add_note(*[lambda: 0, 'x'])", error="TypeError"),
    Attack("a class as an argument", "class A: pass\ncrm.list_tasks(*[A])", error="not plain data"),
    Attack(
        "an instance as an argument", "class A: pass\ncrm.list_tasks(*[A()])", error="TypeError"
    ),
    Attack(
        "an argument that holds itself",
        "x = [1]\nx.append(x)\ncrm.list_tasks(*[x])",
        error="TypeError",
    ),
    Attack(
        "an argument of a billion items",
        "x = [0] * 1000\nx = [x] * 1000\nx = [x] * 1000\ncrm.list_tasks(*[x])",
        error="over 1000000 characters",
    ),
    Attack(
        "an argument of 2**60 items",
        "x = [0, 0]\nfor i in range(60): x = [x, x]\ncrm.list_tasks(*[x])",
        error="over 1000000 characters",
    ),
    Attack(
        "an argument of 10 MB", "crm.list_tasks('x' * 10_000_000)", error="over 1000000 characters"
    ),
    Attack(
        "an argument, deep",
        "x = []\nfor i in range(100000): x = [x]\ncrm.list_tasks(*[x])",
        error="TypeError",
    ),
    Attack("an argument with a huge integer", "crm.list_tasks(limit=10**5000)", error="TypeError"),
    Attack(
        "unknown arguments",
        "crm.list_tasks(**{'tenant': 'other'})",
        error='unknown argument "tenant"',
    ),
    Attack(
        "dunder arguments",
        "crm.list_tasks(**{'__class__': 1, 'self': 2})",
        error="unknown argument",
    ),
    Attack("a function that is not there", "getattr(crm, 'drop_all')()", error="Error"),
    Attack("a private attribute", "crm._functions", error="_functions"),
    Attack("a host function replaced", "crm.list_tasks = 3", error="AttributeError"),
    Attack("setattr on the host's module", "setattr(crm, 'list_tasks', 3)", error="Error"),
    Attack(
        "a sandbox in a sandbox",
        "crm.nested('1 + 1')",
        value="code that runs inside a sandbox cannot start another run",
    ),
    Attack(
        "a sandbox in a sandbox in a sandbox",
        "crm.nested('crm.nested(\"1\")')",
        value="code that runs inside a sandbox cannot start another run",
    ),
]

STATE = [
    Attack("a global", "leaked = 1\nleaked", value=1),
    Attack("a global by exec", "exec('leaked = 1')", printed=""),
    Attack("built-ins replaced", "len = sum = print = 3\nleaked = 4\nlen", value=3),
    Attack("a module's function replaced", "import json\njson.dumps = 3", error="AttributeError"),
    Attack("a module replaced", "import json, re\njson = re = 3\nleaked = 1\njson", value=3),
    Attack("a class changed", "setattr(str, 'upper', lambda s: 'x')", error="Error"),
    Attack("a class's method changed", "list.append = 3", error="Error"),
    Attack("the host's name taken", "crm = 3\nleaked = crm\ncrm", value=3),
]

ATTACKS = [*TIME, *MEMORY, *DEPTH, *OUTPUT, *ESCAPE, *FILES, *HOST, *STATE]

assert all(CANARY not in attack.code for attack in ATTACKS)
