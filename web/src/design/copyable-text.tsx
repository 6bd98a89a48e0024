import { useState } from "react";

/** An id that people carry elsewhere, with the way onto the clipboard beside it. */
export function CopyableText({ text, label }: { text: string; label: string }) {
  const [outcome, setOutcome] = useState<"Copied" | "Copy it by hand" | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome("Copied");
    } catch {
      // The browser may forbid it; the text stands beside the button.
      setOutcome("Copy it by hand");
    }
  };
  return (
    <span className="text-xs">
      <code className="font-mono text-ink-soft">{text}</code>{" "}
      <button
        type="button"
        aria-label={`Copy ${label}`}
        onClick={copy}
        onBlur={() => setOutcome(null)}
        className="rounded-sm px-1 text-accent hover:bg-accent-soft"
      >
        <span aria-live="polite">{outcome ?? "Copy"}</span>
      </button>
    </span>
  );
}
