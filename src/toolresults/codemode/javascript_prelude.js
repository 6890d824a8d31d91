// What a model's JavaScript finds around itself, and the bridge to the host. It runs before the model's code.
//
// The bridge keeps its own copies of all that it calls, since the model's code may replace whatever it can name. Should
// the code get hold of the bridge, it gains nothing: the host checks every message, and the process ends with the run.
//
// To the host: {print}, {call, args}, then one of {value}, {error: {told, line}}, {idle}, {over}.
// From the host: {code, spaces: {crm: [name]}, printChars, hostCalls}, then {value} or {error: [name, message]} for each
// call, in order.
(() => {
  "use strict";

  const { parse, stringify } = JSON;
  const { Array, BigInt, Date, Error, Function, Map, Number, Object, Promise, RangeError, Set, String } = globalThis;
  const { SyntaxError, TypeError, WeakMap } = globalThis;
  const { create, defineProperty, freeze, fromEntries } = Object;
  const { isSafeInteger } = Number;
  const AsyncFunction = (async () => {}).constructor;
  const bound = Function.prototype.bind.bind(Function.prototype.call); // a method as a function of its object
  const slice = bound(String.prototype.slice);
  const unitAt = bound(String.prototype.charCodeAt);
  const isoDate = bound(Date.prototype.toISOString);
  const lineOf = bound(WeakMap.prototype.get);
  const setLine = bound(WeakMap.prototype.set);

  const VALUE_CHARS = 2_000_000; // a longer value is not even sent
  const PRINT_CHARS = 100_000; // more is sent in pieces
  const ARGUMENT_CHARS = 1_000_000;
  const ERROR_CHARS = 1_000;
  const HEADER_LINES = 2; // those that the constructor of a function puts before its body

  const notify = globalThis.notify;
  const buffer = new ArrayBuffer(2 ** 17);
  const units = new Uint16Array(buffer);

  // Memory outside the heap and its limit, shared memory, machine code: nothing that is needed to count rows.
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (/.Array$|Buffer$|^(DataView|Atomics|WebAssembly|notify)$/.test(name)) delete globalThis[name];
  }

  // ---- messages

  function sendText(text) {
    const most = units.length - 2;
    for (let start = 0; start < text.length; start += most) {
      const rest = text.length - start;
      const count = rest < most ? rest : most;
      for (let i = 0; i < count; i++) units[i + 2] = unitAt(text, start + i);
      units[0] = count;
      units[1] = rest <= most ? 1 : 0;
      notify();
    }
  }

  // no prototype: stringify would ask a toJSON on Object.prototype
  const send = (message) => sendText(stringify({ __proto__: null, ...message }));

  // ---- values as JSON

  // What JSON would drop or blur in silence becomes something honest, or an error.
  function honest(_key, value) {
    if (typeof value === "bigint") {
      const number = Number(value);
      return isSafeInteger(number) ? number : String(value);
    }
    if (value === Infinity || value === -Infinity) throw new TypeError("Infinity has no JSON: give null or text");
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Map) return fromEntries(value);
    if (value instanceof Set) return [...value];
    if (value instanceof Promise) throw new TypeError("a promise is not a value: await it first, or Promise.all");
    return value instanceof Error ? told(value) : value;
  }

  // null would leave an argument out: a filter that came to nothing would match everything. (undefined does leave it out,
  // as everywhere in JavaScript.)
  function sent(key, value) {
    if (typeof value === "number" && value !== value) throw new TypeError(`${key} is NaN, which is no argument`);
    if (typeof value === "function" || typeof value === "symbol") {
      throw new TypeError(`${key} is a ${typeof value}, which is no argument`);
    }
    // a date has become text by now, and an invalid one null
    if (value === null && this[key] !== null) throw new TypeError(`${key || "an argument"} is no valid date or value`);
    return honest(key, value);
  }

  function json(value, what, replace = honest) {
    if (typeof value === "function" || typeof value === "symbol") {
      throw new TypeError(`${what} is a ${typeof value}, which has no JSON`);
    }
    return stringify(value, replace) ?? "null";
  }

  const told = (error) => (error.message ? `${error.name}: ${error.message}` : `${error.name}`);

  function shown(value) {
    if (typeof value === "function") return "[function]";
    if (typeof value !== "object") return String(value);
    try {
      if (value instanceof Date) return isoDate(value);
      return value instanceof Error ? told(value) : stringify(value, honest) ?? "undefined";
    } catch (error) {
      return `[not shown: ${shortly(error)}]`;
    }
  }

  function shortly(error) {
    try {
      return slice(error instanceof Error ? told(error) : `thrown: ${shown(error)}`, 0, ERROR_CHARS);
    } catch {
      return "an error that cannot be shown";
    }
  }

  // ---- errors, with the lines of the model's own code and of nothing else

  const lines = new WeakMap();
  defineProperty(Error, "prepareStackTrace", {
    value: (error, sites) => {
      let stack = shortly(error);
      for (let i = 0; i < sites.length; i++) {
        if (sites[i].getScriptNameOrSourceURL() !== "code") continue;
        const line = sites[i].getLineNumber() - HEADER_LINES;
        if (!lineOf(lines, error)) setLine(lines, error, line);
        stack += `\n    at line ${line}`;
      }
      return stack;
    },
  });

  function failure(error) {
    const message = { __proto__: null, told: shortly(error) };
    try {
      if (error instanceof Error && error.stack) message.line = lineOf(lines, error);
    } catch {
      // told without its line
    }
    return stringify({ __proto__: null, error: message });
  }

  // ---- calls of the host's functions: one at a time is with the host, the others wait in a list

  let waiting = null; // {message, answer, next}: the first is the one that the host has
  let newest = null;
  let made = 0;
  let settings;

  function ask(path, args) {
    let text = "";
    for (let i = 0; i < args.length; i++) {
      text += (i ? "," : "") + json(args[i], `argument ${i + 1} of ${path}`, sent);
      if (text.length > ARGUMENT_CHARS) throw new RangeError(`${path}: arguments over ${ARGUMENT_CHARS} characters`);
    }
    made += 1;
    if (made > settings.hostCalls) send({ over: "host calls" });
    const call = { __proto__: null, message: `{"call":${stringify(path)},"args":[${text}]}` };
    const promise = new Promise((resolve) => {
      call.answer = resolve;
    });
    if (waiting) {
      newest.next = call;
    } else {
      waiting = call;
      sendText(call.message);
    }
    newest = call;
    return promise;
  }

  function answer(message) {
    const call = waiting;
    waiting = call.next ?? null;
    if (waiting) sendText(waiting.message);
    call.answer({ __proto__: null, ...message });
  }

  function hostError(kind, message) {
    if (kind === "TypeError") return new TypeError(message);
    return defineProperty(new Error(message), "name", { value: kind, configurable: true, writable: true });
  }

  // an async function, so that an error of the host has the line of the model's code that waited for it
  const hostFunction = (path) =>
    freeze(async (...args) => {
      const { value, error } = await ask(path, args);
      if (error) throw hostError(error[0], error[1]);
      return value;
    });

  // ---- the model's surroundings

  function print(...values) {
    let text = "";
    for (let i = 0; i < values.length; i++) text += (i ? " " : "") + shown(values[i]);
    text += "\n";
    for (let start = 0; start < text.length && start <= settings.printChars; start += PRINT_CHARS) {
      send({ print: slice(text, start, start + PRINT_CHARS) });
    }
  }

  function surround(functions) {
    const console = { log: print, info: print, warn: print, error: print, debug: print, table: print, dir: print };
    const spaces = { __proto__: null, console };
    for (const space in functions) {
      if (space in globalThis) throw new TypeError(`the namespace ${space} is JavaScript's own: use another name`);
      spaces[space] = create(null);
      for (const name of functions[space]) spaces[space][name] = hostFunction(`${space}.${name}`);
    }
    for (const space in spaces) {
      defineProperty(globalThis, space, { value: freeze(spaces[space]), writable: false, configurable: false });
    }
  }

  let last = '{"idle":true}'; // what the host gets once nothing is left to run
  let misread = false;

  function start(message) {
    settings = message;
    let body;
    try {
      surround(message.spaces);
      // this constructor parses the body by itself, so that no bracket in it can close what stands around it
      body = new AsyncFunction(`${message.code}\n//# sourceURL=code`);
    } catch (error) {
      last = failure(error);
      misread = error instanceof SyntaxError;
      // only a script's own error has a line: as a script that throws before it comes to the code, should it be valid
      return misread ? `throw 0; async () => {\n${message.code}\n}` : undefined;
    }
    run(body);
  }

  async function run(body) {
    try {
      const value = await body();
      const early = waiting ? ',"early":true' : "";
      last = `{"value":${json(value, "the value")}${early}}`;
      if (last.length > VALUE_CHARS) last = '{"over":"output"}';
    } catch (error) {
      last = failure(error);
    }
  }

  function receive(text) {
    const message = parse(text);
    return settings ? answer(message) : start(message);
  }

  function settled() {
    if (!waiting && !misread) sendText(last);
  }

  return [buffer, [null], receive, settled];
})();
