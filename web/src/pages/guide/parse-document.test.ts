import { expect, test } from "vitest";
import { flattenSpans } from "../../api/guide-document.ts";
import { parseMarkdown } from "./parse-document.ts";

test("a heading has the same anchor as on GitHub", () => {
  const [heading] = parseMarkdown("## Check the signature, then answer `2xx`");
  expect(heading).toMatchObject({ kind: "heading", level: 2, id: "check-the-signature-then-answer-2xx" });
});

test("the lines of a paragraph are joined, and a list ends it", () => {
  const blocks = parseMarkdown("One\ntwo.\n- an item\n  that goes on\n- another\n\nThree.");
  expect(blocks.map(({ kind }) => kind)).toEqual(["paragraph", "list", "paragraph"]);
  expect(blocks[0]).toEqual({ kind: "paragraph", spans: [{ kind: "text", text: "One two." }] });
  const items = blocks[1]?.kind === "list" ? blocks[1].items : [];
  expect(items.map(([first]) => (first?.kind === "paragraph" ? flattenSpans(first.spans) : null))).toEqual([
    "an item that goes on",
    "another",
  ]);
});

test("code and tables inside a list item belong to it", () => {
  const [list, ...after] = parseMarkdown(
    "1. Open:\n\n   ```\n   a\n     b\n   ```\n\n2. Then:\n\n   | x |\n   |---|\n   | y |\n\nEnd",
  );
  expect(list).toMatchObject({
    kind: "list",
    isOrdered: true,
    items: [
      [{ kind: "paragraph" }, { kind: "code", samples: [{ language: "", code: "a\n  b" }] }],
      [{ kind: "paragraph" }, { kind: "table" }],
    ],
  });
  expect(after).toHaveLength(1);
});

test("nothing inside a code block is parsed", () => {
  const [block, ...after] = parseMarkdown("```sh\n# no heading\n- no item\n\n| no table |\n```\nText");
  expect(block).toEqual({
    kind: "code",
    samples: [{ language: "sh", code: "# no heading\n- no item\n\n| no table |" }],
  });
  expect(after).toHaveLength(1);
});

test("adjacent programs in several languages are one sample, a response below them is not", () => {
  const blocks = parseMarkdown(
    "```ts\n1\n```\n\n```python\n2\n```\n\n```json\n3\n```\n\n```sh\n4\n```\n\n```sh\n5\n```",
  );
  const languages = blocks.map((block) => (block.kind === "code" ? block.samples.map(({ language }) => language) : []));
  expect(languages).toEqual([["ts", "python"], ["json"], ["sh"], ["sh"]]);
});

test("an escaped bar does not end a cell, even in code, and a cell can be empty", () => {
  const [table] = parseMarkdown("| a | |\n|---|---|\n| `x\\|y` | 1 \\| 2 |");
  expect(table).toMatchObject({
    head: [[{ text: "a" }], []],
    rows: [[[{ kind: "code", text: "x|y" }], [{ text: "1 | 2" }]]],
  });
});

test("a line can have code, strong text, links and images; the rest is plain text", () => {
  const [paragraph] = parseMarkdown(
    "See [the `x` page](a.md#b), **now `y`**, *so*, <https://e.example/>, ![p](../p.png) 2 * 3 * 4 <b>",
  );
  expect(paragraph?.kind === "paragraph" && paragraph.spans).toEqual([
    { kind: "text", text: "See " },
    {
      kind: "link",
      href: "a.md#b",
      spans: [
        { kind: "text", text: "the " },
        { kind: "code", text: "x" },
        { kind: "text", text: " page" },
      ],
    },
    { kind: "text", text: ", " },
    {
      kind: "strong",
      spans: [
        { kind: "text", text: "now " },
        { kind: "code", text: "y" },
      ],
    },
    { kind: "text", text: ", " },
    { kind: "emphasis", spans: [{ kind: "text", text: "so" }] },
    { kind: "text", text: ", " },
    { kind: "link", href: "https://e.example/", spans: [{ kind: "text", text: "https://e.example/" }] },
    { kind: "text", text: ", " },
    { kind: "image", source: "../p.png", text: "p" },
    { kind: "text", text: " 2 * 3 * 4 <b>" },
  ]);
});

test("a comment is not shown", () => {
  expect(parseMarkdown("<!-- Written from a table. -->\n\nText")).toHaveLength(1);
});
