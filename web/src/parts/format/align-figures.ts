const decimalsPattern = /\.(\d+)$/;

/** The most decimals among a column's figures. */
export function countDecimals(figures: readonly string[]): number {
  return Math.max(0, ...figures.map((figure) => decimalsPattern.exec(figure)?.[1]?.length ?? 0));
}

/** Invisible digits after a figure that put its decimal point below those of figures with more decimals. */
export function writePadding(figure: string, decimals: number): string {
  // Quotas, such as "3 images", have no decimal point.
  if (!/\d$/.test(figure)) return "";
  const own = countDecimals([figure]);
  return `${own === 0 && decimals > 0 ? "." : ""}${"0".repeat(Math.max(0, decimals - own))}`;
}
