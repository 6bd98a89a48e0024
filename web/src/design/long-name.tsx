import { Fragment } from "react";

/** An address, code or path. It is broken after `@`, `_`, `/`, `.` and `-`, and inside a word only if that word fits no line. */
export function LongName({ children }: { children: string }) {
  return children.split(/(?<=[@_/.-])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by position.
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
