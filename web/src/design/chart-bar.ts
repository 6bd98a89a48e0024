type BarPart = { id: string; name: string; size: number; text: string; colour: number };

export type Bar = {
  id: string;
  /** What it is of, in full, and as short as below an axis. */
  name: string;
  mark: string;
  /** All of it together. */
  text: string;
  /** From the bottom up; a bar without parts is a gap that cannot be opened. */
  parts: readonly BarPart[];
};
