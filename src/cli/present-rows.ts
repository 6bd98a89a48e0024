/** Rows under a heading, each column as wide as its widest cell. */
export function presentRows(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = [heading, ...rows];
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
