// biome-ignore-all lint/suspicious/noArrayIndexKey: documents are static, so an index is a stable key.
import { Link } from "@tanstack/react-router";
import { type Block, flattenSpans, getChapterPath, type Span } from "../../api/guide-document.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CodeSamples, TitledCode } from "../../design/code-block.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { insertServiceAddress } from "../docs/insert-service-address.ts";
import { findChapter } from "./chapters.ts";

const languageNames: Readonly<Record<string, string>> = {
  sh: "Shell",
  ts: "TypeScript",
  python: "Python",
  json: "JSON",
};

/** A document without its title. */
export function DocumentView({ blocks }: { blocks: readonly Block[] }) {
  return <div className="flex flex-col gap-4">{blocks.map(showBlock)}</div>;
}

function showBlock(block: Block, index: number) {
  switch (block.kind) {
    case "heading":
      return <Heading key={index} {...block} />;
    case "paragraph":
      return <p key={index}>{showSpans(block.spans)}</p>;
    case "code":
      return <Code key={index} {...block} />;
    case "table":
      return <Table key={index} {...block} />;
    case "list":
      return <List key={index} {...block} />;
  }
}

const headingClasses = ["", "", "mt-6 text-lg font-semibold", "mt-3 font-semibold", "mt-2 font-medium"];

/** The link appears on hover or focus. */
function Heading({ level, id, spans }: Extract<Block, { kind: "heading" }>) {
  const Tag = `h${level}` as "h2" | "h3" | "h4";
  return (
    <Tag id={id} className={`group scroll-mt-6 ${headingClasses[level]}`}>
      {showSpans(spans)}
      <a
        href={`#${id}`}
        aria-label={`Link to: ${flattenSpans(spans)}`}
        className="ml-2 rounded-sm font-normal text-ink-soft opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
      >
        #
      </a>
    </Tag>
  );
}

/** One sample, or one per language. */
function Code({ samples }: Extract<Block, { kind: "code" }>) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const [first, ...others] = samples.map(({ language, code }) => ({
    id: language,
    label: languageNames[language] ?? "Text",
    code: insertServiceAddress(code, site?.base_url),
  }));
  if (first === undefined) return null;
  if (others.length === 0) return <TitledCode label={first.label} code={first.code} />;
  return <CodeSamples label="Languages" samples={[first, ...others]} />;
}

const cellClasses = "py-2 pr-4 align-top wrap-break-word last:pr-0";

function Table({ head, rows }: Extract<Block, { kind: "table" }>) {
  const hasHead = head.some((cell) => cell.length > 0);
  const codes = listCodes(head, rows);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: makes the table scrollable by keyboard.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs in a form.
    <div role="group" aria-label="Table" tabIndex={0} className="overflow-x-auto">
      <table className="w-full border-collapse text-sm">
        {hasHead && (
          <thead>
            <tr className="border-b border-line text-left text-xs text-ink-soft">
              {head.map((cell, index) =>
                cell.length === 0 ? (
                  <td key={index} />
                ) : (
                  <th key={index} scope="col" className={`${cellClasses} font-medium`}>
                    {showSpans(cell)}
                  </th>
                ),
              )}
            </tr>
          </thead>
        )}
        <tbody className="divide-y divide-line">
          {rows.map((row, rowIndex) => (
            <tr
              key={rowIndex}
              // Two errors may share a code; the link goes to the first.
              id={codes.indexOf(codes[rowIndex]) === rowIndex ? codes[rowIndex] : undefined}
              className="scroll-mt-6 target:bg-accent-soft"
            >
              {row.map((cell, index) => (
                <td key={index} className={`${cellClasses} ${index === row.length - 1 ? "" : "min-w-24"}`}>
                  {showSpans(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Row anchors for tables of codes. */
function listCodes(head: readonly Span[][], rows: readonly Span[][][]): (string | undefined)[] {
  const at = head.findIndex((cell) => flattenSpans(cell) === "code");
  return rows.map((row) => (at < 0 ? undefined : flattenSpans(row[at] ?? [])));
}

function List({ isOrdered, items }: Extract<Block, { kind: "list" }>) {
  const Tag = isOrdered ? "ol" : "ul";
  return (
    <Tag className={`flex flex-col gap-2 pl-5 ${isOrdered ? "list-decimal" : "list-disc"} marker:text-ink-soft`}>
      {items.map((blocks, index) => (
        <li key={index} className="pl-1">
          <DocumentView blocks={blocks} />
        </li>
      ))}
    </Tag>
  );
}

function showSpans(spans: readonly Span[]) {
  return spans.map((span, index) => showSpan(span, index));
}

function showSpan(span: Span, index: number) {
  switch (span.kind) {
    case "text":
      return span.text;
    case "code":
      return (
        <code key={index} className="rounded-sm bg-sunken px-1 py-0.5 font-mono text-[0.875em]">
          {span.text.includes("://localhost:4242") ? <OwnAddress text={span.text} /> : span.text}
        </code>
      );
    case "strong":
      return <strong key={index}>{showSpans(span.spans)}</strong>;
    case "emphasis":
      return <em key={index}>{showSpans(span.spans)}</em>;
    case "link":
      return <DocumentLink key={index} href={span.href} spans={span.spans} />;
    case "image":
      return <Image key={index} {...span} />;
  }
}

function OwnAddress({ text }: { text: string }) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  return insertServiceAddress(text, site?.base_url);
}

function DocumentLink({ href, spans }: { href: string; spans: readonly Span[] }) {
  const destination = resolveLink(href);
  switch (destination.kind) {
    case "chapter":
      return (
        <Link
          to={getChapterPath(destination.id)}
          {...(destination.hash === "" ? {} : { hash: destination.hash })}
          className={linkClasses}
        >
          {showSpans(spans)}
        </Link>
      );
    case "address":
      return (
        <a href={destination.href} className={linkClasses}>
          {showSpans(spans)}
        </a>
      );
    case "nowhere":
      return showSpans(spans);
  }
}

function Image({ source, text }: { source: string; text: string }) {
  const address = resolveImage(source);
  return address === null ? null : (
    <img src={address} alt={text} loading="lazy" className="max-h-96 max-w-full rounded-md border border-line" />
  );
}

const images = import.meta.glob<string>("../../../../docs/media/{images,drama-video,drama-storyboard,site-consent}.*", {
  query: "?url",
  import: "default",
  eager: true,
});

/** URL of a document's image on this site. */
function resolveImage(source: string): string | null {
  const name = source.replace("../media/", "");
  return images[`../../../../docs/media/${name}`] ?? null;
}

type Destination =
  | { kind: "chapter"; id: string; hash: string }
  | { kind: "address"; href: string }
  /** A file of the repository that the site does not serve. */
  | { kind: "nowhere" };

function resolveLink(href: string): Destination {
  if (/^https?:|^[/#]/.test(href)) return { kind: "address", href };
  if (href === "openapi.json") return { kind: "address", href: "/v1/openapi.json" };
  const [file = "", hash = ""] = href.split("#");
  const chapter = file.endsWith(".md") ? findChapter(file.slice(0, -".md".length)) : null;
  return chapter === null ? { kind: "nowhere" } : { kind: "chapter", id: chapter.id, hash };
}
