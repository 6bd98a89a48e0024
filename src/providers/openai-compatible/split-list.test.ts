import { describe, expect, test } from "vitest";
import { createListSplitter } from "./split-list.ts";

const answer = {
  object: "list",
  data: [
    { index: 0, embedding: [0.5, -1e-7, [1]], note: 'a "quoted" ] } , \\ é' },
    { index: 1, embedding: "AAAA=" },
    {},
  ],
  usage: { prompt_tokens: 3, details: { cached: [1, 2] } },
  notes: ["[", { deep: [{}] }],
};

function split(text: string, size: number): { items: unknown[]; envelope: unknown } {
  const splitter = createListSplitter();
  const bytes = Buffer.from(text);
  const items: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) items.push(...splitter.add(bytes.subarray(at, at + size)));
  return { items: items.map((item) => JSON.parse(String(item))), envelope: JSON.parse(splitter.envelope()) };
}

describe("a response is split", () => {
  test.each([1, 2, 7, 64, 100_000])("in any chunks of %d bytes", (size) => {
    for (const text of [JSON.stringify(answer), JSON.stringify(answer, null, 2)]) {
      const { items, envelope } = split(text, size);
      // The objects of every top-level list are emitted; other values are dropped.
      expect(items).toEqual([...answer.data, { deep: [{}] }]);
      expect(envelope).toEqual({ ...answer, data: [], notes: [] });
    }
  });

  test("and one without a list is left unchanged", () => {
    const error = { error: { message: "no", param: [] } };
    expect(split(JSON.stringify(error), 5)).toEqual({ items: [], envelope: error });
    expect(split('[{"error":"no"}]', 3)).toEqual({ items: [], envelope: [{ error: "no" }] });
  });

  test("within a memory limit", () => {
    const splitter = createListSplitter();
    expect(() => splitter.add(Buffer.from(`{"error":"${"x".repeat(100_000)}"}`))).toThrow("too large");
  });
});
