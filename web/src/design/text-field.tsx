import { type InputHTMLAttributes, type ReactNode, useId } from "react";
import { InlineCodeText } from "./inline-code-text.tsx";
import { joinClasses } from "./join-classes.ts";

export const inputClasses =
  "min-h-11 w-full rounded-md border bg-surface px-3 text-base text-ink placeholder:text-ink-soft focus-visible:outline-offset-0";

type FieldFrameProps = {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  /** Shown beside the label, such as a link. */
  aside?: ReactNode;
  children(ids: { inputId: string; describedBy: string | undefined }): ReactNode;
};

/** Label, hint and error, linked to the input for screen readers. */
export function FieldFrame({ label, hint, error, aside, children }: FieldFrameProps) {
  const inputId = useId();
  const hintId = `${inputId}-hint`;
  const errorId = `${inputId}-error`;
  const hasError = error !== undefined && error !== null;
  const described = [hasError ? errorId : null, hint === undefined ? null : hintId].filter((id) => id !== null);
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex items-baseline justify-between gap-4">
        <label htmlFor={inputId} className="text-sm font-medium">
          {label}
        </label>
        {aside}
      </div>
      {children({ inputId, describedBy: described.length === 0 ? undefined : described.join(" ") })}
      {hasError && (
        <p id={errorId} className="text-sm text-danger">
          <InlineCodeText text={error} />
        </p>
      )}
      {hint !== undefined && (
        <p id={hintId} className="text-sm text-ink-soft">
          {hint}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "value" | "id"> & {
  label: string;
  value: string;
  onChange(value: string): void;
  hint?: ReactNode;
  error?: string | null;
  aside?: ReactNode;
};

export function TextField({ label, value, onChange, hint, error, aside, className, ...rest }: TextFieldProps) {
  return (
    <FieldFrame label={label} hint={hint} error={error ?? null} aside={aside}>
      {({ inputId, describedBy }) => (
        <input
          {...rest}
          id={inputId}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          aria-invalid={error !== undefined && error !== null}
          aria-describedby={describedBy}
          className={joinClasses(inputClasses, error ? "border-danger" : "border-line-strong", className)}
        />
      )}
    </FieldFrame>
  );
}
