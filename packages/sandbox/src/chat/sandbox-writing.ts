type CodeStyle = {
  fence: string;
  words: RegExp;
  write(name: string, task: string): string;
  test(name: string): string;
};

/** Each language writes the same: a function that is still to be filled in, and its tests. */
const codeStyles: readonly [CodeStyle, ...CodeStyle[]] = [
  {
    fence: "ts",
    words: /\b(?:typescript|ts)\b/i,
    write: (name, task) =>
      `/** ${task} */\nexport function ${name}<T>(items: readonly T[]): T[] {\n  return [...items];\n}`,
    test: (name) =>
      `test("keeps an empty list", () => expect(${name}([])).toEqual([]));\ntest("keeps one item", () => expect(${name}([1])).toEqual([1]));\ntest("keeps the order", () => expect(${name}([1, 2])).toEqual([1, 2]));`,
  },
  {
    fence: "python",
    words: /\bpython\b/i,
    write: (name, task) => `def ${toSnake(name)}(items):\n    """${task}"""\n    return list(items)`,
    test: (name) =>
      `assert ${toSnake(name)}([]) == []\nassert ${toSnake(name)}([1]) == [1]\nassert ${toSnake(name)}([1, 2]) == [1, 2]`,
  },
  {
    fence: "go",
    words: /\b(?:go|golang)\b/i,
    write: (name, task) =>
      `// ${name}: ${task}\nfunc ${name}[T any](items []T) []T {\n\treturn append([]T(nil), items...)\n}`,
    test: (name) => `if got := ${name}([]int{1, 2}); len(got) != 2 {\n\tt.Fatal(got)\n}`,
  },
  {
    fence: "rust",
    words: /\brust\b/i,
    write: (name, task) => `/// ${task}\nfn ${toSnake(name)}<T: Clone>(items: &[T]) -> Vec<T> {\n    items.to_vec()\n}`,
    test: (name) => `assert_eq!(${toSnake(name)}(&[1, 2]), vec![1, 2]);`,
  },
  {
    fence: "js",
    words: /\b(?:javascript|js|node)\b/i,
    write: (name, task) => `/** ${task} */\nexport function ${name}(items) {\n  return [...items];\n}`,
    test: (name) => `assert.deepEqual(${name}([]), []);\nassert.deepEqual(${name}([1, 2]), [1, 2]);`,
  },
];

/** Functions that are asked for often, in TypeScript. */
const knownFunctions: readonly [words: RegExp, code: string, tests: string, note: string][] = [
  [
    /\bconsecutive days\b|\bruns of\b.*\bda(?:y|te)s\b/i,
    `const dayMs = 86_400_000;

/** Dates such as "2026-03-29", in any order. */
export function groupRuns(dates: readonly string[]): string[][] {
  const runs: string[][] = [];
  for (const date of [...new Set(dates)].sort()) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (last !== undefined && Date.parse(date) - Date.parse(last) === dayMs) run?.push(date);
    else runs.push([date]);
  }
  return runs;
}`,
    `test("no dates", () => expect(groupRuns([])).toEqual([]));
test("a gap", () => expect(groupRuns(["2026-01-01", "2026-01-03"])).toEqual([["2026-01-01"], ["2026-01-03"]]));
test("a clock change", () => expect(groupRuns(["2026-03-29", "2026-03-30"])).toEqual([["2026-03-29", "2026-03-30"]]));`,
    "A date without a time is parsed as UTC, where every day has 24 hours. A change of daylight saving time does not split a run.",
  ],
];

