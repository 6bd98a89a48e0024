/** `colour`: its place among the series, by which its colour is chosen. */
type ChartPart = { id: string; name: string; size: number; text: string; colour: number };

export type ChartBar = {
  id: string;
  /** In full, and as short as below an axis. */
  name: string;
  mark: string;
  /** The total. */
  text: string;
  /** From the bottom up; a bar without parts is a gap that cannot be opened. */
  parts: readonly ChartPart[];
};
