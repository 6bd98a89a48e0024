import type { ReactNode } from "react";
import { joinClasses } from "./join-classes.ts";
import { FieldFrame, inputClasses } from "./text-field.tsx";

export type SelectOption = { value: string; label: string };

type SelectFieldProps = {
  label: string;
  name?: string;
  options: readonly SelectOption[];
  value: string;
  onChange(value: string): void;
  hint?: ReactNode;
  error?: string | null;
  /** For filters: the label is for screen readers only. */
  isCompact?: boolean;
};

/** A native select, which works with every keyboard and phone. */
export function SelectField({ label, name, options, value, onChange, hint, error, isCompact }: SelectFieldProps) {
  const select = (ids: { inputId?: string; describedBy?: string | undefined }) => (
    <select
      id={ids.inputId}
      name={name}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      aria-label={isCompact === true ? label : undefined}
      aria-invalid={error !== undefined && error !== null}
      aria-describedby={ids.describedBy}
      className={joinClasses(
        isCompact === true
          ? "min-h-10 max-w-full min-w-0 rounded-md border bg-surface px-2.5 text-sm text-ellipsis sm:max-w-72"
          : inputClasses,
        error ? "border-danger" : "border-line-strong",
      )}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
  if (isCompact === true) return select({});
  return (
    <FieldFrame label={label} hint={hint} error={error ?? null}>
      {select}
    </FieldFrame>
  );
}