/** "Write a Python function that …": the code, tests if asked for, and what is left to do. */
export function writeCode(question: string): string | null {
  const pattern =
    /\b(?:write|create|implement|give me|show me)\b(?: me)?(?: an?| the| some)?((?: [\w+#-]{1,20}){0,3}?) (?:function|method|program|script|code)\b(?: (?:that|which|to|for))? ?([^.\n]{0,200})/i;
  const [, language = "", task = ""] = pattern.exec(question) ?? [];
  if (task.trim() === "") return null;
  const style = codeStyles.find(({ words }) => words.test(language)) ?? codeStyles[0];
  const hasTests = /\btests?\b/i.test(question);
  const known = style.fence === "ts" ? knownFunctions.find(([words]) => words.test(task)) : undefined;
  if (known !== undefined) {
    const [, code, tests, note] = known;
    return [fence(style, code), ...(hasTests ? [fence(style, tests)] : []), note].join("\n\n");
  }
  const description = task.split(/,? and (?:\w+ ){0,2}tests?\b/i)[0]?.trim() ?? task;
  const name = nameFunction(description);
  const code = style.write(name, `${description.slice(0, 1).toUpperCase()}${description.slice(1)}.`);
  const rest = hasTests ? [fence(style, style.test(name))] : [];
  return [fence(style, code), ...rest, "This is the frame of the function. The sandbox leaves its body to you."].join(
    "\n\n",
  );
}

function fence({ fence: language }: CodeStyle, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}

const smallWords = new Set("a an the of to in into for and or with that which from by on".split(" "));

/** "groups dates into runs" becomes groupsDatesRuns. */
function nameFunction(task: string): string {
  const words = (task.toLowerCase().match(/[a-z]{1,20}/g) ?? []).filter((word) => !smallWords.has(word)).slice(0, 3);
  const [first = "run", ...rest] = words;
  return first + rest.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}

function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const columnsMax = 8;
const rowsMax = 40;
const timeWords =
  /,?\s*((?:by|on|before|until|after|at|in|from)\s+(?:next\s+|the\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day(?:\s+(?:noon|morning|afternoon|evening|night))?|(?:by|on|before|until|at)\s+(?:noon|midnight|\d[\w:.-]*(?:\s?(?:am|pm))?)|(?:by\s+)?(?:today|tomorrow|tonight|next (?:week|month))(?:\s+if possible)?)/i;

/** "Turn these notes into a table with the columns Who, What and When:" one row per sentence. */
export function writeTable(question: string): string | null {
  const pattern = /\btable\b[^:\n]{0,40}\bcolumns? ([^:\n]{1,200}):\s*(.+)$/is;
  const [, named = "", notes = ""] = pattern.exec(question) ?? [];
  const columns = named
    .split(/\s*,\s*(?:and\s+)?|\s+and\s+/i)
    .filter(Boolean)
    .slice(0, columnsMax);
  if (columns.length === 0 || notes === "") return null;
  const sentences = notes.split(/(?<=[.!?])\s+|\n+/).filter((sentence) => sentence.trim() !== "");
  const rows = sentences.slice(0, rowsMax).map((sentence) => readRow(sentence, columns));
  return [columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** A sentence has a person, a time and a rest; the names of the columns decide which goes where. */
function readRow(sentence: string, columns: readonly string[]): string[] {
  const plain = sentence
    .trim()
    .replace(/[.!?]+$/, "")
    .replaceAll("|", "/");
  const [, who = ""] = /^((?:\p{Lu}[\p{L}’'-]*)(?:(?:, | and )\p{Lu}[\p{L}’'-]*)*)\s/u.exec(plain) ?? [];
  const time = timeWords.exec(plain)?.[1] ?? "";
  const rest = plain.slice(who.length).replace(timeWords, "").replaceAll(/\s+/g, " ").trim();
  let isRestUsed = false;
  return columns.map((column) => {
    if (/\b(?:who|name|person|owner|assignee)\b/i.test(column)) return who;
    if (/\b(?:when|date|due|deadline|time|day)\b/i.test(column)) return time.replace(/^(?:on|by)\s+/i, "");
    if (isRestUsed) return "";
    isRestUsed = true;
    return rest;
  });
}

/** A poem or haiku about anything. */
export function writePoem(question: string): string | null {
  const pattern =
    /\b(?:write|compose|give me|tell me)\b[^.\n]{0,30}\b(poem|haiku|verse|limerick)\b(?: (?:about|on|for) ([^.?!\n]{1,60}))?/i;
  const [, form = "", about = "the water"] = pattern.exec(question) ?? [];
  if (form === "") return null;
  const topic = about.trim();
  if (form.toLowerCase() === "haiku")
    return `Morning, still and wide.\nA thought of ${topic} drifts by.\nThe water moves on.`;
  return `I looked for ${topic} at the break of day,\nwhen all the lamps were low;\nthe light came in and would not stay,\nbut taught me where to go.`;
}
