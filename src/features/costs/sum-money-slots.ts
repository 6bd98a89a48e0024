import type { Clock } from "../../lib/clock.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import {
  addMoney,
  type Covered,
  findBeginning,
  findCovered,
  hasUnrolledBefore,
  listStoredSlots,
  type MoneySlot,
  type MoneySums,
  noMoney,
  readMoneySlots,
  storeSlots,
} from "./money-slot-store.ts";

const slotMs = 30 * 60_000;
/** Entries are committed shortly after the time they carry. */
const lateMs = 15 * 60_000;
/** A day of slots per run, so that the history of a large database is summed bit by bit. */
const slotsMax = 48;

/**
 * Stores the sums of half hours that have ended: first those since the last run, then earlier ones back to the first account.
 * Safe to repeat.
 */
export async function sumMoneySlots({ database, clock }: { database: Database; clock: Clock }): Promise<void> {
  const closed = floorToSlot(new Date(clock.now().getTime() - lateMs));
  const covered = (await findCovered(database)) ?? { from: closed, until: closed };
  const until = new Date(Math.min(closed.getTime(), covered.until.getTime() + slotsMax * slotMs));
  const isLate = until > covered.until && (await hasUnrolledBefore(database, until));
  const ahead: Covered = isLate ? covered : { from: covered.from, until };
  if (ahead.until > covered.until) await store(database, { from: covered.until, to: ahead.until }, ahead);
  const beginning = await findBeginning(database);
  if (beginning === null) return;
  const from = latest(floorToSlot(beginning), new Date(covered.from.getTime() - slotsMax * slotMs));
  if (from < covered.from) await store(database, { from, to: covered.from }, { from, until: ahead.until });
}

async function store(database: Database, period: { from: Date; to: Date }, covered: Covered): Promise<void> {
  const slots = await readMoneySlots(database, period);
  await inTransaction(database, (tx) => storeSlots(tx, slots, covered));
}

/** Slots of a period: the stored ones, and current sums of the others. */
async function listSlots(database: Database, { from, to }: { from: Date; to: Date }): Promise<MoneySlot[]> {
  const covered = (await findCovered(database)) ?? { from: to, until: to };
  const [first, last] = [latest(from, covered.from), earliest(to, covered.until)];
  if (first >= last) return await readMoneySlots(database, { from, to });
  const parts = await Promise.all([
    readMoneySlots(database, { from, to: first }),
    listStoredSlots(database, { from: first, to: last }),
    readMoneySlots(database, { from: last, to }),
  ]);
  return parts.flat();
}

/** Sums between each two neighbours of `boundaries`. A boundary within a half hour counts from its beginning. */
export async function sumMoneyBetween(database: Database, boundaries: readonly Date[]): Promise<MoneySums[]> {
  const edges = boundaries.map(floorToSlot);
  const [from, to] = [edges[0], edges.at(-1)];
  if (from === undefined || to === undefined) return [];
  const slots = await listSlots(database, { from, to });
  return edges
    .slice(0, -1)
    .map((start, index) =>
      slots
        .filter(({ slotAt }) => slotAt >= start && slotAt < (edges[index + 1] ?? to))
        .reduce<MoneySums>(addMoney, noMoney),
    );
}

function floorToSlot(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / slotMs) * slotMs);
}

const earliest = (a: Date, b: Date): Date => (a < b ? a : b);
const latest = (a: Date, b: Date): Date => (a > b ? a : b);
