"""The program of the child process that runs one piece of JavaScript: V8, a pipe in, a pipe out,
and nothing else.

It is started by `javascript.py` with two arguments: the folder of the package mini-racer, and
a limit in bytes. A line of JSON on standard input goes to `receive` of `javascript_prelude.js`;
what the prelude sends is a line of JSON on standard output. Anything else there is V8's last word
before it dies.

mini-racer's library is called through its C interface, not through its Python package: that one
brings asyncio, which takes longer to import (0.15 s) than V8 takes to start, and it hands over what
was printed only when the code pauses.
"""

import ctypes
import os
import queue
import sys

try:
    import resource
except ImportError:  # Windows
    resource = None

# kinds of value, as in mini-racer's own _objects.py
INTEGER, TEXT, UNDEFINED, PARSE_ERROR = 3, 5, 11, 201

SETUP, NOTIFY, RECEIVED, SETTLED, LOCATED = range(5)
"""Whom V8 calls back for: a step of the start; the prelude has sent something; `receive` is back;
nothing is left to run; where the syntax error is."""

_READY = b'{"ready": true}'
"""The first line that the host gets."""


class Value(ctypes.Structure):
    """mini-racer's value: a pointer or a number, a length in bytes, and a kind."""

    _fields_ = (("pointer", ctypes.c_void_p), ("length", ctypes.c_size_t), ("kind", ctypes.c_uint8))


Handle = ctypes.POINTER(Value)
Callback = ctypes.CFUNCTYPE(None, ctypes.c_uint64, Handle)

# result and arguments of the functions that are used; all but the first two begin with a context
FUNCTIONS = {
    "init_v8": (None, ctypes.c_char_p, ctypes.c_char_p),
    "init_context": (ctypes.c_uint64, Callback),
    "eval": (ctypes.c_uint64, Handle, ctypes.c_uint64),
    "call_function": (ctypes.c_uint64, Handle, Handle, Handle, ctypes.c_uint64),
    "make_js_callback": (Handle, ctypes.c_uint64),
    "get_object_item": (Handle, Handle, Handle),
    "set_object_item": (Handle, Handle, Handle, Handle),
    "alloc_string_val": (Handle, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint8),
    "alloc_int_val": (Handle, ctypes.c_int64, ctypes.c_uint8),
    "free_value": (None, Handle),
    "set_hard_memory_limit": (None, ctypes.c_size_t),
    "hard_memory_limit_reached": (ctypes.c_bool,),
}


def load(folder: str) -> ctypes.CDLL:
    """mini-racer's library, with V8 started."""
    names = {"darwin": "libmini_racer.dylib", "win32": "mini_racer.dll"}
    library = ctypes.CDLL(os.path.join(folder, names.get(sys.platform, "libmini_racer.so")))
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(library, f"mr_{name}")
        context = [] if name.startswith("init") else [ctypes.c_uint64]
        function.restype, function.argtypes = result, context + arguments
    # without a compiler to machine code: slower loops, and the part of V8 where most of its holes
    # are found is not used
    data = os.fsencode(os.path.join(folder, "icudtl.dat"))
    library.mr_init_v8(b"--single-threaded --jitless", data)
    return library


