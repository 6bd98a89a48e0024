import fc from "fast-check";
import { expect, test } from "vitest";
import { presentCsvLine } from "./csv.ts";

test("numbers stay numbers, and formulas are escaped to text", () => {
  expect(presentCsvLine(["-0.00045", "12", "=1+1", "+1", "-x", "@a", "\ttab"])).toBe(
    "-0.00045,12,'=1+1,'+1,'-x,'@a,'\ttab\r\n",
  );
});

test("every field parses back to its value", () => {
  const anything = fc.array(fc.string({ unit: fc.constantFrom("a", '"', ",", "\r", "\n", "=", "é") }), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(anything, (fields) => {
      const unmarked = readLine(presentCsvLine(fields)).map((field) => field.replace(/^'(?=[=+\-@\t\r])/, ""));
      expect(unmarked).toEqual(fields);
    }),
  );
});

/** Parses RFC 4180. */
function readLine(line: string): string[] {
  expect(line.endsWith("\r\n")).toBe(true);
  const text = `,${line.slice(0, -2)}`;
  const fields = [...text.matchAll(/,(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)];
  expect(fields.map(([whole]) => whole).join("")).toBe(text);
  return fields.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "");
}
