import fc from "fast-check";
import { expect, test } from "vitest";
import { createEventReader } from "./read-events.ts";

function read(...chunks: readonly (string | Buffer)[]): string[] {
  const events: string[] = [];
  const reader = createEventReader({ onEvent: (text, from, to) => events.push(text.slice(from, to)) });
  for (const chunk of chunks) expect(reader.add(Buffer.from(chunk))).toBe(true);
  reader.end();
  return events;
}

test.each([
  ["LF", "data: a\n\ndata: b\n\n", ["a", "b"]],
  ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["CR", "data: a\r\rdata: b\r\r", ["a", "b"]],
  ["all of them mixed", "data: a\n\r\ndata: b\r\n\ndata: c\r\r\ndata: d\n\n", ["a", "b", "c", "d"]],
])("lines may end in %s", (_ends, stream, events) => {
  expect(read(stream)).toEqual(events);
});

test.each([
  ["comments and other fields are skipped", ": hello\nevent: x\nid: 1\nretry: 5\ndata: a\n: more\n\n", ["a"]],
  ["several lines of data are joined", "data: a\ndata:b\ndata:\ndata:  c\n\ndata: d\n\n", ["a\nb\n\n c", "d"]],
  ["the space after the colon is optional, and only one is removed", "data:a\n\ndata:  b\n\n", ["a", " b"]],
  ["an event without data is not emitted", "event: ping\n\n\n\n:\n\n", []],
  ["data may be empty", "data:\n\ndata: a\n\n", ["", "a"]],
  ["a field that only starts with data is another", "database: a\n\ndata: b\n\n", ["b"]],
  ["a byte order mark at the start is ignored", "\uFEFFdata: a\n\n", ["a"]],
  ["a byte order mark elsewhere is text", "data: a\n\ndata: \uFEFFb\n\n", ["a", "\uFEFFb"]],
  ["a byte order mark before a later field makes it another", "data: a\n\n\uFEFFdata: b\n\n", ["a"]],
  ["an event without its empty line is emitted at the end", "data: a\n\ndata: b", ["a", "b"]],
  ["so is a last event of several lines", "data: a\ndata: b\n", ["a\nb"]],
])("%s", (_what, stream, events) => {
  expect(read(stream)).toEqual(events);
});

test("an event is emitted as soon as its empty line arrives", () => {
  const events: string[] = [];
  const reader = createEventReader({ onEvent: (text, from, to) => events.push(text.slice(from, to)) });
  reader.add(Buffer.from("data: a\n\ndata: b\n"));
  expect(events).toEqual(["a"]);
  reader.add(Buffer.from("\n"));
  expect(events).toEqual(["a", "b"]);
  reader.add(Buffer.from("data: c\r"));
  reader.add(Buffer.from("\n\r"));
  expect(events).toEqual(["a", "b", "c"]);
});

const line = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
  fc.constantFrom("", "", "data", "data:", "\uFEFFdata: x", ": ping", "event: x", "data: 🦊 ü 漢字", "data:[DONE]"),
);
const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const stream = fc.array(fc.tuple(line, lineEnd), { maxLength: 12 }).map((lines) => lines.flat().join(""));

test("a stream gives the same events however it is split", () => {
  fc.assert(
    fc.property(stream, fc.boolean(), fc.array(fc.nat(400), { maxLength: 5 }), (text, hasMark, cuts) => {
      const bytes = Buffer.from(hasMark ? `\uFEFF${text}` : text);
      const whole = read(bytes);
      expect(read(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
      for (let at = 1; at < bytes.length; at += 1) {
        expect(read(bytes.subarray(0, at), bytes.subarray(at))).toEqual(whole);
      }
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((one, other) => one - other), bytes.length];
      expect(read(...places.map((place, index) => bytes.subarray(place, places[index + 1])))).toEqual(whole);
    }),
  );
});

test("the events read equal the events written", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((value) => !/[\r\n]/.test(value));
  fc.assert(
    fc.property(fc.array(text), lineEnd, (texts, end) => {
      expect(read(texts.map((value) => `data: ${value}${end}${end}`).join(""))).toEqual(texts);
    }),
  );
});

test("an event may have four megabytes and no more, however small its parts", () => {
  const reader = createEventReader({ onEvent() {} });
  const part = Buffer.alloc(1024, "a");
  for (let count = 0; count < 4096; count += 1) expect(reader.add(part)).toBe(true);
  expect(reader.add(part)).toBe(false);
});

test("many events together may exceed the limit of one", () => {
  let count = 0;
  const reader = createEventReader({
    onEvent() {
      count += 1;
    },
  });
  const events = Buffer.from(`data: ${"a".repeat(2000)}\n\n`.repeat(20));
  for (let times = 0; times < 200; times += 1)
    expect(reader.add(events.subarray(0, -1))).toBe(reader.add(events.subarray(-1)));
  expect(count).toBe(4000);
});
