import { CodeBlock } from "../../../design/code-block.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { Tabs } from "../../../design/tabs.tsx";
import type { writeTerminalSamples } from "../../../parts/samples/terminal-samples.ts";

type Samples = ReturnType<typeof writeTerminalSamples>;

type FirstCallProps = {
  samples: Samples;
  chosenId: string;
  onChoose(id: string): void;
  /** Without a key the samples are read-only: a copied call would fail. */
  isComplete: boolean;
};

export function chooseSample(samples: Samples, id: string): Samples[number] {
  return samples.find((sample) => sample.id === id) ?? samples[0];
}

/** The call in several languages: tabs, or a select in narrow windows. */
export function FirstCallSamples({ samples, chosenId, onChoose, isComplete }: FirstCallProps) {
  const { id, label, code } = chooseSample(samples, chosenId);
  const name = `First call, ${label}`;
  const block = isComplete ? <CodeBlock label={name} code={code} /> : <CodePreview label={name} code={code} />;
  return (
    <>
      <div className="hidden sm:block">
        <Tabs<string> label="First call" tabs={samples} chosen={id} onChoose={onChoose}>
          {block}
        </Tabs>
      </div>
      <div className="flex flex-col gap-3 sm:hidden">
        <SelectField
          label="Call it with"
          options={samples.map((sample) => ({ value: sample.id, label: sample.label }))}
          value={id}
          onChange={onChoose}
        />
        {block}
      </div>
    </>
  );
}

function CodePreview({ label, code }: { label: string; code: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: makes the code scrollable by keyboard.
    <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded-md border border-line bg-sunken">
      <pre className="p-4 font-mono text-xs text-ink-soft">
        <code>{code}</code>
      </pre>
    </section>
  );
}
