import type { Charge } from "../../../src/features/ledger/draft.ts";
import type { Bucket, Hold, Posting } from "../../../src/features/ledger/ledger-state.ts";
import type { BucketId, HoldId } from "../../../src/lib/ids.ts";
import { assertClaim } from "./disagreement.ts";
import { computeCost, maxOf } from "./ledger-model.ts";
import type { LedgerTables } from "./reducer-world.ts";

/** Checks the ledger's invariants from its tables alone. */
export function checkLedgerTables(tables: LedgerTables): void {
  const holds = [...tables.holds.values()];
  const entries = Map.groupBy(tables.postings, ({ entry }) => entry?.bucketId);
  for (const bucket of tables.buckets.values()) {
    checkBounds(bucket);
    checkEntries(bucket, entries.get(bucket.id) ?? []);
  }
  checkHeld(tables, holds);
  const charges = Map.groupBy(tables.charges, ({ holdId }) => holdId);
  const postings = Map.groupBy(tables.postings, ({ id }) => id);
  for (const hold of holds) {
    checkHold(hold);
    checkEnd(hold, charges.get(hold.id) ?? [], postings.get(chargeIdOf(hold.id)) ?? []);
  }
  for (const charge of tables.charges) checkCharge(charge, tables.holds.get(charge.holdId));
  for (const posting of tables.postings) checkPosting(posting, tables);
  checkSpending(tables, holds);
}

function checkBounds({ id, kind, unit, posted, held, isOpen, expiresAt }: Bucket): void {
  const check = "no bucket is below nothing, above its maximum or closed with something in it";
  assertClaim(held >= 0n && held <= posted && posted <= maxOf(unit), check, `${id} has ${posted}, of it ${held} held`);
  assertClaim(isOpen === (kind === "cash" || posted > 0n), check, `${id} with ${posted} has isOpen ${isOpen}`);
  const isFit = kind === "cash" ? unit === "money" && expiresAt === null : (kind === "gift") === (unit === "money");
  assertClaim(isFit, check, `${id} is a ${kind} of ${unit}`);
}

function checkEntries({ id, posted, entryCount }: Bucket, entries: readonly Posting[]): void {
  let balance = 0n;
  for (const [index, { credit, amount, entry }] of entries.entries()) {
    balance += credit === id ? amount : -amount;
    assertClaim(
      entry?.number === BigInt(index + 1),
      "entry numbers have no gaps",
      `${id}: ${entry?.number} comes ${index + 1}th`,
    );
    assertClaim(
      entry.balanceAfter === balance,
      "each entry's balance follows from the one before",
      `${id}: entry ${entry.number} says ${entry.balanceAfter}, not ${balance}`,
    );
  }
  const check = "a bucket holds what its postings sum up to";
  assertClaim(posted === balance, check, `${id} has ${posted}, its postings make ${balance}`);
  assertClaim(entryCount === BigInt(entries.length), check, `${id} counts ${entryCount} of ${entries.length} entries`);
}

function checkHeld(tables: LedgerTables, holds: readonly Hold[]): void {
  const held = new Map<BucketId, bigint>();
  for (const { state, lines } of holds) {
    if (state !== "open") continue;
    for (const { bucketId, amount } of lines) held.set(bucketId, (held.get(bucketId) ?? 0n) + amount);
  }
  for (const bucketId of new Set([...held.keys(), ...tables.buckets.keys()])) {
    const said = tables.buckets.get(bucketId)?.held;
    const lines = held.get(bucketId) ?? 0n;
    assertClaim(
      said === lines,
      "what is held in a bucket is what open holds hold of it",
      `${bucketId}: ${said}, not ${lines}`,
    );
  }
}

function checkHold(hold: Hold): void {
  const check = "a hold is as much as its lines";
  const lines = sum(hold.lines.map(({ amount }) => amount));
  if (hold.state !== "refused") assertClaim(hold.amount === lines, check, `${hold.id}: ${hold.amount}, not ${lines}`);
  assertClaim(
    hold.amount > 0n && hold.lines.every(({ amount }) => amount > 0n),
    check,
    `${hold.id} has a line of nothing`,
  );
  const hasEnded = hold.state !== "open";
  const hasRefusal = hold.state === "refused";
  assertClaim(
    hasEnded === (hold.resolvedAt !== null) && hasRefusal === (hold.refusal !== null),
    "a hold knows when and how it ended",
    `${hold.id} is ${hold.state}`,
  );
}

