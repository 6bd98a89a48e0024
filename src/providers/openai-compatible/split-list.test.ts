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

describe("an answer is taken apart", () => {
  test.each([1, 2, 7, 64, 100_000])("whatever the chunks are, %d bytes each", (size) => {
    for (const text of [JSON.stringify(answer), JSON.stringify(answer, null, 2)]) {
      const { items, envelope } = split(text, size);
      // The objects of any list of the answer's own are told; what is not an object is nothing that anybody asks for.
      expect(items).toEqual([...answer.data, { deep: [{}] }]);
      expect(envelope).toEqual({ ...answer, data: [], notes: [] });
    }
  });

  test("and one without a list is left as it is", () => {
    const error = { error: { message: "no", param: [] } };
    expect(split(JSON.stringify(error), 5)).toEqual({ items: [], envelope: error });
    expect(split('[{"error":"no"}]', 3)).toEqual({ items: [], envelope: [{ error: "no" }] });
  });

  test("but not kept without end", () => {
    const splitter = createListSplitter();
    expect(() => splitter.add(Buffer.from(`{"error":"${"x".repeat(100_000)}"}`))).toThrow("too large");
  });
});
