import type { ReactNode } from "react";
import { Icon } from "../../../design/icon.tsx";
import { joinClasses } from "../../../design/join-classes.ts";

type StepProps = {
  title: string;
  isDone: boolean;
  children: ReactNode;
};

export function Step({ title, isDone, children }: StepProps) {
  return (
    <li className="flex gap-3 py-4">
      <span
        aria-hidden="true"
        className={joinClasses(
          "mt-0.5 flex size-5 shrink-0 items-center justify-center rounded-full border",
          isDone ? "border-success bg-success-soft text-success" : "border-line-strong text-transparent",
        )}
      >
        {isDone && <Icon name="check" className="size-3" />}
      </span>
      <div className="flex min-w-0 flex-1 flex-col items-start gap-2 text-sm text-ink-soft">
        <h3 className="font-medium text-ink">{title}</h3>
        {children}
      </div>
    </li>
  );
}
