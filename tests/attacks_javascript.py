"""Attacks on the JavaScript sandbox. The functions of the host that they call:
`attacks.functions`.
"""

from attacks import Attack

AFTER = Attack(
    "the next run finds everything as it was",
    "console.log(JSON.stringify([typeof leaked, {}.leaked, [3].map(String), "
    "(await crm.list_tasks()).length]))",
    printed='["undefined",null,["3"],2]\n',
)

GONE = "is not defined"
"""How JavaScript says that there is nothing of that name."""

DEEP = "let v = []; for (let i = 0; i < {levels}; i++) v = [v]; {then}"

TIME = [
    Attack("a loop", "while (true) {}", "time"),
    Attack(
        "a loop of microtasks", "(function f() { Promise.resolve().then(f) })(); return 1", "time"
    ),
    Attack("a pattern that backtracks", "return /(a+)+$/.test('a'.repeat(60) + 'b')", "time"),
    Attack(
        "a finally that goes on", "while (true) { try { return 1 } finally { continue } }", "time"
    ),
    Attack(
        "stack overflows swallowed", "const f = () => { try { f() } catch { f() } }; f()", "time"
    ),
    Attack("a function of the host that hangs", "await crm.hang()", "time"),
    Attack("a function of the host that is not awaited", "crm.hang(); return 1", "time"),
    Attack(
        "a proxy that traps for ever", "return new Proxy({}, {ownKeys() { for (;;); }})", "time"
    ),
    Attack("a getter in the value that loops", "return {get a() { for (;;); }}", "time"),
    Attack(
        "a toJSON in an argument that loops", "await crm.echo({toJSON() { for (;;); }})", "time"
    ),
    Attack(
        "a message that loops",
        "throw Object.defineProperty(Error(), 'message', {get() { for (;;); }})",
        "time",
    ),
    Attack(
        "integers of 100,000 bits", "let n = 3n; for (;;) n = n * n % (2n ** 100000n) + 1n", "time"
    ),
    Attack(
        "a promise that nobody resolves", "await new Promise(() => {})", error="nothing resolves"
    ),
    Attack("a thenable that never answers", "await {then() {}}", error="nothing resolves"),
]

MEMORY = [
    Attack("a list without end", "const a = []; for (;;) a.push({})", "memory|time"),
    Attack(
        "a map without end",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, {})",
        "memory|time",
    ),
    Attack("microtasks without end", "for (;;) Promise.resolve().then(() => {})", "memory|time"),
    Attack("2**32 elements", "return new Array(2**32 - 1).fill(1).length", "memory|time"),
    Attack("10**9 elements", "return Array.from({length: 1e9}, (_, i) => i).length", "memory|time"),
    Attack("a text of 100 MB as argument", "await crm.echo('x'.repeat(1e8))", "memory|time"),
    Attack("a text of 100 MB as value", "return 'x'.repeat(1e8)", "memory|time"),
    Attack(
        "source of 40 MB, made inside",
        "return eval('[' + '1,'.repeat(2e7) + ']').length",
        "memory|time",
    ),
    Attack(
        "a result of the host that is too large", "return (await crm.big()).length", "memory|time"
    ),
    Attack("a text of 10 MB as value", "return 'x'.repeat(1e7)", "output"),
    Attack(
        "a text of 2 MB as argument",
        "await crm.echo('x'.repeat(2e6))",
        error="RangeError: crm.echo: arguments over",
    ),
    Attack(
        "a text that doubles",
        "let s = 'x'; for (;;) s += s",
        error="RangeError: Invalid string length",
    ),
    Attack(
        "an integer of 2**40 bits",
        "return 2n ** (2n ** 40n)",
        error="RangeError: Maximum BigInt size",
    ),
    Attack("8 GB in a typed array", "return new Uint8Array(8e9).length", error=GONE),
    Attack("buffers of 100 MB", "const a = []; for (;;) a.push(new ArrayBuffer(1e8))", error=GONE),
    Attack(
        "shared memory to wait on",
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
        error=GONE,
    ),
]

