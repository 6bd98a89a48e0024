/**
 * A table with aligned columns. Control characters are removed: user-supplied names must not break rows or control the
 * terminal.
 */
export function presentRows(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = [heading, ...rows.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}+/gu, " ")))];
  const widths = heading.map((_, column) =>
    table.reduce((width, row) => Math.max(width, (row[column] ?? "").length), 0),
  );
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
