import { formatCount, formatMoney } from "./format-money.ts";

export type Unit = "money" | "text" | "image" | "video";

const unitNames: Record<Exclude<Unit, "money">, [one: string, many: string]> = {
  text: ["token", "tokens"],
  image: ["image", "images"],
  video: ["second", "seconds"],
};

type Amount = { unit: Unit; amount: string; currency: string };

/** An amount in its unit: money, or a quota's tokens, images or seconds. */
export function formatAmount({ unit, amount, currency }: Amount): string {
  if (unit === "money") return writeMinus(formatMoney(amount, currency));
  const [one, many] = unitNames[unit];
  const count = Number(amount);
  return `${writeMinus(formatCount(count))} ${Math.abs(count) === 1 ? one : many}`;
}

/** With a plus sign for credits. */
export function formatChange(amount: Amount): string {
  const text = formatAmount(amount);
  return text.startsWith("−") ? text : `+${text}`;
}

export function nameQuota(unit: Exclude<Unit, "money">): string {
  return `${unit.charAt(0).toUpperCase()}${unit.slice(1)} quota`;
}

/** A hyphen is shorter than a minus sign and may wrap. */
function writeMinus(text: string): string {
  return text.replace("-", "−");
}
