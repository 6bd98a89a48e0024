import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
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

/** A native select, which works with every keyboard and phone, drawn like the text fields. */
export function SelectField({ label, name, options, value, onChange, hint, error, isCompact }: SelectFieldProps) {
  const select = (ids: { inputId?: string; describedBy?: string | undefined }) => (
    <span className={joinClasses("relative flex min-w-0", isCompact === true && "max-w-full sm:max-w-72")}>
      <select
        id={ids.inputId}
        name={name}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        aria-label={isCompact === true ? label : undefined}
        aria-invalid={error !== undefined && error !== null}
        aria-describedby={ids.describedBy}
        className={joinClasses(
          "appearance-none text-ellipsis",
          isCompact === true ? "min-h-10 w-full min-w-0 rounded-md border bg-surface pl-2.5 text-sm" : inputClasses,
          "pr-6.5",
          error ? "border-danger" : "border-line-strong",
        )}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <Icon
        name="chevron"
        className="pointer-events-none absolute top-1/2 right-2 size-3 -translate-y-1/2 rotate-90 text-ink-soft"
      />
    </span>
  );
  if (isCompact === true) return select({});
  return (
    <FieldFrame label={label} hint={hint} error={error ?? null}>
      {select}
    </FieldFrame>
  );
}
