import { Fragment } from "react";

/** A code or path in monospace, broken only after `_`, `/`, `.` and `-`, never inside a word. */
export function CodeWord({ children, className = "" }: { children: string; className?: string }) {
  const parts = children.split(/(?<=[_/.-])/);
  return (
    <code className={`font-mono wrap-break-word ${className}`}>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by position.
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </code>
  );
}
