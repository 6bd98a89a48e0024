import { randomUUID } from "node:crypto";
import type { AccountId } from "../../lib/ids.ts";
import { type Changes, type Draft, type EarlyCalls, sumAvailable } from "./draft.ts";
import { reserveLeaseMs } from "./ledger-rows.ts";
import type { Reserve } from "./ledger-state.ts";

/**
 * Which calls of this process may begin before their holds are written. An account's reserve covers them: every other writer,
 * in this process or another, leaves so much of the balance until the lease lapses. Reserves are granted and renewed by
 * commits that happen anyway.
 *
 * The proof: while the lease is in force, other writers leave at least the reserve. A hold of this process that is not early
 * leaves at least `amount`, or lowers it before the batch is sent: the balance in memory does not know of that batch yet, nor
 * of what others took. A call begins only within `amount` and within the balance as this process last wrote it. So the
 * balance always covers the calls that have begun, and their holds are never refused for money.
 */
export type Reserves = EarlyCalls & {
  /** Whether a call may begin now; then its amount counts until `end`. `spendable` is `null` where it is not known. */
  begin(accountId: AccountId, amount: bigint, spendable: bigint | null): boolean;
  /** The call's hold is written, refused or given up. */
  end(accountId: AccountId, amount: bigint): void;
  /** Grants, renews and lowers the reserves of the accounts that a batch changes. */
  decideReserves(draft: Draft): void;
  /** Told what was committed, and when its commit began. */
  keep(changes: Changes, begunMs: number): void;
  /** Gives up the reserves of accounts without calls, and lists them for those who write that. */
  takeIdle(): IdleReserve[];
};

/** Each grant has a name of its own, so that the end of one never ends the next. */
export type IdleReserve = { accountId: AccountId; owner: string };

type Standing = {
  /** What has begun and is not confirmed. */
  early: bigint;
  /** What the last call that asked may cost, and when it asked. */
  asked: bigint;
  askedMs: number;
  /** This process's reserve, by what name, and when the commit that wrote it last began. */
  amount: bigint;
  owner: string;
  renewedMs: number;
  /** The one that was given up last: a renewal of it that was on its way does not count. */
  endedOwner: string;
  /** Not before this is another one granted: another process waits for the money. */
  grantAfterMs: number;
  /** Another's reserve as it is remembered, and since when it is. */
  foreign: Reserve | null;
  foreignMs: number;
};

const renewAfterMs = 500;
/** A reserve that is older is granted as a new one: its lease could lapse while the renewal is on its way. */
const renewWithinMs = reserveLeaseMs / 3;
/**
 * A call begins only so soon after a renewal: the rest of the lease is for writing its hold, which is given up long before.
 * An account without calls for longer gives its reserve up.
 */
const idleMs = 3000;
const endedAtOnceMax = 100;
/** As long as others, who try ten times a second, need to take what was given up for them. */
const grantPauseMs = 1000;
/** An account whose last call is longer ago needs no reserve. */
const askedMsMax = 60_000;
/** A reserve is at most this part of the balance, so that it seldom stands in anyone's way. */
const share = 4n;
const callsMax = 256n;
const accountsMax = 10_000;

// The lease runs by the database's clock; only a clock that cannot be set measures it here.
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

  /** Whether another's reserve is in force. One that is remembered for longer than a lease was not renewed, if no write came since. */
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
    // Other processes have to know of it before a call counts on it.
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

  /** Another process waits for the money: only what has begun still needs it. */
  function yieldReserve(draft: Draft, accountId: AccountId, standing: Standing, reserve: Reserve): void {
    const amount = lower(standing, 0n);
    standing.grantAfterMs = readMs() + grantPauseMs;
    if (amount < reserve.amount) draft.changes.reserves.set(accountId, { ...reserve, amount, isRenewed: false });
  }

  /** From now on no call begins that counts on more; none that has begun loses its part. */
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
    keep({ reserves }, begunMs) {
      for (const [accountId, decided] of reserves) {
        const standing = standings.get(accountId);
        if (standing === undefined || !decided.isRenewed || decided.owner === standing.endedOwner) continue;
        standing.amount = decided.amount;
        standing.owner = decided.owner;
        standing.renewedMs = begunMs;
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