class Child:
    """V8 on a thread of its own, which calls back; this thread reads the pipe, so that the host
    need not wait.
    """

    def __init__(self, folder: str):
        self._library = load(folder)
        self._results = queue.SimpleQueue()
        self._pieces = []
        self._callback = Callback(self._on_callback)  # kept: V8's reference is none to Python
        self._context = self._library.mr_init_context(self._callback)
        self._undefined = self._v8("alloc_int_val", 0, UNDEFINED)
        self._zero = self._v8("alloc_int_val", 0, INTEGER)

    def start(self, prelude: bytes, memory: int) -> None:
        """Runs the prelude, which gives: [the buffer, the list of arguments, receive, settled]."""
        notify = self._v8("make_js_callback", NOTIFY)
        self._set(self._eval(b"globalThis"), self._text(b"notify"), notify)
        parts = self._eval(prelude)
        self._buffer, self._arguments, self._receive, self._settled = (
            self._v8("get_object_item", parts, self._v8("alloc_int_val", i, INTEGER))
            for i in range(4)
        )
        self._v8("set_hard_memory_limit", memory)

    def serve(self) -> None:
        """Hands each line to the prelude, until the host closes the pipe."""
        _write_line(_READY)
        for line in sys.stdin.buffer:
            text = self._text(line)
            self._set(self._arguments, self._zero, text)
            self._v8("free_value", text)
            self._call(self._receive, RECEIVED)
            # V8 runs all that can run before it takes this one up
            self._call(self._settled, SETTLED)

    def _on_callback(self, what: int, value) -> None:
        try:
            self._called_back(what, value)
        except MemoryError:
            os.abort()  # as V8 does

    def _called_back(self, what: int, value) -> None:
        """On V8's thread, which waits for it. Nothing here may ask V8 for more than to do something
        later.
        """
        if what == SETUP:
            self._results.put(value)
            return
        if self._v8("hard_memory_limit_reached"):
            end({"stopped": "memory"})
        if what == NOTIFY:
            self._forward()
        elif what == RECEIVED and value.contents.kind == TEXT:
            self._v8("eval", value, LOCATED)
            return
        elif what == LOCATED:
            told = value.contents
            told = ctypes.string_at(told.pointer, told.length) if told.kind == PARSE_ERROR else b""
            end({"syntax": told.decode(errors="replace")})
        self._v8("free_value", value)

    def _forward(self) -> None:
        """Reads one piece of a message in the buffer: its length, whether it is the last, and its
        UTF-16 units.
        """
        address = self._buffer.contents.pointer
        length, last = (ctypes.c_uint16 * 2).from_address(address)
        self._pieces.append(ctypes.string_at(address + 4, 2 * length))
        if last:
            text = b"".join(self._pieces).decode("utf-16-le", "replace")
            self._pieces.clear()
            _write_line(text.encode())

    def _v8(self, name: str, *arguments):
        return getattr(self._library, f"mr_{name}")(self._context, *arguments)

    def _eval(self, code: bytes):
        self._v8("eval", self._text(code), SETUP)
        return self._results.get()

    def _call(self, function, what: int) -> None:
        self._v8("call_function", function, self._undefined, self._arguments, what)

    def _set(self, target, key, value) -> None:
        self._v8("free_value", self._v8("set_object_item", target, key, value))

    def _text(self, text: bytes):
        return self._v8("alloc_string_val", text, len(text), TEXT)


def _write_line(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def end(message: dict) -> None:
    """The last message. V8 is in the middle of something: nothing is closed."""
    import json  # late: 8 ms that most runs do not need

    _write_line(json.dumps(message).encode())
    os._exit(0)


def _limit_process(memory: int) -> None:
    """No files written, no core dump, no further process, and an end to memory outside V8's heap.

    What the heap's own limit does not see (parsed code, compiled patterns) counts as data of the
    process. Only Linux enforces that one; Windows has none of them.
    """
    if resource is None:
        return
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
        resource.setrlimit(limit, (0, 0))
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as file:
            data = int(file.read().split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (data + memory,) * 2)


def main(folder: str, memory: int) -> None:
    child = Child(folder)
    with open(os.path.join(os.path.dirname(__file__), "javascript_prelude.js"), "rb") as file:
        child.start(file.read(), memory)
    # a collection moves what lives, so the heap may be twice its limit for a moment; the rest is
    # for messages
    _limit_process(3 * memory + 64 * 2**20)
    child.serve()


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]))
    except MemoryError:
        os.abort()  # as V8 does
    except Exception as error:
        _write_line(f"{type(error).__name__}: {error}".encode(errors="replace"))
    os._exit(0)  # the host has closed the pipe: nothing that V8 is busy with matters any more
