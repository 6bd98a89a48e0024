import { type KeyboardEvent, useId, useRef, useState } from "react";
import { completeWord } from "./complete-word.ts";

type CatalogEditorProps = {
  value: string;
  onChange(value: string): void;
  /** Lines with problems. */
  marked: ReadonlySet<number>;
};

/** A text area with line numbers. Ctrl and Space completes the name of a field; Tab leaves it, as everywhere. */
export function CatalogEditor({ value, onChange, marked }: CatalogEditorProps) {
  const id = useId();
  const gutter = useRef<HTMLDivElement>(null);
  const [words, setWords] = useState<readonly string[]>([]);
  const lines = value.split("\n").length;
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (!event.ctrlKey || event.key !== " ") return;
    event.preventDefault();
    const { selectionStart: at } = event.currentTarget;
    const { text, place, others } = completeWord(value, at);
    setWords(others);
    if (text === value) return;
    onChange(text);
    const area = event.currentTarget;
    // After React has written the value.
    requestAnimationFrame(() => area.setSelectionRange(place, place));
  };
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        Catalog file
      </label>
      <div className="flex h-128 overflow-hidden rounded-md border border-line-strong bg-surface font-mono text-xs leading-5">
        <div
          ref={gutter}
          aria-hidden
          className="w-12 shrink-0 overflow-hidden border-r border-line bg-sunken py-2 pr-2 text-right text-ink-soft"
        >
          {Array.from({ length: lines }, (_, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number.
            <div key={at} className={marked.has(at + 1) ? "bg-danger-soft font-semibold text-danger" : ""}>
              {at + 1}
            </div>
          ))}
          <div className="h-4" />
        </div>
        <textarea
          id={id}
          value={value}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          aria-describedby={`${id}-hint`}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={press}
          onScroll={(event) => {
            if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop;
          }}
          className="min-w-0 flex-1 resize-none bg-surface p-2 text-ink outline-offset-[-2px]"
        />
      </div>
      <p id={`${id}-hint`} className="text-sm text-ink-soft" aria-live="polite">
        {words.length === 0 ? "Ctrl+Space completes the name of a field." : `Fields: ${words.join(", ")}`}
      </p>
    </div>
  );
}
