import { ExactFigure } from "../../design/exact-figure.tsx";
import { formatMoney, formatRoughMoney } from "./format-money.ts";

/** An amount in a heading or among the figures that sum a page up. Charges and statements have every digit at once. */
export function Money({ amount, currency }: { amount: string; currency: string }) {
  const [short, exact] = [formatRoughMoney(amount, currency), formatMoney(amount, currency)];
  return short === exact ? short : <ExactFigure short={short} exact={exact} />;
}
