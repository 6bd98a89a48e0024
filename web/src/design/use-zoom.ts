import { useState } from "react";

/** Minimum number of bars worth zooming. */
const barsMin = 5;

export type Zoom<Bar> = {
  shown: readonly Bar[];
  canZoomIn: boolean;
  isZoomed: boolean;
  canGo: { earlier: boolean; later: boolean };
  /** Zooms to a range of bars, in either direction. */
  choose(oneId: string, otherId: string): void;
  zoomIn(): void;
  move(direction: -1 | 1): void;
  reset(): void;
};

/** The visible range of bars. Resets when the bars change. */
export function useZoom<Bar extends { id: string }>(bars: readonly Bar[]): Zoom<Bar> {
  const [range, setRange] = useState<{ first: string; last: string } | null>(null);
  const find = (id: string | undefined): number => bars.findIndex((bar) => bar.id === id);
  const [first, last] = [find(range?.first), find(range?.last)];
  const isZoomed = first >= 0 && last >= first;
  const [from, to] = isZoomed ? [first, last] : [0, bars.length - 1];
  const show = (start: number, end: number) => {
    const [one, other] = [bars[Math.max(0, start)], bars[Math.min(bars.length - 1, end)]];
    if (one !== undefined && other !== undefined) setRange({ first: one.id, last: other.id });
  };
  const count = to - from + 1;
  return {
    shown: isZoomed ? bars.slice(from, to + 1) : bars,
    canZoomIn: count >= 2 * barsMin,
    isZoomed,
    canGo: { earlier: isZoomed && from > 0, later: isZoomed && to < bars.length - 1 },
    choose(oneId, otherId) {
      const [start, end] = [find(oneId), find(otherId)].sort((a, b) => a - b);
      if (start !== undefined && end !== undefined && start >= 0 && end > start) show(start, end);
    },
    // Zoom into the newest half: recent bars matter most.
    zoomIn: () => show(to - Math.max(barsMin, Math.ceil(count / 2)) + 1, to),
    move(direction) {
      const step = Math.max(1, Math.floor(count / 2));
      const start = Math.min(bars.length - count, Math.max(0, from + direction * step));
      show(start, start + count - 1);
    },
    reset: () => setRange(null),
  };
}
