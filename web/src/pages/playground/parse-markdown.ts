/** An inline element. Anything else is plain text. */
export type Inline = { kind: "text" | "code" | "strong" | "emphasis"; text: string };
export type Block =
  | { kind: "paragraph"; lines: Inline[][] }
  | { kind: "heading"; content: Inline[] }
  | { kind: "list"; isOrdered: boolean; start: number; items: Inline[][] }
  | { kind: "code"; language: string; text: string };

const fencePattern = /^ {0,3}(```+|~~~+)\s*([\w+#.-]*)/;
const itemPattern = /^\s{0,9}(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
const headingPattern = /^#{1,6}\s+(.*)$/;
// Each alternative needs its closing mark on the same line, which bounds the lookahead.
const inlinePattern = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|(?<![*\w])\*([^*\s][^*\n]*)\*(?![*\w])/g;

/**
 * The subset of Markdown that models use: paragraphs, headings, lists, code. Produces no HTML, so model output cannot
 * inject any.
 */
export function parseMarkdown(text: string): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const fence = fencePattern.exec(line);
    if (fence !== null) {
      const [, mark = "```", language = ""] = fence;
      const end = findFenceEnd(lines, index + 1, mark);
      blocks.push({ kind: "code", language, text: lines.slice(index + 1, end).join("\n") });
      index = end;
    } else if (line.trim() === "") {
      // A blank line ends the block.
      blocks.push({ kind: "paragraph", lines: [] });
    } else addLine(blocks, line);
  }
  return blocks.filter((block) => block.kind !== "paragraph" || block.lines.length > 0);
}

/** An unclosed fence extends to the end, as while streaming. */
function findFenceEnd(lines: readonly string[], from: number, mark: string): number {
  const end = lines.findIndex((line, index) => index >= from && line.trim().startsWith(mark));
  return end === -1 ? lines.length : end;
}

function addLine(blocks: Block[], line: string): void {
  const last = blocks.at(-1);
  const heading = headingPattern.exec(line)?.[1];
  const item = itemPattern.exec(line);
  if (heading !== undefined) blocks.push({ kind: "heading", content: parseInline(heading) });
  else if (item !== null) addItem(blocks, item);
  else if (last?.kind === "paragraph") last.lines.push(parseInline(line));
  else if (last?.kind === "list" && /^\s{2,}/.test(line)) {
    last.items.at(-1)?.push({ kind: "text", text: " " }, ...parseInline(line.trim()));
  } else blocks.push({ kind: "paragraph", lines: [parseInline(line)] });
}

function addItem(blocks: Block[], [, , number, content = ""]: RegExpExecArray): void {
  const isOrdered = number !== undefined;
  const last = findOpenList(blocks);
  if (last?.isOrdered === isOrdered) last.items.push(parseInline(content));
  else blocks.push({ kind: "list", isOrdered, start: Number(number ?? 1), items: [parseInline(content)] });
}

/** Blank lines between items do not end a list. */
function findOpenList(blocks: readonly Block[]): Extract<Block, { kind: "list" }> | null {
  const last = blocks.findLast((block) => block.kind !== "paragraph" || block.lines.length > 0);
  return last?.kind === "list" ? last : null;
}

export function parseInline(line: string): Inline[] {
  const pieces: Inline[] = [];
  let end = 0;
  for (const match of line.matchAll(inlinePattern)) {
    const [whole, code, strong, emphasis] = match;
    if (match.index > end) pieces.push({ kind: "text", text: line.slice(end, match.index) });
    if (code !== undefined) pieces.push({ kind: "code", text: code });
    else if (strong !== undefined) pieces.push({ kind: "strong", text: strong });
    else pieces.push({ kind: "emphasis", text: emphasis ?? "" });
    end = match.index + whole.length;
  }
  if (end < line.length) pieces.push({ kind: "text", text: line.slice(end) });
  return pieces;
}
