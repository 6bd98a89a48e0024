import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CatalogFile } from "./catalog-file.ts";
import { type LocatedProblem, parseCatalog } from "./parse-catalog.ts";
import { amountNames } from "./price.ts";

const right = `# A comment moves every line.
currency: USD
providers:
  - id: main
    kind: sandbox
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming]
    limits: { context_window: 8000 }
    routes:
      - { provider: main, upstream_model: talk-1, weight: 5 }
prices:
  - model: talk
    billing_type: token
    unit: 1K tokens
    input_price: "0.1"
    output_price: "0.2"
`;

type Place = { line: number; column: number };

/** Removes the marks (▸) and returns their places as an editor counts them. */
function readMarks(marked: string): { source: string; places: Place[] } {
  const [first = "", ...rest] = marked.split("▸");
  let source = first;
  const places = rest.map((part) => {
    const lines = source.split("\n");
    source += part;
    return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
  });
  return { source, places };
}

function edit(from: string, to: string): string {
  expect(right).toContain(from);
  return right.replace(from, to);
}

function listProblems(source: string): LocatedProblem[] {
  const parsed = parseCatalog(source);
  return parsed.kind === "malformed" ? parsed.problems : [];
}

function listPlaces(source: string): Place[] {
  return listProblems(source).map(({ line, column }) => ({ line, column }));
}

function parseFile(source: string): CatalogFile {
  const parsed = parseCatalog(source);
  if (parsed.kind === "malformed") throw new Error(JSON.stringify(parsed.problems));
  return parsed.file;
}

test("a valid file is parsed as written", () => {
  const { prices, models, ...rest } = parseFile(right);
  expect(rest).toEqual({ currency: "USD", providers: [{ id: "main", kind: "sandbox" }] });
  expect(models).toEqual([
    {
      ...{ id: "talk", name: "Talk", type: "chat", capabilities: ["chat", "streaming"] },
      limits: { context_window: 8000 },
      routes: [{ provider: "main", upstream_model: "talk-1", weight: 5 }],
    },
  ]);
  const amounts = { input_price: "0.1", output_price: "0.2" };
  expect(prices).toEqual([{ model: "talk", billing_type: "token", unit: "1K tokens", ...amounts }]);
});

