import type { ReactNode, TextareaHTMLAttributes } from "react";
import { joinClasses } from "./join-classes.ts";
import { FieldFrame, inputClasses } from "./text-field.tsx";

type TextAreaProps = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "onChange" | "value" | "id"> & {
  label: string;
  value: string;
  onChange(value: string): void;
  hint?: ReactNode;
  error?: string | null;
};

/** Multi-line text that grows with its content. */
export function TextArea({ label, value, onChange, hint, error, className, rows = 3, ...rest }: TextAreaProps) {
  return (
    <FieldFrame label={label} hint={hint} error={error ?? null}>
      {({ inputId, describedBy }) => (
        <textarea
          {...rest}
          id={inputId}
          rows={rows}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          aria-invalid={error !== undefined && error !== null}
          aria-describedby={describedBy}
          className={joinClasses(
            inputClasses,
            "field-sizing-content max-h-96 py-2.5",
            error ? "border-danger" : "border-line-strong",
            className,
          )}
        />
      )}
    </FieldFrame>
  );
}
