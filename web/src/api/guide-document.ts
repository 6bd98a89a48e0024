/** An inline element. */
export type Span =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "emphasis"; spans: Span[] }
  | { kind: "link"; href: string; spans: Span[] }
  | { kind: "image"; source: string; text: string };

export type CodeText = { language: string; code: string };

export type Block =
  | { kind: "heading"; level: number; id: string; spans: Span[] }
  | { kind: "paragraph"; spans: Span[] }
  | { kind: "code"; samples: CodeText[] }
  | { kind: "table"; head: Span[][]; rows: Span[][][] }
  | { kind: "list"; isOrdered: boolean; items: Block[][] };

/** The text without markup. */
export function flattenSpans(spans: readonly Span[]): string {
  return spans.map((part) => ("spans" in part ? flattenSpans(part.spans) : part.text)).join("");
}

/** The first chapter has one URL only: the guide's own. */
export function getChapterPath(id: string): string {
  return id === "quick-start" ? "/docs/guide" : `/docs/guide/${id}`;
}
