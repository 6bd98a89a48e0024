import { useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import type { Operation } from "../../api/reference-document.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CodeText } from "../../design/code-text.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { insertServiceAddress } from "../docs/insert-service-address.ts";

type Panel = { id: string; label: string; code: string };

/** Request and response samples, sticky beside the text. */
export function CodeColumn({ operation }: { operation: Operation }) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const calls = operation.samples.map((sample) => ({
    ...sample,
    code: insertServiceAddress(sample.code, site?.base_url),
  }));
  const answers = listAnswers(operation).map((answer) => ({
    ...answer,
    code: insertServiceAddress(answer.code, site?.base_url),
  }));
  return (
    <div className="flex flex-col gap-4 xl:sticky xl:top-6">
      <CodePanel title="Request" panels={calls} rememberAs="sluice-language" />
      {answers.length > 0 && <CodePanel title="Response" panels={answers} />}
    </div>
  );
}

/** One per status and media type with an example. */
function listAnswers({ answers, errorExamples }: Operation): Panel[] {
  const successes = answers.flatMap(({ status, contents }) =>
    contents
      .filter(({ example }) => example !== undefined)
      .map(({ mediaType, example = "" }, index) => ({
        id: `${status} ${mediaType}`,
        label: index === 0 ? status : `${status} ${shortTypes[mediaType] ?? mediaType}`,
        code: example,
      })),
  );
  return [...successes, ...errorExamples.map(({ status, example }) => ({ id: status, label: status, code: example }))];
}

const shortTypes: Readonly<Record<string, string>> = {
  "text/event-stream": "stream",
  "text/csv": "CSV",
  "text/plain": "text",
};

type CodePanelProps = {
  title: string;
  panels: readonly Panel[];
  /** Storage key of the choice, reused on the next page. */
  rememberAs?: string;
};

function CodePanel({ title, panels, rememberAs }: CodePanelProps) {
  const [chosenId, setChosenId] = useState(() =>
    rememberAs === undefined || import.meta.env.SSR ? null : localStorage.getItem(rememberAs),
  );
  const chosen = panels.find(({ id }) => id === chosenId) ?? panels[0];
  if (chosen === undefined) return null;
  const choose = (id: string) => {
    setChosenId(id);
    if (rememberAs !== undefined) localStorage.setItem(rememberAs, id);
  };
  return (
    <section aria-label={title} className="min-w-0 overflow-hidden rounded-lg border border-line bg-sunken shadow-card">
      <div className="flex items-center gap-2 border-b border-line bg-surface pr-1 pl-4">
        <h2 className="text-sm font-medium">{title}</h2>
        <div className="ml-auto flex min-w-0 items-center gap-1">
          {panels.length > 1 ? (
            <SelectField
              isCompact
              label={title === "Request" ? "Language" : "Status"}
              options={panels.map(({ id, label }) => ({ value: id, label }))}
              value={chosen.id}
              onChange={choose}
            />
          ) : (
            <span className="text-xs text-ink-soft">{chosen.label}</span>
          )}
          <CopyButton look="quiet" text={chosen.code} />
        </div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: the section around it is the landmark. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: makes the code scrollable by keyboard. */}
      <div role="group" aria-label={`${title}, ${chosen.label}`} tabIndex={0} className="max-h-[40dvh] overflow-auto">
        <pre className="p-4 font-mono text-xs">
          <CodeText label={title === "Request" ? chosen.label : ""} code={chosen.code.trimEnd()} />
        </pre>
      </div>
    </section>
  );
}
