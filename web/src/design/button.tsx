import type { ButtonHTMLAttributes, ReactNode } from "react";
import { joinClasses } from "./join-classes.ts";
import { Spinner } from "./spinner.tsx";

type ButtonLook = "primary" | "plain" | "danger" | "quiet";

const shape =
  "relative inline-flex min-h-10 items-center justify-center gap-2 rounded-md py-1.5 text-center text-sm font-medium transition-colors select-none aria-disabled:cursor-not-allowed";

const looks: Record<ButtonLook, string> = {
  primary: "px-4 bg-accent text-on-accent hover:bg-accent-strong aria-disabled:bg-line aria-disabled:text-ink-soft",
  plain:
    "border border-line-strong bg-surface px-4 text-ink hover:bg-sunken aria-disabled:border-line aria-disabled:text-ink-soft",
  danger: "px-4 border border-danger bg-surface text-danger hover:bg-danger-soft aria-disabled:border-line",
  quiet: "px-2 text-accent hover:bg-accent-soft",
};

/** Button styles for a link. */
export function buttonClasses(look: ButtonLook, extra = ""): string {
  return joinClasses(shape, looks[look], extra);
}

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled"> & {
  look?: ButtonLook;
  /** The action is running: the button keeps its size and ignores clicks. */
  isBusy?: boolean;
  isDisabled?: boolean;
  children: ReactNode;
};

/** Stays focusable while disabled, so keyboard users keep their place. */
export function Button({ look = "plain", isBusy, isDisabled, className, children, onClick, ...rest }: ButtonProps) {
  const isOff = isBusy === true || isDisabled === true;
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={isOff}
      aria-busy={isBusy === true}
      className={buttonClasses(look, className)}
      onClick={(event) => (isOff ? event.preventDefault() : onClick?.(event))}
    >
      <span className={joinClasses("inline-flex items-center gap-2", isBusy === true && "opacity-0")}>{children}</span>
      {isBusy === true && (
        <span className="absolute inset-0 flex items-center justify-center">
          <Spinner />
        </span>
      )}
    </button>
  );
}
