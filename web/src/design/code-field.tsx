import { joinClasses } from "./join-classes.ts";
import { FieldFrame, inputClasses } from "./text-field.tsx";

type CodeFieldProps = {
  label: string;
  value: string;
  onChange(value: string): void;
  hint?: string;
  error?: string | null;
  name: string;
  kind: "digits" | "letters";
  /** Submits once the code has this many characters, not counting spaces and dashes. */
  length?: number;
  onComplete?(code: string): void;
};

/** A one-time code in one plain input, so paste and autofill work. */
export function CodeField({ label, value, onChange, hint, error, name, kind, length, onComplete }: CodeFieldProps) {
  const change = (text: string) => {
    const typed = kind === "digits" ? text.replaceAll(/[^\d ]/g, "") : text;
    onChange(typed);
    const code = typed.replaceAll(/[\s-]/g, "");
    if (code.length === length && code !== value.replaceAll(/[\s-]/g, "")) onComplete?.(code);
  };
  return (
    <FieldFrame label={label} {...(hint === undefined ? {} : { hint })} error={error ?? null}>
      {({ inputId, describedBy }) => (
        <input
          id={inputId}
          name={name}
          value={value}
          onChange={(event) => change(event.target.value)}
          inputMode={kind === "digits" ? "numeric" : "text"}
          autoComplete={kind === "digits" ? "one-time-code" : "off"}
          autoCapitalize="off"
          autoCorrect="off"
          spellCheck={false}
          maxLength={64}
          required
          aria-invalid={error !== undefined && error !== null}
          aria-describedby={describedBy}
          className={joinClasses(
            inputClasses,
            "font-mono text-lg tracking-[0.2em]",
            error ? "border-danger" : "border-line-strong",
          )}
        />
      )}
    </FieldFrame>
  );
}
