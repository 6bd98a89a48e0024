import { writePadding } from "./align-figures.ts";

type MoneyCellProps = {
  figure: string;
  /** All digits, shown on hover. */
  exact?: string;
  /** Of the column: see `countDecimals`. */
  decimals?: number;
};

/** Money in a table, aligned at the decimal point. The padding is neither text nor copied, nor read by screen readers. */
export function MoneyCell({ figure, exact = figure, decimals = 0 }: MoneyCellProps) {
  return (
    <span
      title={exact === figure ? undefined : exact}
      data-padding={writePadding(figure, decimals)}
      className="whitespace-nowrap tabular-nums after:invisible after:content-[attr(data-padding)]"
    >
      {figure}
    </span>
  );
}