function checkEnd(hold: Hold, charges: readonly Charge[], postings: readonly Posting[]): void {
  if (hold.state !== "settled") {
    const check = hold.state === "refused" ? "a refused hold leaves nothing" : "only a settled hold is charged";
    const hasLines = hold.state === "refused" && hold.lines.length > 0;
    const isUntouched = charges.length === 0 && postings.length === 0 && hold.settled === 0n && !hasLines;
    assertClaim(isUntouched, check, `${hold.id} is ${hold.state}`);
    return;
  }
  const charged = sum(postings.filter(({ kind }) => kind === "charge").map(({ amount }) => amount));
  assertClaim(
    charged === hold.settled && hold.settled <= hold.amount,
    "a settled hold's postings sum up to what was settled",
    `${hold.id}: ${charged} posted, ${hold.settled} settled of ${hold.amount}`,
  );
  const lost = sum(postings.filter(({ kind }) => kind === "loss").map(({ amount }) => amount));
  assertClaim(lost === charges[0]?.lost, "what is lost is posted", `${hold.id}: ${lost}, not ${charges[0]?.lost}`);
  assertClaim(charges.length === 1, "a settled hold has one charge", `${hold.id} has ${charges.length}`);
}

function checkCharge(charge: Charge, hold: Hold | undefined): void {
  const { id, holdId, accountId, unit, bill, paid, lost } = charge;
  const isOfHold =
    id === chargeIdOf(holdId) && hold?.state === "settled" && hold.accountId === accountId && hold.unit === unit;
  assertClaim(isOfHold, "a charge belongs to the hold that it settled", `${id} to ${holdId}`);
  const cost = unit === "money" ? computeCost(bill) : bill.quotaUnits;
  assertClaim(
    paid + lost === cost && paid === hold.settled && paid >= 0n && lost >= 0n,
    "a charge can be computed again from its bill",
    `${id}: ${paid} paid and ${lost} lost, but it cost ${cost}`,
  );
}

function checkPosting(posting: Posting, tables: LedgerTables): void {
  const { id, kind, debit, credit, amount, entry, refundOf } = posting;
  const bucketId = entry?.bucketId;
  const isBooked = {
    charge: debit === bucketId && credit === "revenue",
    loss: debit === "loss" && credit === "revenue" && entry === null,
    refund: debit === "revenue" && credit === bucketId,
    top_up: debit.startsWith("funding:") && credit === bucketId,
    grant: debit.startsWith("funding:") && credit === bucketId,
    adjustment: (debit === "adjustments" && credit === bucketId) || (credit === "adjustments" && debit === bucketId),
    reversal:
      (debit.startsWith("funding:") && credit === bucketId) || (credit.startsWith("funding:") && debit === bucketId),
    expiry: debit === bucketId && credit === "expired",
  }[kind];
  const check = "a posting has the two sides of its kind";
  assertClaim(isBooked && amount > 0n, check, `${id}: ${amount} from ${debit} to ${credit} for ${kind}`);
  assertClaim((kind === "refund") === (refundOf !== null), check, `${id} is a ${kind} of ${refundOf}`);
  if (bucketId === undefined) return;
  const bucket = tables.buckets.get(bucketId);
  const isOwn = bucket?.accountId === posting.accountId && bucket.unit === posting.unit;
  assertClaim(isOwn, "a posting touches its own account and unit", `${id} touches ${bucketId}`);
}

function checkSpending(tables: LedgerTables, holds: readonly Hold[]): void {
  const counted = new Map<string, { held: bigint; spent: bigint }>();
  for (const { state, amount, settled, budget } of holds) {
    if (budget === null) continue;
    const name = `${budget.keyId} ${budget.startsAt.toISOString()}`;
    const { held, spent } = counted.get(name) ?? { held: 0n, spent: 0n };
    counted.set(name, { held: held + (state === "open" ? amount : 0n), spent: spent + settled });
  }
  for (const { keyId, startsAt, held, spent } of tables.spending.values()) {
    const name = `${keyId} ${startsAt.toISOString()}`;
    const expected = counted.get(name) ?? { held: 0n, spent: 0n };
    counted.delete(name);
    assertClaim(
      held === expected.held && spent === expected.spent,
      "what a key has spent is what its holds hold and paid",
      `${name}: ${held} held and ${spent} spent, not ${expected.held} and ${expected.spent}`,
    );
  }
  for (const [name, { held, spent }] of counted)
    assertClaim(
      held === 0n && spent === 0n,
      "what a key has spent is what its holds hold and paid",
      `${name}: no row, but ${held} held and ${spent} spent`,
    );
}

function chargeIdOf(holdId: HoldId): Posting["id"] {
  return `txn_${holdId.slice("hold_".length)}`;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
