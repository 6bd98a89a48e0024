import { computeCharge } from "../../lib/bill.ts";
import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { findOfferedModel, findPrice, type LiveCatalog, type Price } from "../catalog/index.ts";
import { findEntryNumber, listStatementPage, type StatementEntry } from "../ledger/index.ts";
import { findTask } from "../tasks/index.ts";
import { type ChargeRecord, findCharge, listRefunds, type Refund } from "./charge-store.ts";
import { chargeIdPattern } from "./list-schema.ts";

export type ExplainedCharge = ChargeRecord & {
  price: (Price & { isCurrent: boolean }) | null;
  /** The price of each item, if items have their own. */
  itemPriceIds: readonly (string | null)[];
  cost: bigint;
  /** In the order in which the buckets were charged. */
  entries: readonly StatementEntry[];
  refunds: readonly Refund[];
};

export type UsageDependencies = { database: Database; catalog: LiveCatalog; clock: Clock; currency: string };

/** A charge has one entry per credit bucket, and an account has one bucket per gift. */
const legsMax = 1000;

/** Throws `not_found` for another account's charge. */
export async function explainCharge(
  dependencies: UsageDependencies,
  caller: Caller,
  id: string,
): Promise<ExplainedCharge> {
  const { database } = dependencies;
  const { accountId } = caller;
  const charge = new RegExp(chargeIdPattern).test(id) ? await findCharge(database, { accountId, id }) : null;
  if (charge === null) throw new AppError("not_found", "The account has no such charge.", { param: "charge_id" });
  return {
    ...charge,
    price: await readPrice(dependencies, caller, charge.bill.priceId),
    itemPriceIds: await listItemPrices(database, charge),
    cost: charge.unit === "money" ? computeCharge(charge.bill) : charge.bill.quotaUnits,
    entries: await listEntries(database, charge, caller),
    refunds: await listRefunds(database, { accountId, chargeId: id }),
  };
}

/** A price is current if the account's next call is charged at it. */
async function readPrice(
  { database, catalog, clock }: UsageDependencies,
  { accountId, planId }: Caller,
  priceId: string,
): Promise<ExplainedCharge["price"]> {
  const price = await findPrice(database, priceId);
  if (price === null) return null;
  // Ignore the key's model restriction.
  const audience = { accountId, planId, modelIds: null };
  const found = findOfferedModel(catalog.current(), price.modelId, audience, clock.now());
  const isCurrent = found.kind === "offered" && found.offered.prices.some(({ id }) => id === priceId);
  return { ...price, isCurrent };
}

/** A drama's task stores the price of each stage. */
async function listItemPrices(database: Database, { cause, bill }: ChargeRecord): Promise<(string | null)[]> {
  const task = cause.kind === "task" ? await findTask(database, cause.id) : null;
  const stages = task !== null && "stages" in task.terms ? task.terms.stages : [];
  return bill.items.map(({ name }) => stages.find(({ step }) => name.startsWith(`${step}_`))?.priceId ?? null);
}

/** The entries of one charge have consecutive numbers. */
async function listEntries(database: Database, { id }: ChargeRecord, { accountId }: Caller): Promise<StatementEntry[]> {
  const number = await findEntryNumber(database, accountId, { transactionId: id, leg: 0 });
  // A free charge has no entries.
  if (number === null) return [];
  const page = { from: null, to: null, order: "oldest-first", limit: legsMax, after: number - 1n } as const;
  const entries = await listStatementPage(database, accountId, { ...page, include: "everything" });
  return entries.filter(({ transactionId }) => transactionId === id);
}
