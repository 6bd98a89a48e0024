import { ExactFigure } from "../../design/exact-figure.tsx";
import { formatMoney, formatRoughMoney } from "./format-money.ts";

type MoneyProps = { amount: string; currency: string; isAtRight?: boolean };

/** A rounded amount for headings and summaries. Charges and statements show every digit; tables use `MoneyCell`. */
export function Money({ amount, currency, isAtRight = false }: MoneyProps) {
  const [short, exact] = [formatRoughMoney(amount, currency), formatMoney(amount, currency)];
  return short === exact ? short : <ExactFigure short={short} exact={exact} isAtRight={isAtRight} />;
}
