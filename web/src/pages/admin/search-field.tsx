import { useEffect, useState } from "react";
import { joinClasses } from "../../design/join-classes.ts";

/** Long enough that a typed word is one request. */
const restMs = 300;

type SearchFieldProps = {
  label: string;
  value: string;
  /** For a filter among others. */
  isShort?: boolean;
  onChange(value: string): void;
};

/** A filter by text. It reports the text after a short rest, since every value is a request. */
export function SearchField({ label, value, isShort = false, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  useEffect(() => {
    if (typed === null) return;
    const timer = setTimeout(() => {
      setTyped(null);
      onChange(typed.trim());
    }, restMs);
    return () => clearTimeout(timer);
  }, [typed, onChange]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      maxLength={254}
      value={typed ?? value}
      onChange={(event) => setTyped(event.target.value)}
      className={joinClasses(
        "min-h-10 min-w-0 grow rounded-md border border-line-strong bg-surface px-3 text-sm placeholder:text-ink-soft",
        isShort ? "basis-32 sm:max-w-56" : "basis-64 sm:max-w-96",
      )}
    />
  );
}
