import { useState } from "react";

/** An id with a copy button. */
export function CopyableText({ text, label }: { text: string; label: string }) {
  const [outcome, setOutcome] = useState<"Copied" | "Copy manually" | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome("Copied");
    } catch {
      // The browser may deny clipboard access; the text can be copied by hand.
      setOutcome("Copy manually");
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
