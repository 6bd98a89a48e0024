import { Link } from "@tanstack/react-router";
import type { OperationEntry } from "../../api/reference-document.ts";
import { CodeWord } from "../../design/code-word.tsx";
import { MethodLabel } from "./method-label.tsx";

export function OperationList({ operations }: { operations: readonly OperationEntry[] }) {
  return (
    <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface shadow-card">
      {operations.map(({ slug, method, path, summary }) => (
        <li key={slug}>
          <Link
            to="/docs/reference/$name"
            params={{ name: slug }}
            className="grid gap-x-6 gap-y-0.5 px-4 py-2.5 text-sm hover:bg-sunken focus-visible:-outline-offset-2 sm:grid-cols-[minmax(0,5fr)_minmax(0,6fr)] sm:items-baseline"
          >
            <span className="font-medium">{summary}</span>
            <span className="flex items-baseline gap-2 text-ink-soft">
              <span className="w-12 shrink-0">
                <MethodLabel method={method} isWhole />
              </span>
              <CodeWord className="text-xs">{path}</CodeWord>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
