import { expect, test } from "vitest";
import {
  areCopies,
  findUnreadFacts,
  isGiven,
  isUnread,
  leaveUnread,
  parseAround,
  pickRead,
  readCopy,
  readListStart,
  shareUnread,
  writeWithUnread,
} from "./unread-json.ts";

const json = '{ "model":"ours", "list" :[ {"a":1.0} , 2 ],"user":"é" }';
type Fields = Record<string, unknown>;

function outline(): Fields {
  const bytes = Buffer.from(json);
  const from = bytes.indexOf("[");
  const to = bytes.indexOf("]") + 1;
  return parseAround(bytes, [{ name: "list", from, to }], () => "known") as Fields;
}

test("a field is read once, in its place, and then nothing is known of it without reading it", () => {
  const record = outline();
  expect(isUnread(record, "list")).toBe(true);
  expect(isGiven(record, "list")).toBe(true);
  expect(isGiven(record, "other")).toBe(false);
  expect(Object.keys(record)).toEqual(["model", "list", "user"]);
  expect(findUnreadFacts(record)).toBe("known");
  const { list } = record;
  expect(list).toEqual([{ a: 1 }, 2]);
  expect(record.list).toBe(list);
  expect(isUnread(record, "list")).toBe(false);
  expect(findUnreadFacts(record)).toBeNull();
});

test("copies are like those of a parsed object", () => {
  const copy = { ...outline() };
  expect(copy).toEqual(JSON.parse(json));
  expect(findUnreadFacts(copy)).toBeNull();
  expect(JSON.stringify(outline())).toBe(JSON.stringify(JSON.parse(json)));
});

test("a replaced or deleted field is like any other", () => {
  const record = outline();
  record.list = 3;
  expect(record.list).toBe(3);
  expect(isUnread(record, "list")).toBe(false);
  const other = outline();
  delete other.list;
  expect(other.list).toBeUndefined();
});

test("what is written has the bytes of unread fields, and keeps them for the next time", () => {
  const record = outline();
  const first = writeWithUnread({ ...pickRead(record), model: "theirs" }, record);
  expect(String(first)).toBe('{"model":"theirs","user":"é","list":[ {"a":1.0} , 2 ]}');
  expect(String(writeWithUnread(pickRead(record), record))).toContain('"list":[ {"a":1.0} , 2 ]');
  expect(record.list).toEqual([{ a: 1 }, 2]);
});

test("a copy or the start of a list leaves the field unread", () => {
  const record = outline();
  expect(readCopy(record, "list")).toEqual([{ a: 1 }, 2]);
  expect(readListStart(record, "list", { items: 1, from: 1, to: 11 })).toEqual([{ a: 1 }]);
  expect(isUnread(record, "list")).toBe(true);
  Reflect.get(record, "list");
  expect(readListStart(record, "list", { items: 1, from: 1, to: 11 })).toEqual([{ a: 1 }]);
});

test("two objects can share a field, which is parsed once", () => {
  const record = outline();
  const other: Fields = { model: "theirs" };
  shareUnread(record, other, "shared");
  expect(areCopies(other)).toBe(true);
  expect(String(writeWithUnread(pickRead(other), other))).toBe('{"model":"theirs","list":[ {"a":1.0} , 2 ]}');
  expect(other.list).toBe(record.list);
});

test("a computed field has no bytes to copy", () => {
  const record: Fields = {};
  leaveUnread(record, { sum: { read: () => 3, text: null } }, null);
  expect(areCopies(record)).toBe(false);
  expect(record.sum).toBe(3);
});

test.each(['{"list":[],}', "[1]", '{"a":'])("%s is not outlined", (text) => {
  expect(parseAround(Buffer.from(text), [], () => null)).toBeNull();
});
