import { CopyButton } from "../../design/copy-button.tsx";
import { type Block, type Inline, parseMarkdown } from "./parse-markdown.ts";

export function MarkdownText({ text }: { text: string }) {
  // Blocks have no ids, and while streaming only the last one changes.
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {parseMarkdown(text).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: see above.
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading":
      return (
        <p className="font-semibold">
          <Line pieces={block.content} />
        </p>
      );
    case "paragraph":
      return (
        <p className="whitespace-pre-wrap">
          {block.lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: see above.
            <span key={index}>
              {index > 0 && "\n"}
              <Line pieces={line} />
            </span>
          ))}
        </p>
      );
    case "list": {
      const items = block.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: see above.
        <li key={index}>
          <Line pieces={item} />
        </li>
      ));
      return block.isOrdered ? (
        <ol start={block.start} className="flex list-decimal flex-col gap-1 pl-6">
          {items}
        </ol>
      ) : (
        <ul className="flex list-disc flex-col gap-1 pl-6">{items}</ul>
      );
    }
    case "code":
      return <CodeView text={block.text} language={block.language} />;
  }
}

function CodeView({ text, language }: { text: string; language: string }) {
  return (
    <div className="min-w-0 overflow-hidden rounded-md border border-line bg-sunken">
      <div className="flex items-center justify-between gap-4 border-b border-line py-1 pr-1 pl-3 text-xs text-ink-soft">
        <span>{language === "" ? "Code" : language}</span>
        <CopyButton text={text} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: makes the code scrollable by keyboard. */}
      <section tabIndex={0} aria-label={language === "" ? "Code" : `Code, ${language}`} className="overflow-x-auto">
        <pre className="p-3 font-mono text-xs">{text}</pre>
      </section>
    </div>
  );
}

function Line({ pieces }: { pieces: readonly Inline[] }) {
  return pieces.map(({ kind, text }, index) => {
    const key = `${index} ${kind}`;
    if (kind === "code") {
      return (
        <code key={key} className="rounded-sm bg-sunken px-1 py-0.5 font-mono text-[0.9em]">
          {text}
        </code>
      );
    }
    if (kind === "strong") return <strong key={key}>{text}</strong>;
    if (kind === "emphasis") return <em key={key}>{text}</em>;
    return <span key={key}>{text}</span>;
  });
}
