import { type Block, flattenSpans, getChapterPath } from "../../../api/guide-document.ts";
import type { AreaEntry, DocsEntry, Field, Operation } from "../../../api/reference-document.ts";
import type { SourceDocument } from "./openapi-source.ts";
import { type ErrorMeanings, presentOperation } from "./present-operation.ts";

export type Area = { slug: string; title: string; operations: Operation[] };

/** Operations by tag, in the document's order. */
export function presentReference(document: SourceDocument, errorsPage: readonly Block[]): Area[] {
  const meanings = readErrorTable(errorsPage);
  const areas = new Map<string, Area>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const [title = "Other"] = operation.tags;
      const area = areas.get(title) ?? { title, slug: title.toLowerCase(), operations: [] };
      area.operations.push(presentOperation(document, { method, path }, operation, meanings));
      areas.set(title, area);
    }
  }
  return [...areas.values()];
}

export function listEntries(areas: readonly Area[]): AreaEntry[] {
  return areas.map(({ slug, title, operations }) => ({
    slug,
    title,
    operations: operations.map(({ slug, method, path, summary }) => ({ slug, method, path, summary })),
  }));
}

/** The chat call in every language. */
export function findFirstCall(areas: readonly Area[]): Operation["samples"] {
  const chat = areas.flatMap(({ operations }) => operations).find(({ id }) => id === "createChatCompletion");
  if (chat === undefined) throw new Error("The OpenAPI document has no createChatCompletion.");
  return chat.samples;
}

/** The errors chapter has a row for each code. */
function readErrorTable(blocks: readonly Block[]): ErrorMeanings {
  const meanings = new Map<string, string>();
  for (const block of blocks) {
    if (block.kind !== "table") continue;
    const heads = block.head.map(flattenSpans);
    const [codeAt, meaningAt] = [heads.indexOf("code"), heads.indexOf("meaning")];
    if (codeAt < 0 || meaningAt < 0) continue;
    for (const row of block.rows) {
      const code = flattenSpans(row[codeAt] ?? []);
      if (!meanings.has(code)) meanings.set(code, flattenSpans(row[meaningAt] ?? []));
    }
  }
  return meanings;
}

type Chapter = { id: string; blocks: readonly Block[] };

/** The search index of guide and reference. */
export function listDocsEntries(areas: readonly Area[], chapters: readonly Chapter[]): DocsEntry[] {
  return [
    ...areas.flatMap(({ operations }) => operations.map(describeOperation)),
    ...chapters.flatMap(listHeadings),
    ...chapters.filter(({ id }) => id === "errors").flatMap(listErrorEntries),
    ...areas.flatMap(({ operations }) => operations.flatMap(listFieldEntries)),
  ];
}

function describeOperation({ slug, method, path, summary }: Operation): DocsEntry {
  return { kind: "operation", to: `/docs/reference/${slug}`, title: summary, detail: `${method} ${path}` };
}

function listHeadings({ id, blocks }: Chapter): DocsEntry[] {
  const [title] = blocks;
  const detail = title?.kind === "heading" ? flattenSpans(title.spans) : id;
  return blocks
    .flatMap((block) => (block.kind === "heading" && block.level > 1 ? [block] : []))
    .map((heading) => ({
      kind: "heading" as const,
      to: `${getChapterPath(id)}#${heading.id}`,
      title: flattenSpans(heading.spans),
      detail,
    }));
}

function listErrorEntries({ blocks }: Chapter): DocsEntry[] {
  return [...readErrorTable(blocks)].map(([code, meaning]) => ({
    kind: "error" as const,
    to: `/docs/guide/errors#${code}`,
    title: code,
    detail: meaning,
  }));
}

/** Parameters and top-level body fields. */
function listFieldEntries({ slug, summary, parameters, body }: Operation): DocsEntry[] {
  const describe = (place: string) => (field: Field) => ({
    kind: "field" as const,
    to: `/docs/reference/${slug}#${place}-${field.name}`,
    title: field.name,
    detail: summary,
  });
  const shown = parameters.filter(({ place, name }) => place !== "path" && name !== "x-client-request-id");
  return [...shown.map(describe("parameter")), ...(body?.contents[0]?.fields ?? []).map(describe("body"))];
}
