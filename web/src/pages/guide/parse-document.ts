import { lexer, type MarkedToken, type Token } from "marked";
import type { Block, CodeText, Span } from "../../api/guide-document.ts";

/** Parses Markdown into data at build time, so the page needs no parser. HTML stays text; comments are dropped. */
export function parseMarkdown(text: string): Block[] {
  return listBlocks(lexer(text));
}

function listBlocks(tokens: readonly Token[]): Block[] {
  const blocks: Block[] = [];
  for (const token of tokens as MarkedToken[]) {
    const block = presentBlock(token);
    const last = blocks.at(-1);
    if (block?.kind === "code" && last?.kind === "code" && areTranslations([...last.samples, ...block.samples]))
      last.samples.push(...block.samples);
    else if (block !== null) blocks.push(block);
  }
  return blocks;
}

function presentBlock(token: MarkedToken): Block | null {
  switch (token.type) {
    case "heading":
      return { kind: "heading", level: token.depth, id: makeAnchor(token.text), spans: listSpans(token.tokens) };
    case "paragraph":
    case "text":
      return { kind: "paragraph", spans: listSpans(token.tokens ?? []) };
    case "code":
      return { kind: "code", samples: [{ language: token.lang ?? "", code: token.text }] };
    case "table":
      return {
        kind: "table",
        head: token.header.map((cell) => listSpans(cell.tokens)),
        rows: token.rows.map((row) => row.map((cell) => listSpans(cell.tokens))),
      };
    case "list":
      return { kind: "list", isOrdered: token.ordered, items: token.items.map((item) => listBlocks(item.tokens)) };
    case "space":
    case "html":
      return null;
    default:
      throw new Error(`Unsupported Markdown in the guide: ${token.type}: ${token.raw}`);
  }
}

const programmingLanguages = ["sh", "ts", "python"];

/** Adjacent code blocks in different languages show the same call. */
function areTranslations(samples: readonly CodeText[]): boolean {
  const languages = samples.map(({ language }) => language);
  return new Set(languages).size === languages.length && languages.every((name) => programmingLanguages.includes(name));
}

/** Anchors as GitHub generates them, so links work there and here. */
function makeAnchor(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

function listSpans(tokens: readonly Token[]): Span[] {
  const spans: Span[] = [];
  for (const span of (tokens as MarkedToken[]).map(presentSpan)) {
    const last = spans.at(-1);
    if (span.kind === "text" && last?.kind === "text") last.text += span.text;
    else spans.push(span);
  }
  return spans;
}

function presentSpan(token: MarkedToken): Span {
  switch (token.type) {
    case "codespan":
      return { kind: "code", text: token.text };
    case "strong":
      return { kind: "strong", spans: listSpans(token.tokens) };
    case "em":
      return { kind: "emphasis", spans: listSpans(token.tokens) };
    case "link":
      return { kind: "link", href: token.href, spans: listSpans(token.tokens) };
    case "image":
      return { kind: "image", source: token.href, text: token.text };
    case "text":
    case "escape":
      return { kind: "text", text: token.text.replaceAll("\n", " ") };
    default:
      return { kind: "text", text: token.raw };
  }
}
