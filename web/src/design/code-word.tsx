import { LongName } from "./long-name.tsx";

/** A code or path in monospace. */
export function CodeWord({ children, className = "" }: { children: string; className?: string }) {
  return (
    <code className={`font-mono wrap-break-word ${className}`}>
      <LongName>{children}</LongName>
    </code>
  );
}
