import type { AccountId } from "../../lib/ids.ts";
import type { AccountChange, ChangeKind } from "./account-change.ts";

/** The accounts that somebody watches on any node, as far as this one was told, and which of their changes wait. */
export type WatchedAccounts = {
  /** Somebody watches the account: that is believed for a while. */
  believe(accountId: AccountId): void;
  /** Tells at once; where the same was told a moment ago, once more when the moment is over. */
  announce(accountId: AccountId, kind: ChangeKind): void;
  forgetOld(): void;
  close(): void;
};

type Watched = { untilMs: number; pauses: Map<ChangeKind, Pause> };
/** After each kind that was told: whether it is to be told again at the end. */
type Pause = { timer: NodeJS.Timeout; hasMore: boolean };

type WatchedAccountsOptions = { tell(change: AccountChange): void; pauseMs: number; believedMs: number };

export function createWatchedAccounts({ tell, pauseMs, believedMs }: WatchedAccountsOptions): WatchedAccounts {
  const watched = new Map<AccountId, Watched>();

  /** Each kind has its own pause: that a call is paid must not put off that it is in the log. */
  function tellAndPause(accountId: AccountId, pauses: Watched["pauses"], kind: ChangeKind): void {
    tell({ accountId, kinds: [kind] });
    const timer = setTimeout(() => {
      pauses.delete(kind);
      if (pause.hasMore) tellAndPause(accountId, pauses, kind);
    }, pauseMs).unref();
    const pause: Pause = { timer, hasMore: false };
    pauses.set(kind, pause);
  }

  function forget(accountId: AccountId, { pauses }: Watched): void {
    for (const { timer } of pauses.values()) clearTimeout(timer);
    watched.delete(accountId);
  }

  return {
    believe(accountId) {
      const untilMs = performance.now() + believedMs;
      const known = watched.get(accountId);
      if (known === undefined) watched.set(accountId, { untilMs, pauses: new Map() });
      else known.untilMs = untilMs;
    },
    announce(accountId, kind) {
      const account = watched.get(accountId);
      if (account === undefined) return;
      const pause = account.pauses.get(kind);
      if (pause === undefined) tellAndPause(accountId, account.pauses, kind);
      else pause.hasMore = true;
    },
    forgetOld() {
      const now = performance.now();
      for (const [accountId, account] of watched) if (account.untilMs <= now) forget(accountId, account);
    },
    close() {
      for (const [accountId, account] of watched) forget(accountId, account);
    },
  };
}
