import { ExactFigure } from "../../design/exact-figure.tsx";
import { formatMoney, formatRoughMoney } from "./format-money.ts";

/** A rounded amount for headings and summaries. Charges and statements show every digit. */
export function Money({ amount, currency }: { amount: string; currency: string }) {
  const [short, exact] = [formatRoughMoney(amount, currency), formatMoney(amount, currency)];
  return short === exact ? short : <ExactFigure short={short} exact={exact} />;
}
