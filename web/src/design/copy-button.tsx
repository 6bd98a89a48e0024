import { useState } from "react";
import { Button } from "./button.tsx";

type CopyButtonProps = { text: string; label?: string; look?: "plain" | "quiet" };

/** Puts a text onto the clipboard, and says whether it worked. */
export function CopyButton({ text, label = "Copy", look = "plain" }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<"copied" | "failed" | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome("copied");
    } catch {
      // The browser may forbid it; the text is on the page, so it can be copied by hand.
      setOutcome("failed");
    }
  };
  const words = { copied: "Copied", failed: "Copy it by hand" };
  return (
    <Button look={look} onClick={copy} onBlur={() => setOutcome(null)}>
      <span aria-live="polite">{outcome === null ? label : words[outcome]}</span>
    </Button>
  );
}
