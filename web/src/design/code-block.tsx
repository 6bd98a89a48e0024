import { useState } from "react";
import { CodeText } from "./code-text.tsx";
import { CopyButton } from "./copy-button.tsx";
import { joinClasses } from "./join-classes.ts";
import { Tabs } from "./tabs.tsx";

type TitledCodeProps = {
  label: string;
  code: string;
  /** For code of any length: wraps lines and scrolls inside its box. */
  isLong?: boolean;
};

/** A code block within running text, with its buttons in a bar above the lines. */
export function TitledCode({ label, code, isLong = false }: TitledCodeProps) {
  const place = joinClasses("overflow-x-auto rounded-b-md", isLong && "max-h-128");
  return (
    <div className="rounded-md border border-line bg-sunken">
      <div className="flex items-center justify-between border-b border-line pr-1 pl-4 text-xs text-ink-soft">
        {label}
        <CopyButton look="quiet" text={code} />
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a page has too many of these to make each a landmark. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: makes the code scrollable by keyboard. */}
      <div role="group" aria-label={label} tabIndex={0} className={place}>
        <pre className={joinClasses("p-4 font-mono text-xs", isLong && "whitespace-pre-wrap wrap-anywhere")}>
          <CodeText label={label} code={code} />
        </pre>
      </div>
    </div>
  );
}

/** Code with a copy button that never covers the lines. */
export function CodeBlock({ label, code }: { label: string; code: string }) {
  return (
    <div className="items-start rounded-md border border-line bg-sunken sm:flex sm:flex-row-reverse">
      <div className="flex justify-end px-1.5 pt-1.5">
        <CopyButton text={code} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: makes the code scrollable by keyboard. */}
      <section aria-label={label} tabIndex={0} className="min-w-0 flex-1 overflow-x-auto rounded-md">
        <pre className="p-4 font-mono text-xs max-sm:pt-1">
          <CodeText label={label} code={code} />
        </pre>
      </section>
    </div>
  );
}

export type CodeSample = { id: string; label: string; code: string };

export function CodeSamples({ label, samples }: { label: string; samples: readonly [CodeSample, ...CodeSample[]] }) {
  const [chosenId, setChosenId] = useState(samples[0].id);
  const chosen = samples.find(({ id }) => id === chosenId) ?? samples[0];
  return (
    <Tabs label={label} tabs={samples} chosen={chosen.id} onChoose={setChosenId}>
      <CodeBlock label={`${label}, ${chosen.label}`} code={chosen.code} />
    </Tabs>
  );
}
