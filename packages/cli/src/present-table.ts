import { cleanText, type Paint } from "./paint.ts";

type Row = readonly string[];

/** Pads every column to its widest cell, except the last. */
export function presentTable(head: Row, rows: readonly Row[], paint: Paint): string {
  const clean = rows.map((row) => row.map((cell) => cleanText(cell).replaceAll("\n", " ")));
  const widths = head.map((title, index) => Math.max(title.length, ...clean.map((row) => row[index]?.length ?? 0)));
  const present = (row: Row): string =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd((widths[index] ?? 0) + 2)))
      .join("")
      .trimEnd();
  return [paint.bold(present(head)), ...clean.map(present)].join("\n");
}
