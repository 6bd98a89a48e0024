import { useId } from "react";
import { joinClasses } from "./join-classes.ts";

type DayFieldProps = {
  label: string;
  /** As `2026-11-15`; empty for none. */
  value: string;
  max?: string;
  error?: string | null;
  onChange(day: string): void;
};

/** A date filter; its label is for screen readers only. */
export function DayField({ label, value, max, error = null, onChange }: DayFieldProps) {
  const errorId = useId();
  return (
    <div className="flex flex-col gap-1">
      <input
        type="date"
        aria-label={label}
        title={label}
        value={value}
        max={max}
        aria-invalid={error !== null}
        aria-describedby={error === null ? undefined : errorId}
        onChange={(event) => onChange(event.target.value)}
        className={joinClasses(
          "min-h-10 rounded-md border bg-surface px-2.5 text-sm tabular-nums",
          error === null ? "border-line-strong" : "border-danger",
        )}
      />
      {error !== null && (
        <p id={errorId} role="alert" className="max-w-56 text-sm text-danger">
          {error}
        </p>
      )}
    </div>
  );
}
