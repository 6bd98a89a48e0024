/** A piece of a line. */
export type Span =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "emphasis"; spans: Span[] }
  | { kind: "link"; href: string; spans: Span[] }
  | { kind: "image"; source: string; text: string };

type CodeText = { language: string; code: string };

export type Block =
  | { kind: "heading"; level: number; id: string; spans: Span[] }
  | { kind: "paragraph"; spans: Span[] }
  | { kind: "code"; samples: CodeText[] }
  | { kind: "table"; head: Span[][]; rows: Span[][][] }
  | { kind: "list"; isOrdered: boolean; items: Block[][] };

const heading = /^(#{1,4}) (.+)$/;
const fence = /^```(\w*)$/;
const item = /^(- |\d+\. )(.*)$/;
const comment = /^<!--.*-->$/;

/** Reads as much of Markdown as our documents use: headings, paragraphs, lists, tables, code, and what is in a line. */
export function parseMarkdown(text: string): Block[] {
  return parseLines(text.split("\n"));
}

function parseLines(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "" || comment.test(line)) {
      at += 1;
      continue;
    }
    const { block, length } = parseBlock(lines.slice(at), line);
    const last = blocks.at(-1);
    if (last?.kind === "code" && block.kind === "code" && areTranslations(last, block))
      last.samples.push(...block.samples);
    else blocks.push(block);
    at += length;
  }
  return blocks;
}

const programmingLanguages = ["sh", "ts", "python"];

/** Programs that follow each other without a word, each in another language, do the same. */
function areTranslations(earlier: Code, later: Code): boolean {
  const languages = [...earlier.samples, ...later.samples].map(({ language }) => language);
  return new Set(languages).size === languages.length && languages.every((name) => programmingLanguages.includes(name));
}

type Code = Extract<Block, { kind: "code" }>;
type Taken = { block: Block; length: number };

function parseBlock(lines: readonly string[], first: string): Taken {
  const title = heading.exec(first);
  if (title !== null) return { block: presentHeading(title[1] ?? "", title[2] ?? ""), length: 1 };
  if (fence.test(first)) return takeCode(lines, fence.exec(first)?.[1] ?? "");
  if (first.startsWith("|")) return takeTable(lines);
  if (item.test(first)) return takeList(lines, first);
  const length = countWhile(lines, (line, index) => line.trim() !== "" && (index === 0 || !beginsBlock(line)));
  return { block: { kind: "paragraph", spans: parseSpans(lines.slice(0, length).join(" ")) }, length };
}

function beginsBlock(line: string): boolean {
  return heading.test(line) || fence.test(line) || item.test(line) || line.startsWith("|");
}

function presentHeading(marks: string, text: string): Block {
  return { kind: "heading", level: marks.length, id: makeAnchor(text), spans: parseSpans(text) };
}

/** As the places that show our repository make them, so that a link works there and here. */
function makeAnchor(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

function takeCode(lines: readonly string[], language: string): Taken {
  const length = 1 + countWhile(lines.slice(1), (line) => line !== "```");
  const code = lines.slice(1, length).join("\n");
  return { block: { kind: "code", samples: [{ language, code }] }, length: length + 1 };
}

function takeTable(lines: readonly string[]): Taken {
  const length = countWhile(lines, (line) => line.startsWith("|"));
  // The second line only separates the head.
  const [head = [], , ...rows] = lines.slice(0, length).map(splitCells);
  return { block: { kind: "table", head, rows }, length };
}

/** Bars inside of code, or behind a backslash, separate nothing. */
function splitCells(line: string): Span[][] {
  const inner = line.trim().slice(1, -1);
  const cells = inner.match(/(?:`[^`]*`|\\\||[^|])+/g) ?? [];
  return cells.map((cell) => parseSpans(cell.trim().replaceAll("\\|", "|")));
}

/** What belongs to an item is indented below it; the first line that is not ends the list. */
function takeList(lines: readonly string[], first: string): Taken {
  const isOrdered = /^\d/.test(first);
  const isOwn = (line: string): boolean => item.test(line) && /^\d/.test(line) === isOrdered;
  const length = countWhile(
    lines,
    (line, index) => isOwn(line) || line.startsWith("  ") || (line === "" && continuesList(lines[index + 1], isOwn)),
  );
  const items: string[][] = [];
  for (const line of lines.slice(0, length)) {
    if (isOwn(line)) items.push([item.exec(line)?.[2] ?? ""]);
    else items.at(-1)?.push(line.replace(/^ {1,3}/, ""));
  }
  return { block: { kind: "list", isOrdered, items: items.map(parseLines) }, length };
}

function continuesList(next: string | undefined, isOwn: (line: string) => boolean): boolean {
  return next !== undefined && (isOwn(next) || next.startsWith("  "));
}

function countWhile(lines: readonly string[], test: (line: string, index: number) => boolean): number {
  const end = lines.findIndex((line, index) => !test(line, index));
  return end === -1 ? lines.length : end;
}

const span =
  /(?<image>!\[(?<alt>[^\]]*)\]\((?<source>[^)\s]+)\))|(?<link>\[(?<label>(?:`[^`]*`|[^\]])+)\]\((?<href>[^)\s]+)\))|`(?<code>[^`]+)`|\*\*(?<strong>.+?)\*\*|\*(?<emphasis>[^*\s][^*]*)\*|<(?<address>https?:[^>]+)>/;

function parseSpans(text: string): Span[] {
  const found = span.exec(text);
  if (found === null) return text === "" ? [] : [{ kind: "text", text }];
  const before = text.slice(0, found.index);
  const after = text.slice(found.index + found[0].length);
  return [
    ...(before === "" ? [] : [{ kind: "text" as const, text: before }]),
    presentSpan(found.groups ?? {}),
    ...parseSpans(after),
  ];
}

function presentSpan(groups: Partial<Record<string, string>>): Span {
  const { alt = "", source, label = "", href, code, strong, emphasis, address = "" } = groups;
  if (source !== undefined) return { kind: "image", source, text: alt };
  if (href !== undefined) return { kind: "link", href, spans: parseSpans(label) };
  if (code !== undefined) return { kind: "code", text: code };
  if (strong !== undefined) return { kind: "strong", spans: parseSpans(strong) };
  if (emphasis !== undefined) return { kind: "emphasis", spans: parseSpans(emphasis) };
  return { kind: "link", href: address, spans: [{ kind: "text", text: address }] };
}

/** What is read of a line, without its looks. */
export function flattenSpans(spans: readonly Span[]): string {
  return spans.map((part) => ("spans" in part ? flattenSpans(part.spans) : part.text)).join("");
}
