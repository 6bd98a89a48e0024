import { type InputHTMLAttributes, type ReactNode, useState } from "react";
import { describePassword } from "./describe-password.ts";
import { joinClasses } from "./join-classes.ts";
import { FieldFrame, inputClasses } from "./text-field.tsx";

type PasswordFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "value" | "id" | "type"> & {
  label: string;
  value: string;
  onChange(value: string): void;
  error?: string | null;
  aside?: ReactNode;
  /** For a new password: shows a hint while typing. */
  hasAdvice?: boolean;
};

export function PasswordField(props: PasswordFieldProps) {
  const { label, value, onChange, error, aside, hasAdvice, ...rest } = props;
  const [isShown, setShown] = useState(false);
  const hint = hasAdvice === true ? <span aria-live="polite">{describePassword(value)}</span> : undefined;
  return (
    <FieldFrame label={label} hint={hint} error={error ?? null} aside={aside}>
      {({ inputId, describedBy }) => (
        <div className="relative">
          <input
            {...rest}
            id={inputId}
            type={isShown ? "text" : "password"}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            autoCapitalize="off"
            autoCorrect="off"
            spellCheck={false}
            maxLength={256}
            aria-invalid={error !== undefined && error !== null}
            aria-describedby={describedBy}
            className={joinClasses(inputClasses, "pr-16", error ? "border-danger" : "border-line-strong")}
          />
          <button
            type="button"
            aria-pressed={isShown}
            aria-label="Show password"
            onClick={() => setShown(!isShown)}
            className="absolute inset-y-1 right-1 rounded-sm px-2.5 text-sm text-ink-soft hover:bg-sunken hover:text-ink"
          >
            {isShown ? "Hide" : "Show"}
          </button>
        </div>
      )}
    </FieldFrame>
  );
}
