import { randomUUID } from "node:crypto";
import type { AccountId } from "../../lib/ids.ts";
import { type Changes, type Draft, type EarlyCalls, sumAvailable } from "./draft.ts";
import type { Reserve } from "./ledger-state.ts";
import { reserveLeaseMs } from "./written-rows.ts";

/**
 * Early calls: calls of this process that start before their holds are written. An account's reserve covers them: every
 * other writer, in this process or another, leaves that much of the balance until the lease expires. Reserves are granted
 * and renewed by commits that happen anyway.
 *
 * Proof that the hold of an early call is never refused for lack of money:
 *
 * 1. While the lease is valid, other processes leave at least the reserve.
 * 2. A hold of this process that is not early leaves at least `amount`, or lowers `amount` before its batch is sent.
 * 3. An early call starts only within `amount` and within the balance as this process last wrote it.
 *
 * So the balance always covers the early calls.
 */
export type Reserves = EarlyCalls & {
  /** Whether an early call may start; its amount then counts until `end`. `spendable` is `null` if unknown. */
  begin(accountId: AccountId, amount: bigint, spendable: bigint | null): boolean;
  /** Whether at least half of the reserve is unused, so that a call may take its time with writing its hold. */
  isAmple(accountId: AccountId): boolean;
  /** The call's hold is written, refused or given up. */
  end(accountId: AccountId, amount: bigint): void;
  /** Grants, renews and lowers the reserves of the batch's accounts. */
  decideReserves(draft: Draft): void;
  /** Called after a commit with its changes and its start. */
  keep(changes: Changes, startedMs: number): void;
  /** Drops the reserves of idle accounts, and returns them to be released in the database. */
  takeIdle(): IdleReserve[];
};

/** Each grant has its own owner name, so the release of one never ends the next. */
export type IdleReserve = { accountId: AccountId; owner: string };

type Standing = {
  /** The total of early calls whose holds are not written. */
  early: bigint;
  /** The last request for an early call: its amount and time. */
  asked: bigint;
  askedMs: number;
  /** This process's reserve, its owner name, and the start of the commit that renewed it last. */
  amount: bigint;
  owner: string;
  renewedMs: number;
  /** The last dropped reserve: ignore a renewal of it that was in flight. */
  endedOwner: string;
  /** Grant no reserve before this time: another process waits for the money. */
  grantAfterMs: number;
  /** Another process's reserve as cached, and since when. */
  foreign: Reserve | null;
  foreignMs: number;
};

const renewAfterMs = 500;
/** An older reserve is replaced by a new one: its lease could expire while the renewal is in flight. */
const renewWithinMs = reserveLeaseMs / 3;
/**
 * An early call starts at most this long after a renewal: the rest of the lease is for writing its hold. An account that is
 * idle for longer loses its reserve.
 */
const idleMs = 3000;
const endedAtOnceMax = 100;
/** Gives other processes, which retry ten times a second, time to take the released money. */
const grantPauseMs = 1000;
/** Accounts without a call for this long get no reserve. */
const askedMsMax = 60_000;
/** A reserve is at most a quarter of the balance, so it seldom blocks other processes. */
const share = 4n;
const callsMax = 256n;
const accountsMax = 10_000;

