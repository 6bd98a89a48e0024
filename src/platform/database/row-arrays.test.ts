import { expect, test } from "vitest";
import { createRowType, presentRows } from "./row-arrays.ts";

function present(values: readonly (string | bigint | null)[]): string {
  const columns = values.map((value) =>
    typeof value === "bigint"
      ? (["n", "bigint", (): bigint => value] as const)
      : (["t", "text", (): string | null => value] as const),
  );
  return String(presentRows(createRowType("row", columns), [{}]));
}

function presentList(values: readonly string[]): string {
  return String(presentRows(createRowType("row", [["l", "text[]", () => values]]), [{}]));
}

test.each([
  [["hold_1", "acct_1", null, "open"], '{"(hold_1,acct_1,,open)"}'],
  [[null, ""], '{"(,\\"\\")"}'],
  [["a b", 'say "x"', "\\"], '{"(\\"a b\\",\\"say \\\\\\"x\\\\\\"\\",\\"\\\\\\\\\\")"}'],
  [["größe", "(,)"], '{"(\\"größe\\",\\"(,)\\")"}'],
])("the row %j", (values, written) => {
  expect(present(values)).toBe(written);
});

test.each([
  [[], '{"(\\"{}\\")"}'],
  [["bkt_1"], '{"(\\"{bkt_1}\\")"}'],
  [["null", "a b"], '{"(\\"{\\\\\\"null\\\\\\",\\\\\\"a b\\\\\\"}\\")"}'],
])("the list %s", (values, written) => {
  expect(presentList(values)).toBe(written);
});

test("numbers are written exactly", () => {
  const bounds = [0n, 9n, 10n, 999_999_999n, 1_000_000_000n, 1_000_000_001n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n];
  for (const bound of [...bounds, 1_000_000_000_000_000_000n, 2n ** 63n - 1n])
    for (const value of [bound - 1n, bound, bound + 1n, -bound]) expect(present([value])).toBe(`{"(${value})"}`);
  for (let value = 1n; value < 10n ** 18n; value = value * 7n + 3n) expect(present([value])).toBe(`{"(${value})"}`);
});

test("several rows, other types, and none", () => {
  const text = createRowType<string>("text_row", [["value", "text", (value) => value]]);
  const time = createRowType<Date | null>("time_row", [["value", "timestamptz", (value) => value]]);
  const other = createRowType<number>("other_row", [
    ["is_odd", "boolean", (value) => value % 2 === 1],
    ["value", "smallint", (value) => value],
    ["amounts", "bigint[]", (value) => [BigInt(value), 20n]],
  ]);
  expect(presentRows(text, ["a", "b"])).toBe('{"(a)","(b)"}');
  expect(presentRows(time, [new Date(0), null])).toBe('{"(1970-01-01T00:00:00.000Z)","()"}');
  expect(presentRows(other, [1])).toBe('{"(true,1,\\"{1,20}\\")"}');
  expect(presentRows(text, [])).toBeNull();
  const bytes = createRowType<Buffer | null>("bytes_row", [["value", "bytea", (value) => value]]);
  expect(presentRows(bytes, [Buffer.from("hi"), null])).toBe('{"(\\\\\\\\x6869)","()"}');
});

test("a row has its own values, whichever rows were written before it", () => {
  type Thing = { text: string | null; time: Date | null; texts: readonly string[]; amounts: readonly bigint[] };
  const createRows = () =>
    createRowType<Thing>("thing", [
      ["text", "text", ({ text }) => text],
      ["time", "timestamptz", ({ time }) => time],
      ["texts", "text[]", ({ texts }) => texts],
      ["amounts", "bigint[]", ({ amounts }) => amounts],
    ]);
  const things: Thing[] = [];
  for (const text of ["a", "", null, "null"]) {
    for (const time of [new Date(1), null, new Date(0)]) {
      for (const texts of [["x", "y"], ["x"], [], ["y", "x"]]) {
        for (const amounts of [[1n, 2n], [2n], []]) things.push({ text, time, texts, amounts });
      }
    }
  }
  for (const order of [things, things.toReversed(), [...things, ...things]]) {
    const alone = order.map((thing) => String(presentRows(createRows(), [thing])).slice(2, -2));
    expect(presentRows(createRows(), order)).toBe(`{"${alone.join('","')}"}`);
  }
});