describe("a mistake is reported with its line, column and path", () => {
  const list = "providers:\n  - id: main\n    kind: sandbox";
  const route = "{ provider: main, upstream_model: talk-1, weight: 5 }";
  const abilities = "capabilities: [chat, streaming]";
  const amount = 'output_price: "0.2"';
  test.each<[string, string, string, string, string]>([
    [
      "an unknown field at the top",
      "currency",
      "▸color: red\ncurrency",
      "color",
      "There is no field color here. Remove it, or correct its name.",
    ],
    [
      "an unknown field inside",
      "weight: 5",
      "▸wait: 5",
      "models[0].routes[0].wait",
      "There is no field wait here. Remove it, or correct its name.",
    ],
    [
      "an unknown limit",
      "context_window",
      "▸depth",
      "models[0].limits.depth",
      "There is no field depth here. Remove it, or correct its name.",
    ],
    ["an odd name", "kind: sandbox", "kind: sandbox\n    ▸a/b~c: 1", "providers[0].a/b~c", "no field a/b~c here."],
    ["a missing field", "- id: main\n    kind", "- ▸kind", "providers[0]", "id is missing. Add it."],
    ["text for a list", list, "▸providers: main", "providers", "providers must be of type array."],
    ["nothing for a list", list, "▸providers:", "providers", "providers must be of type array."],
    ["text for a group", route, "▸main", "models[0].routes[0]", "must be of type object."],
    ["a number for a provider's id", "id: main", "▸id: 7", "providers[0].id", "id must be of type string."],
    ["a truth value for a model's id", "id: talk", "▸id: true", "models[0].id", "id must be of type string."],
    ["nothing for a model's id", "id: talk", "▸id:", "models[0].id", "id must be of type string."],
    ["an empty name", "name: Talk", '▸name: ""', "models[0].name", "name must not be empty."],
    [
      "no kind",
      "kind: sandbox",
      "▸kind: x",
      "providers[0].kind",
      "kind must be one of: sandbox, openai-compatible, azure, anthropic, google, vertex, bedrock, ai-sdk, fal, bedrock-media,",
    ],
    ["no type", "type: chat", "▸type: book", "models[0].type", "type must be one of: chat, image, "],
    ["no way to bill", "billing_type: token", "▸billing_type: x", "prices[0].billing_type", "must be one of: token, "],
    ["no capability", "streaming]", "▸flying]", "models[0].capabilities[1]", "must be one of: chat, streaming, "],
    ["no capabilities", abilities, "▸capabilities: []", "models[0].capabilities", "must have at least 1 item."],
    ["too small a number", "weight: 5", "▸weight: 0", "models[0].routes[0].weight", "weight must be >= 1."],
    ["no whole number", "weight: 5", "▸weight: 1.5", "models[0].routes[0].weight", "weight must be of type integer."],
    ["a list for an amount", amount, "▸output_price: [1]", "prices[0].output_price", "must be of type string."],
    ["nothing for an amount", amount, "▸output_price:", "prices[0].output_price", "must be of type string."],
  ])("%s", (_mistake, from, to, path, message) => {
    const { source, places } = readMarks(edit(from, to));
    expect(listProblems(source)).toEqual([{ ...places[0], path, message: expect.stringContaining(message) }]);
  });

  test.each<[string, string, string]>([
    ["a bracket that stays open", "currency: USD\nproviders: [\n▸models: []\n", "Flow sequence"],
    ["a tab at the start of a line", "currency: USD\nproviders:\n▸\t- id: main\n", "Tabs are not allowed"],
    ["a key that comes twice", edit("kind: sandbox", "kind: sandbox\n    ▸kind: sandbox"), "Map keys must be unique"],
    ["a second document", `${right}▸---\n${right}`, "multiple documents"],
  ])("invalid YAML: %s", (_mistake, marked, words) => {
    const { source, places } = readMarks(marked);
    const message = expect.stringMatching(`^This is not valid YAML: .*${words}`);
    expect(listProblems(source)).toEqual([{ ...places[0], path: "", message }]);
  });

  test.each([
    ["empty", ""],
    ["blank", "\n  \n"],
    ["only a comment", "# nothing yet\n"],
    ["a list", "- currency: USD\n"],
    ["a word", "USD"],
  ])("a file that is %s is rejected at its first line", (_form, source) => {
    const problem = { line: 1, column: 1, path: "", message: "The file must be of type object." };
    expect(listProblems(source)).toEqual([problem]);
  });

  test("an unknown field is located at the start of its name", () => {
    const shape = fc.record({
      gaps: fc.array(fc.constantFrom([], [""], ["# — oddly: placed", ""]), { minLength: 1, maxLength: 6 }),
      wrong: fc.nat({ max: 5 }),
      indent: fc.integer({ min: 0, max: 6 }).map((spaces) => " ".repeat(spaces)),
      newline: fc.constantFrom("\n", "\r\n"),
    });
    fc.assert(
      fc.property(shape, ({ gaps, wrong, indent, newline }) => {
        const index = wrong % gaps.length;
        const providers = gaps.flatMap((gap, position) => [
          ...[...gap, `${indent}- id: main`, `${indent}  kind: sandbox`],
          ...(position === index ? [`${indent}  oddly: placed`] : []),
        ]);
        const lines = ["providers:", ...providers, "currency: USD", "models: []", "prices: []"];
        const [problem, ...others] = listProblems(lines.join(newline));
        expect(others).toEqual([]);
        expect(problem?.path).toBe(`providers[${index}].oddly`);
        expect(lines[(problem?.line ?? 0) - 1]?.slice((problem?.column ?? 0) - 1)).toBe("oddly: placed");
      }),
    );
  });
});

