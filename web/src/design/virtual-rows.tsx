import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";

/** A row of one line; each is measured once it is drawn. */
const rowHeightGuess = 44;
/** So that a page that is scrolled by the keyboard or the wheel has its rows in time. */
const overscan = 12;

/** Where a row stands among rows that are not all drawn, and how its height becomes known. */
export type RowPlace = { index: number; measure(row: HTMLTableRowElement | null): void };

type VirtualRowsProps = {
  count: number;
  columnCount: number;
  children(index: number, place: RowPlace): ReactNode;
};

/** The rows of a long table that are in the window; the others are empty room above and below. */
export function VirtualRows({ count, columnCount, children }: VirtualRowsProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  // What stands above the table may change its height at any time; where it begins is looked up whenever it is drawn.
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
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row does not take the focus.
    <tr aria-hidden="true">
      <td colSpan={columnCount} style={{ height }} />
    </tr>
  );
}
