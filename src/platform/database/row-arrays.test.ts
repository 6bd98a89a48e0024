import { expect, test } from "vitest";
import { createRowArrays } from "./row-arrays.ts";

/** What is written for one row of these values. */
function present(values: readonly (string | bigint | null)[]): string {
  const rows = createRowArrays();
  const addRow = (row: typeof values): void => {
    for (const value of row) rows.add(value);
  };
  return String(rows.write([values], addRow));
}

function presentList(values: readonly (string | bigint)[]): string {
  const rows = createRowArrays();
  return String(rows.write([values], (row) => rows.addList(row, (value) => value)));
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
  [["pkt_1"], '{"(\\"{pkt_1}\\")"}'],
  [[1n, 20n], '{"(\\"{1,20}\\")"}'],
])("the list %s", (values, written) => {
  expect(presentList(values)).toBe(written);
});

test("numbers are written to the last digit", () => {
  const bounds = [0n, 9n, 10n, 999_999_999n, 1_000_000_000n, 1_000_000_001n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n];
  for (const bound of [...bounds, 1_000_000_000_000_000_000n, 2n ** 63n - 1n])
    for (const value of [bound - 1n, bound, bound + 1n, -bound]) expect(present([value])).toBe(`{"(${value})"}`);
  for (let value = 1n; value < 10n ** 18n; value = value * 7n + 3n) expect(present([value])).toBe(`{"(${value})"}`);
});

test("arrays stay as they are while others are written, however large", () => {
  const rows = createRowArrays();
  const first = rows.write(["a", "b"], rows.add);
  const second = rows.write([new Date(0), null], rows.addTime);
  const long = "x".repeat(100_000);
  const third = rows.write([long], rows.add);
  expect(String(first)).toBe('{"(a)","(b)"}');
  expect(String(second)).toBe('{"(1970-01-01T00:00:00.000Z)","()"}');
  expect(String(third)).toBe(`{"(${long})"}`);
  expect(rows.write([], rows.add)).toBeNull();
});
