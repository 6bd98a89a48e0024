import type { AccountId } from "../../lib/ids.ts";
import type { AccountChange, ChangeKind } from "./account-change.ts";

/** The accounts that are watched on any node, and the pauses between their notifications. */
export type WatchedAccounts = {
  /** Expires after `watchedMs` unless it is repeated. */
  markWatched(accountId: AccountId): void;
  /** Publishes at once; during the pause after the same kind, once more when the pause ends. */
  announce(accountId: AccountId, kind: ChangeKind): void;
  removeExpired(): void;
  close(): void;
};

type Watched = { untilMs: number; pauses: Map<ChangeKind, Pause> };
type Pause = { timer: NodeJS.Timeout; hasMore: boolean };

type WatchedAccountsOptions = { tell(change: AccountChange): void; pauseMs: number; watchedMs: number };

export function createWatchedAccounts({ tell, pauseMs, watchedMs }: WatchedAccountsOptions): WatchedAccounts {
  const watched = new Map<AccountId, Watched>();

  /** Each kind has its own pause: a balance change must not delay the request log. */
  function publishAndPause(accountId: AccountId, pauses: Watched["pauses"], kind: ChangeKind): void {
    tell({ accountId, kinds: [kind] });
    const timer = setTimeout(() => {
      pauses.delete(kind);
      if (pause.hasMore) publishAndPause(accountId, pauses, kind);
    }, pauseMs).unref();
    const pause: Pause = { timer, hasMore: false };
    pauses.set(kind, pause);
  }

  function forget(accountId: AccountId, { pauses }: Watched): void {
    for (const { timer } of pauses.values()) clearTimeout(timer);
    watched.delete(accountId);
  }

  return {
    markWatched(accountId) {
      const untilMs = performance.now() + watchedMs;
      const known = watched.get(accountId);
      if (known === undefined) watched.set(accountId, { untilMs, pauses: new Map() });
      else known.untilMs = untilMs;
    },
    announce(accountId, kind) {
      const account = watched.get(accountId);
      if (account === undefined) return;
      const pause = account.pauses.get(kind);
      if (pause === undefined) publishAndPause(accountId, account.pauses, kind);
      else pause.hasMore = true;
    },
    removeExpired() {
      const now = performance.now();
      for (const [accountId, account] of watched) if (account.untilMs <= now) forget(accountId, account);
    },
    close() {
      for (const [accountId, account] of watched) forget(accountId, account);
    },
  };
}
