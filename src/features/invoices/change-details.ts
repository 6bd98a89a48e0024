import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { BillingDetails } from "./billing-document.ts";
import { isTaxIdOf } from "./choose-tax.ts";
import { findBillingDetails, lockBillingDetails, putBillingDetails } from "./document-store.ts";
import { findUndrawable } from "./find-undrawable.ts";

const addressLinesMax = 6;

const wireNames = {
  legalName: "legal_name",
  address: "address",
  country: "country",
  taxId: "tax_id",
  purchaseOrder: "purchase_order",
} as const satisfies Record<keyof BillingDetails, string>;

const detailNames = Object.keys(wireNames) as (keyof BillingDetails)[];

/** Changes what later documents show. Absent fields stay, `null` and blank texts remove one. */
export async function changeDetails(
  { database, clock }: { database: Database; clock: Clock },
  { accountId, changes }: { accountId: AccountId; changes: Partial<BillingDetails> },
): Promise<BillingDetails> {
  const tidied = Object.fromEntries(
    detailNames.flatMap((name) => (changes[name] === undefined ? [] : [[name, tidy(name, changes[name])]])),
  ) as Partial<BillingDetails>;
  return await database.transaction().execute(async (tx) => {
    await lockBillingDetails(tx, accountId);
    const details = { ...(await findBillingDetails(tx, accountId)), ...tidied };
    requireTaxId(details);
    await putBillingDetails(tx, accountId, { details, now: clock.now() });
    return details;
  });
}

function tidy(name: keyof BillingDetails, given: string | null): string | null {
  const text = (given ?? "").normalize("NFC").replaceAll("\r\n", "\n");
  switch (name) {
    case "address":
      return tidyAddress(text);
    case "country":
      return requireCountry(text.trim().toUpperCase());
    case "taxId":
      return requireLine(name, text.replace(/[\s.]/g, "").toUpperCase());
    case "legalName":
    case "purchaseOrder":
      return requireLine(name, text.trim());
  }
}

function tidyAddress(text: string): string | null {
  const lines = text
    .split("\n")
    .map((line) => requireLine("address", line.trim()))
    .filter((line) => line !== null);
  if (lines.length > addressLinesMax) throw createWrong("address", `must have at most ${addressLinesMax} lines.`);
  return lines.length === 0 ? null : lines.join("\n");
}

function requireLine(name: keyof BillingDetails, text: string): string | null {
  if (text === "") return null;
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) throw createWrong(name, "must not contain control characters.");
  const character = findUndrawable(text);
  if (character === null) return text;
  throw createWrong(name, `contains “${character}”, which documents cannot show. Write it in another script.`);
}

const regions = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

function requireCountry(code: string): string | null {
  if (code === "") return null;
  // `ZZ` has a name too: "unknown region".
  if (/^[A-Z]{2}$/.test(code) && !["EU", "UN", "EZ", "ZZ"].includes(code) && regions.of(code) !== undefined)
    return code;
  throw createWrong("country", "must be the two letters of a country, such as DE.");
}

function requireTaxId({ country, taxId }: BillingDetails): void {
  if (taxId === null) return;
  if (country === null) throw createWrong("country", "is required with a tax id.");
  if (isTaxIdOf(country, taxId)) return;
  throw createWrong("taxId", `must be a VAT number of ${country}, which begins with its letters.`);
}

function createWrong(name: keyof BillingDetails, problem: string): AppError {
  const param = wireNames[name];
  return new AppError("invalid_parameter", `\`${param}\` ${problem}`, { param });
}