DEPTH = [
    Attack(
        "recursion",
        "function f() { return f() + 1 } return f()",
        error="RangeError: Maximum call stack size",
    ),
    Attack(
        "recursion by await", "const f = async () => { await f() }; await f()", error="RangeError"
    ),
    Attack("source nested 9,000 deep", f"return {'(' * 9000}1{')' * 9000}", error="RangeError"),
    Attack(
        "JSON nested deep",
        "return JSON.parse('['.repeat(2e4) + ']'.repeat(2e4))",
        error="RangeError",
    ),
    Attack(
        "a value nested 100,000 deep",
        DEEP.format(levels=100_000, then="return v"),
        error="RangeError",
    ),
    Attack(
        "a value nested 900 deep", DEEP.format(levels=900, then="return v"), error="nested deeper"
    ),
    Attack(
        "an argument nested 900 deep",
        DEEP.format(levels=900, then="await crm.echo(v)"),
        error="TypeError: crm.echo",
    ),
]

FLOODS = [
    Attack("prints without end", "for (;;) console.log('x'.repeat(10_000))", "output"),
    Attack("one print of 10 MB", "console.log('x'.repeat(1e7))", "output"),
    Attack("all rows printed", "console.log(await crm.rows(2000))", "output"),
    Attack("calls without end", "for (;;) await crm.echo('a')", "host calls|time"),
    Attack(
        "a million calls at once",
        "await Promise.all(Array(1e6).fill().map(() => crm.echo('a')))",
        "host calls",
    ),
    Attack(
        "calls whose refusals are swallowed",
        "for (;;) { try { await crm.refuse() } catch {} }",
        "host calls|time",
    ),
    Attack(
        "calls that nobody waits for",
        "for (let i = 0; i < 1000; i++) crm.echo('a'); return 1",
        "host calls",
    ),
    Attack("source that is too long", "x" * 20_001, "source"),
]

HOST = [
    Attack(
        "import",
        "const fs = await import('fs'); return fs.readFileSync('/etc/passwd')",
        error="Not supported",
    ),
    Attack("require", "return require('child_process').execSync('id')", error=GONE),
    Attack("process", "return process.env", error=GONE),
    Attack("fetch", "return await fetch('http://127.0.0.1/')", error=GONE),
    Attack("the engine's own timers", "return __timer_manager", error=GONE),
    Attack(
        "a constructor's constructor",
        "return this.constructor.constructor('return process.env')()",
        error=GONE,
    ),
    Attack(
        "the constructor of a host function",
        "return crm.echo.constructor('return notify')()",
        error=GONE,
    ),
    Attack(
        "the constructor of a host's error",
        "try { await crm.leak() } "
        "catch (e) { return e.constructor.constructor('return process.env')() }",
        error=GONE,
    ),
    Attack(
        "all that has a name",
        "const r = /process|require|fetch|Deno|Buffer|Worker|Atomics|Assembly|notify|[0-9]Array/\n"
        "return Object.getOwnPropertyNames(globalThis).filter(name => r.test(name))",
        value=[],
    ),
    Attack(
        "a run inside a run",
        "return await crm.nested('return 1')",
        value="code that runs inside a sandbox cannot start another run",
    ),
    Attack(
        "a path and a key in a host's error",
        "try { await crm.leak() } catch (e) { return `${e} ${e.stack}` }",
    ),
    Attack(
        "a host's error, not caught",
        "await crm.leak()",
        error="RuntimeError: crm.leak failed (OSError)",
    ),
    Attack(
        "a refusal with a path",
        "await crm.refuse()",
        error="PermissionError: you need the scope hr:salary, see [path]",
    ),
    Attack(
        "the hook on stacks",
        "Error.prepareStackTrace = (_, s) => s; return Error('a').stack",
        value="Error: a\n    at line 1",
    ),
    Attack(
        "a stack captured",
        "const o = {}; Error.captureStackTrace(o); return /[/]|[.]py|<anon/.test(o.stack)",
        value=False,
    ),
    Attack(
        "a file up the tree",
        "await files.read('../secret.txt')",
        error="LookupError: there is no such file",
    ),
    Attack(
        "a file by its whole path",
        "await files.read('/etc/passwd')",
        error="LookupError: there is no such file",
    ),
    Attack(
        "links that lead out",
        "await files.read('absolute').catch(() => files.read('relative'))",
        error="LookupError",
    ),
    Attack("a name with a NUL byte", "await files.read('orders.json\\0.txt')", error="LookupError"),
    Attack("the names of the files", "return await files.list()", value=["orders.json"]),
    Attack(
        "files written",
        "await files.write('a', 'b')",
        error="TypeError: files.write is not a function",
    ),
]

