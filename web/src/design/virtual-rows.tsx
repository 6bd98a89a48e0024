import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";

/** Initial estimate for one-line rows; each row is measured once rendered. */
const rowHeightGuess = 44;
/** Rendered ahead of scrolling by keyboard or wheel. */
const overscan = 12;

/** Position of a virtual row, and the ref that measures it. */
export type RowPlace = { index: number; measure(row: HTMLTableRowElement | null): void };

type VirtualRowsProps = {
  count: number;
  columnCount: number;
  children(index: number, place: RowPlace): ReactNode;
};

/** The visible rows of a long table, with spacers above and below. */
export function VirtualRows({ count, columnCount, children }: VirtualRowsProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  // Content above the table can change height, so read the offset on every render.
  useLayoutEffect(() => {
    const top = body.current?.getBoundingClientRect().top;
    if (top !== undefined) setScrollMargin(Math.round(top + window.scrollY));
  });
  const virtualizer = useWindowVirtualizer({ count, estimateSize: () => rowHeightGuess, overscan, scrollMargin });
  const items = virtualizer.getVirtualItems();
  const above = (items[0]?.start ?? scrollMargin) - scrollMargin;
  const below = virtualizer.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin);
  return (
    <tbody ref={body}>
      <Room height={above} columnCount={columnCount} />
      {items.map(({ index }) => children(index, { index, measure: virtualizer.measureElement }))}
      <Room height={below} columnCount={columnCount} />
    </tbody>
  );
}

function Room({ height, columnCount }: { height: number; columnCount: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: rows are not focusable.
    <tr aria-hidden="true">
      <td colSpan={columnCount} style={{ height }} />
    </tr>
  );
}
