import { useMemo } from "react";
import { type DiffLine, diffLines } from "./diff-lines.ts";

type DiffViewProps = { before: string; after: string };

const contextLines = 3;
const looks = { same: "text-ink-soft", added: "bg-success-soft text-ink", removed: "bg-danger-soft text-ink" };
const marks = { same: " ", added: "+", removed: "−" };
const names = { same: "", added: "Added: ", removed: "Removed: " };

/** What differs, with some lines around it. */
export function DiffView({ before, after }: DiffViewProps) {
  const lines = useMemo(() => listShown(diffLines(before, after)), [before, after]);
  if (lines.length === 0) return <p className="text-sm text-ink-soft">Nothing differs.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region needs the keyboard.
    <section aria-label="Differences" tabIndex={0} className="max-h-128 overflow-auto rounded-md border border-line">
      <pre className="min-w-max p-2 font-mono text-xs">
        {lines.map(({ key, line }) => (
          <div key={key} className={line === null ? "text-ink-soft" : looks[line.kind]}>
            {line === null ? (
              "…"
            ) : (
              <>
                <span aria-hidden>{marks[line.kind]} </span>
                <span className="sr-only">{names[line.kind]}</span>
                {line.text}
              </>
            )}
          </div>
        ))}
      </pre>
    </section>
  );
}

type Shown = { key: number; line: DiffLine | null };

/** `null` stands for the lines left out. */
function listShown(lines: readonly DiffLine[]): Shown[] {
  const near = new Set<number>();
  for (const [at, { kind }] of lines.entries()) {
    if (kind === "same") continue;
    for (let place = at - contextLines; place <= at + contextLines; place += 1) near.add(place);
  }
  return lines.flatMap((line, key): Shown[] => {
    if (near.has(key)) return [{ key, line }];
    return near.has(key - 1) || (key === 0 && near.size > 0) ? [{ key, line: null }] : [];
  });
}
