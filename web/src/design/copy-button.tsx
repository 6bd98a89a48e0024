import { useState } from "react";
import { Button } from "./button.tsx";

type CopyButtonProps = { text: string; label?: string; look?: "plain" | "quiet" };

/** Copies a text, and shows whether it worked. */
export function CopyButton({ text, label = "Copy", look = "plain" }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<"copied" | "failed" | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome("copied");
    } catch {
      // The browser may deny clipboard access; the text can be copied by hand.
      setOutcome("failed");
    }
  };
  const words = { copied: "Copied", failed: "Copy manually" };
  return (
    <Button look={look} onClick={copy} onBlur={() => setOutcome(null)}>
      <span aria-live="polite">{outcome === null ? label : words[outcome]}</span>
    </Button>
  );
}