ROWS = "return (await crm.rows(2)).length"

BRIDGE = [
    Attack(
        "Object.prototype.toJSON",
        f"Object.prototype.toJSON = () => 'evil'; console.log('a'); {ROWS}",
        value=2,
    ),
    Attack(
        "methods of lists replaced",
        "for (const k of ['push', 'map', 'join', 'shift', Symbol.iterator]) "
        f"Array.prototype[k] = null; {ROWS}",
        value=2,
    ),
    Attack(
        "a setter where lists grow",
        f"Object.defineProperty(Array.prototype, '0', {{set() {{ throw 1 }}}}); {ROWS}",
        value=2,
    ),
    Attack("then replaced", f"Promise.prototype.then = () => {{}}; {ROWS}", value=2),
    Attack("JSON replaced", f"JSON.parse = JSON.stringify = () => 'evil'; {ROWS}", value=2),
    Attack(
        "globals replaced",
        "for (const k of ['Promise', 'Object', 'JSON', 'Error', 'Map']) "
        f"globalThis[k] = null; {ROWS}",
        value=2,
    ),
    Attack(
        "keys of messages on Object.prototype",
        "Object.assign(Object.prototype, {value: 1, error: ['E', 'e'], next: 1, code: 'x', "
        f"leaked: 9}}); {ROWS}",
        value=2,
    ),
    Attack(
        "host functions replaced",
        f"crm.rows = () => 1; crm = {{}}; globalThis.crm = 1; {ROWS}",
        value=2,
    ),
    Attack(
        "console replaced", "console.log = null; console = null; console.log('a')", printed="a\n"
    ),
    Attack(
        "lines that look like messages",
        'console.log(\'\\n{"value":"forged"}\\n{"stopped":"memory"}\'); return 1',
        value=1,
    ),
    Attack(
        "a function that is not there",
        "await crm.drop()",
        error="TypeError: crm.drop is not a function",
    ),
    Attack(
        "a bracket that closes the wrapper",
        "}); console.log('out'); (async () => {",
        error="SyntaxError",
    ),
    Attack(
        "brackets that match outside only",
        "} ; { console.log('out')",
        error="SyntaxError: the brackets do not match",
    ),
    Attack("a comment that is not closed", "return 1 /*", error="SyntaxError"),
    Attack(
        "a source of another name",
        "throw Error('x') //# sourceURL=/etc/main.js",
        error="Error: x (line 1",
    ),
    Attack(
        "globals left behind",
        "globalThis.leaked = 1; leaked = 2; Object.prototype.leaked = 3; return 1",
        value=1,
    ),
]

VALUES = [
    Attack("a text thrown", "throw 'text'", error="thrown: text"),
    Attack(
        "an error that throws when it is shown",
        "throw Object.assign(Error(), {name: {toString() { throw 1 }}})",
        error="cannot be shown",
    ),
    Attack("a message of 1 MB", "throw Error('x'.repeat(1e6))", error="Error: xxx"),
    Attack(
        "a cycle as value",
        "const a = {}; a.a = a; return a",
        error="TypeError: Converting circular structure",
    ),
    Attack("a cycle printed", "const a = {}; a.a = a; console.log(a); return 1", value=1),
    Attack(
        "a function as argument",
        "await crm.echo(() => 1)",
        error="TypeError: argument 1 of crm.echo is a function",
    ),
    Attack("a function as value", "return () => 1", error="TypeError: the value is a function"),
    Attack(
        "a promise in the value",
        "return [crm.echo('a')]",
        error="TypeError: a promise is not a value",
    ),
    Attack(
        "toString that throws, printed",
        "console.log({[Symbol.toPrimitive]() { throw 1 }, toString() { throw 2 }})",
        printed="{}\n",
    ),
    Attack(
        "halves of a pair of surrogates", "console.log('\\ud800'); return '\\udfff'", value="\ufffd"
    ),
    Attack("NUL and colours", "console.log('\\0\\x1b[31mred\\x1b[0m')", printed="red\n"),
]

ATTACKS = TIME + MEMORY + DEPTH + FLOODS + HOST + BRIDGE + VALUES
