import type { ReactNode } from "react";
import { InlineCodeText } from "./inline-code-text.tsx";

type NoticeKind = "error" | "warning" | "success" | "hint";

const looks: Record<NoticeKind, string> = {
  error: "bg-danger-soft border-danger text-danger",
  warning: "bg-warning-soft border-warning text-warning",
  success: "bg-success-soft border-success text-success",
  hint: "bg-accent-soft border-accent text-accent",
};

/** A message about the page, with its `backticks` as code. Screen readers announce errors immediately. */
export function Notice({ kind, title, children }: { kind: NoticeKind; title?: string; children?: ReactNode }) {
  return (
    <div
      role={kind === "error" ? "alert" : "status"}
      className={`rounded-md border-l-4 px-4 py-3 text-sm ${looks[kind]}`}
    >
      {title !== undefined && (
        <p className="font-semibold">
          <InlineCodeText text={title} />
        </p>
      )}
      {children !== undefined && (
        <div className="text-ink">{typeof children === "string" ? <InlineCodeText text={children} /> : children}</div>
      )}
    </div>
  );
}