describe("many mistakes are all reported", () => {
  test("each missing field has its own message", () => {
    const messages = listProblems("currency: USD\n").map(({ message }) => message);
    expect(messages).toEqual([
      "providers is missing. Add it.",
      "models is missing. Add it.",
      "prices is missing. Add it.",
    ]);
  });

  test("forty wrong entries are forty problems, in file order", () => {
    const providers = Array.from({ length: 40 }, (_, id) => `  - id: main${id}\n    ▸kind: cloud\n`).join("");
    const { source, places } = readMarks(`currency: USD\nproviders:\n${providers}models: []\nprices: []\n`);
    expect(listPlaces(source)).toEqual(places);
  });

  test("mistakes of different kinds and depths come in file order", () => {
    const { source, places } = readMarks(
      "▸color: red\nprices:\n  - ▸model: 7\n    ▸price: true\n    unit: call\n    ▸billing_type: x\n" +
        "models: []\nproviders:\n  - id: main\n    ▸kind: cloud\n  - ▸id: spare\n▸currency: 5\n",
    );
    expect(listPlaces(source)).toEqual(places);
  });
});

describe("amounts", () => {
  const unpriced = right.replaceAll(/ +(input|output)_price: .*\n/g, "");

  test.each([
    "0.1",
    "0.10",
    "1e-7",
    "0.30000000000000004",
    "007",
    "-1",
    "0x10",
    "12345678901234567890.5",
    ".5",
    ".inf",
  ])("%s without quotes stays exactly as written", (written) => {
    expect(parseFile(`${right}    price: ${written}\n`).prices[0]?.price).toBe(written);
  });

  test("every digit is kept, in each amount field", () => {
    fc.assert(
      fc.property(fc.constantFrom(...amountNames), fc.stringMatching(/^\d{1,20}(\.\d{1,30})?$/), (name, amount) => {
        expect(parseFile(`${unpriced}    ${name}: ${amount}\n`).prices[0]?.[name]).toBe(amount);
      }),
    );
  });
});

describe("anchors and aliases", () => {
  test("an entry may be defined once and reused", () => {
    const source = edit("- id: main", "- &shared\n    id: main").replace("models:\n", "  - *shared\nmodels:\n");
    const provider = { id: "main", kind: "sandbox" };
    expect(parseFile(source).providers).toEqual([provider, provider]);
  });

  test("an alias without an anchor is reported like any other mistake", () => {
    const message = expect.stringContaining("nothing");
    expect(listProblems(edit("currency: USD", "currency: *nothing"))).toMatchObject([{ line: 2, message }]);
  });

  test("aliases that would expand into billions of entries are rejected, not expanded", () => {
    const layers = Array.from({ length: 12 }, (_, depth) => {
      const item = depth === 0 ? "x" : `*layer${depth - 1}`;
      return `layer${depth}: &layer${depth} [${Array(9).fill(item).join(", ")}]\n`;
    });
    const problems = listProblems(`${layers.join("")}${right}`);
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(problems).length).toBeLessThan(10_000);
  });

  test("a list that contains itself is rejected", () => {
    const problems = listProblems("currency: USD\nproviders: &p [*p]\nmodels: []\nprices: []\n");
    expect(problems).toMatchObject([{ line: 2, path: "providers[0]" }]);
  });

  test("a file nested thousands of levels deep is rejected", () => {
    expect(listProblems(edit("USD", `${"[".repeat(5000)}${"]".repeat(5000)}`)).length).toBeGreaterThan(0);
  });
});

test("a problem found later is located in the text; for a missing value, at the nearest one around it", () => {
  const { source, places } = readMarks(edit("prices:\n  - model: talk\n    b", "▸prices:\n  - ▸model: talk\n    ▸b"));
  const parsed = parseCatalog(source);
  if (parsed.kind === "malformed") throw new Error("the file is right");
  const locate = (...path: (string | number)[]) => parsed.locate({ path, message: "No." });
  const [prices, entry, billing] = places;
  const message = "No.";
  expect(locate("prices", 0)).toEqual({ ...entry, path: "prices[0]", message });
  expect(locate("prices", 0, "billing_type")).toEqual({ ...billing, path: "prices[0].billing_type", message });
  expect(locate("prices", 0, "price")).toEqual({ ...entry, path: "prices[0].price", message });
  expect(locate("prices", 9, "price")).toEqual({ ...prices, path: "prices[9].price", message });
  expect(locate()).toEqual({ line: 1, column: 1, path: "", message });
});