// The lease runs by the database's clock; here only a monotonic clock can measure it.
const readMs = (): number => performance.now();

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table of standings; its functions share it.
export function createReserves(): Reserves {
  const processName = randomUUID();
  let grantCount = 0;
  const standings = new Map<AccountId, Standing>();

  function getStanding(accountId: AccountId): Standing {
    const known = standings.get(accountId);
    if (known !== undefined) return known;
    if (standings.size >= accountsMax) forgetIdle();
    const never = Number.NEGATIVE_INFINITY;
    const times = { askedMs: never, renewedMs: never, foreignMs: never, grantAfterMs: never };
    const standing = { early: 0n, asked: 0n, amount: 0n, owner: "", endedOwner: "", foreign: null, ...times };
    standings.set(accountId, standing);
    return standing;
  }

  function forgetIdle(): void {
    for (const [accountId, { early }] of standings) if (early === 0n) standings.delete(accountId);
  }

  const isOwner = (owner: string): boolean => owner.startsWith(processName);

  /** Whether another process's reserve is valid. One that is cached unchanged for longer than a lease has expired. */
  function isForeign(standing: Standing, reserve: Reserve | null, nowMs: number): boolean {
    if (reserve === null || isOwner(reserve.owner)) return false;
    if (standing.foreign !== reserve) {
      standing.foreign = reserve;
      standing.foreignMs = nowMs;
    }
    return nowMs - standing.foreignMs <= reserveLeaseMs;
  }

  function decideReserve(draft: Draft, accountId: AccountId, standing: Standing): void {
    const nowMs = readMs();
    const reserve = draft.findWallet(accountId)?.reserve ?? null;
    if (nowMs - standing.askedMs > askedMsMax || isForeign(standing, reserve, nowMs)) return;
    const sinceMs = nowMs - standing.renewedMs;
    const isOwn = reserve !== null && reserve.owner === standing.owner && sinceMs <= renewWithinMs;
    if (isOwn && reserve.isRevoked) yieldReserve(draft, accountId, standing, reserve);
    else if (isOwn) renewReserve(draft, accountId, standing, reserve);
    else grantReserve(draft, accountId, standing);
  }

  function decideAmount(draft: Draft, accountId: AccountId, { asked }: Standing): bigint {
    const affordable = sumAvailable(draft, accountId, "money") / share;
    return affordable < asked * callsMax ? affordable : asked * callsMax;
  }

  function grantReserve(draft: Draft, accountId: AccountId, standing: Standing): void {
    const { asked, early } = standing;
    const wanted = decideAmount(draft, accountId, standing);
    if (wanted < asked || readMs() < standing.grantAfterMs) return;
    const amount = wanted < early ? early : wanted;
    // Other processes must see the reserve before a call counts on it.
    draft.requireExact(accountId);
    grantCount += 1;
    const owner = `${processName}:${grantCount}`;
    draft.changes.reserves.set(accountId, { amount, owner, isRevoked: false, isRenewed: true });
  }

  function renewReserve(draft: Draft, accountId: AccountId, standing: Standing, reserve: Reserve): void {
    const wanted = decideAmount(draft, accountId, standing);
    const isDue = readMs() - standing.renewedMs >= renewAfterMs;
    const isRaised = isDue && wanted > reserve.amount * 2n;
    const isLowered = wanted < reserve.amount / 2n;
    if (!isDue && !isLowered) return;
    if (isRaised) draft.requireExact(accountId);
    const amount = isRaised ? wanted : isLowered ? lower(standing, wanted) : reserve.amount;
    draft.changes.reserves.set(accountId, { ...reserve, amount, isRenewed: true });
  }

  /** Another process waits for the money: keep only what started calls need. */
  function yieldReserve(draft: Draft, accountId: AccountId, standing: Standing, reserve: Reserve): void {
    const amount = lower(standing, 0n);
    standing.grantAfterMs = readMs() + grantPauseMs;
    if (amount < reserve.amount) draft.changes.reserves.set(accountId, { ...reserve, amount, isRenewed: false });
  }

  /** Limits future early calls; those that have started keep their part. */
  function lower(standing: Standing, amount: bigint): bigint {
    const lowered = amount < standing.early ? standing.early : amount;
    if (lowered < standing.amount) standing.amount = lowered;
    return lowered;
  }

  return {
    isOwner,
    limitEarly(accountId, left) {
      const standing = standings.get(accountId);
      if (standing === undefined) return 0n;
      if (left < standing.amount) lower(standing, left);
      return standing.amount < standing.early ? standing.early : standing.amount;
    },
    begin(accountId, amount, spendable) {
      const standing = getStanding(accountId);
      const nowMs = readMs();
      standing.asked = amount;
      standing.askedMs = nowMs;
      if (spendable === null || nowMs - standing.renewedMs >= idleMs) return false;
      const total = standing.early + amount;
      if (total > standing.amount || total > spendable) return false;
      standing.early = total;
      return true;
    },
    isAmple(accountId) {
      const standing = standings.get(accountId);
      return standing !== undefined && standing.early * 2n <= standing.amount;
    },
    end(accountId, amount) {
      const standing = standings.get(accountId);
      if (standing !== undefined) standing.early -= amount;
    },
    decideReserves(draft) {
      for (const accountId of draft.changes.accountIds) {
        const standing = standings.get(accountId);
        if (standing !== undefined && !draft.changes.reserves.has(accountId)) decideReserve(draft, accountId, standing);
      }
    },
    keep({ reserves }, startedMs) {
      for (const [accountId, decided] of reserves) {
        const standing = standings.get(accountId);
        if (standing === undefined || !decided.isRenewed || decided.owner === standing.endedOwner) continue;
        standing.amount = decided.amount;
        standing.owner = decided.owner;
        standing.renewedMs = startedMs;
      }
    },
    takeIdle() {
      const nowMs = readMs();
      const idle: IdleReserve[] = [];
      for (const [accountId, standing] of standings) {
        const { owner, early, renewedMs } = standing;
        if (idle.length === endedAtOnceMax) break;
        if (owner === "" || early > 0n || nowMs - renewedMs < idleMs) continue;
        standing.endedOwner = owner;
        standing.owner = "";
        standing.amount = 0n;
        idle.push({ accountId, owner });
      }
      return idle;
    },
  };
}
