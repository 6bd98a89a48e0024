import { useState } from "react";
import { CodeText } from "./code-text.tsx";
import { CopyButton } from "./copy-button.tsx";
import { joinClasses } from "./join-classes.ts";
import { Tabs } from "./tabs.tsx";

type TitledCodeProps = {
  label: string;
  code: string;
  /** Of any length: its lines are broken, and it is scrolled in its own place. */
  isLong?: boolean;
};

/** The same among the paragraphs of a text, below a bar, so that nothing lies over its lines. */
export function TitledCode({ label, code, isLong = false }: TitledCodeProps) {
  const place = joinClasses("overflow-x-auto rounded-b-md", isLong && "max-h-128");
  return (
    <div className="rounded-md border border-line bg-sunken">
      <div className="flex items-center justify-between border-b border-line pr-1 pl-4 text-xs text-ink-soft">
        {label}
        <CopyButton look="quiet" text={code} />
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a text has many of them, too many to be places of the page. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard cannot scroll the code. */}
      <div role="group" aria-label={label} tabIndex={0} className={place}>
        <pre className={joinClasses("p-4 font-mono text-xs", isLong && "whitespace-pre-wrap wrap-anywhere")}>
          <CodeText label={label} code={code} />
        </pre>
      </div>
    </div>
  );
}

/** Code to be copied, as it is. The button has a place of its own, over or beside the lines, whose ends scroll. */
export function CodeBlock({ label, code }: { label: string; code: string }) {
  return (
    <div className="items-start rounded-md border border-line bg-sunken sm:flex sm:flex-row-reverse">
      <div className="flex justify-end px-1.5 pt-1.5">
        <CopyButton text={code} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard cannot scroll the code. */}
      <section aria-label={label} tabIndex={0} className="min-w-0 flex-1 overflow-x-auto rounded-md">
        <pre className="p-4 font-mono text-xs max-sm:pt-1">
          <CodeText label={label} code={code} />
        </pre>
      </section>
    </div>
  );
}

export type CodeSample = { id: string; label: string; code: string };

/** The same thing in several languages. */
export function CodeSamples({ label, samples }: { label: string; samples: readonly [CodeSample, ...CodeSample[]] }) {
  const [chosenId, setChosenId] = useState(samples[0].id);
  const chosen = samples.find(({ id }) => id === chosenId) ?? samples[0];
  return (
    <Tabs label={label} tabs={samples} chosen={chosen.id} onChoose={setChosenId}>
      <CodeBlock label={`${label}, ${chosen.label}`} code={chosen.code} />
    </Tabs>
  );
}
