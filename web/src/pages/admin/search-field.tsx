import { useEffect, useState } from "react";

/** Long enough that a typed word is one request. */
const restMs = 300;

type SearchFieldProps = { label: string; value: string; onChange(value: string): void };

/** A filter by text. It reports what was typed after a short rest, since every value is a request. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
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
      className="min-h-10 min-w-0 grow basis-64 rounded-md border border-line-strong bg-surface px-3 text-sm placeholder:text-ink-soft sm:max-w-96"
    />
  );
}
