import { type ReactNode, useId } from "react";

type CheckFieldProps = {
  label: ReactNode;
  name?: string;
  isChecked: boolean;
  onChange(isChecked: boolean): void;
  hint?: ReactNode;
};

export function CheckField({ label, name, isChecked, onChange, hint }: CheckFieldProps) {
  const hintId = useId();
  return (
    <div className="flex flex-col gap-1">
      <label className="flex min-h-6 items-start gap-2.5 text-sm">
        <input
          type="checkbox"
          name={name}
          checked={isChecked}
          onChange={(event) => onChange(event.target.checked)}
          aria-describedby={hint === undefined ? undefined : hintId}
          className="mt-1 size-4 shrink-0 accent-accent"
        />
        <span>{label}</span>
      </label>
      {hint !== undefined && (
        <p id={hintId} className="pl-6.5 text-sm text-ink-soft">
          {hint}
        </p>
      )}
    </div>
  );
}
