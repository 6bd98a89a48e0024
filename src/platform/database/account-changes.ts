import { sql } from "kysely";
import { createCoalescer } from "../../lib/coalescer.ts";
import type { AccountId } from "../../lib/ids.ts";
import { type AccountChange, type ChangeKind, changeKinds } from "./account-change.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { Database } from "./database.ts";

/** Notifies the watchers of an account on every node that something changed. They read the new state themselves. */
export type AccountChanges = {
  /** Call it after the commit. Costs one map lookup for accounts without watchers. */
  announce(accountId: AccountId, kind: ChangeKind): void;
  /** Notifies all watchers in this process. */
  announceHere(kind: ChangeKind): void;
  /** Reports all kinds when notifications may have been lost. Returns a function that stops watching. */
  watch(accountId: AccountId, onChange: (kinds: readonly ChangeKind[]) => void): () => void;
  close(): Promise<void>;
};

export const accountChangeChannels = ["account_changes", "account_watches"] as const;

type AccountChangesDependencies = {
  database: Database;
  feed: ChangeFeed;
  onTrouble(error: unknown): void;
  /** For tests. */
  timing?: Partial<typeof defaultTiming>;
};

const defaultTiming = {
  /** A process sends the first change of a kind at once, and further ones of the same account at most this often. */
  pauseMs: 1_000,
  /** How often a process announces its watched accounts, and how long other processes rely on it. */
  renewEveryMs: 20_000,
  watchedMs: 60_000,
};

/** Asks every process to announce its watched accounts. */
const nameRequest = "?";

/**
 * Every process knows which accounts are watched on any node. It sends nothing for other accounts, so that most calls cost no
 * statement.
 */
export function createAccountChanges(dependencies: AccountChangesDependencies): AccountChanges {
  const { database, feed, onTrouble } = dependencies;
  const timing = { ...defaultTiming, ...dependencies.timing };
  const changePublisher = createPublisher<AccountChange>(onTrouble, (batch) => notifyChanges(database, batch));
  const watchPublisher = createPublisher<string>(onTrouble, (batch) => notify(database, "account_watches", batch));
  const watched = createWatchedAccounts(changePublisher.tell, timing);
  const listeners = createListeners();
  const nameWatched = (): void => {
    for (const accountId of listeners.listAccounts()) watchPublisher.tell(accountId);
  };
  const renewal = setInterval(() => {
    watched.removeExpired();
    for (const accountId of listeners.listAccounts()) watched.markWatched(accountId);
    nameWatched();
  }, timing.renewEveryMs).unref();

  subscribeToChanges(feed, listeners);
  feed.subscribe("account_watches", {
    onChange(payload) {
      if (payload === nameRequest) nameWatched();
      else watched.markWatched(payload as AccountId);
    },
    onReset: () => watchPublisher.tell(nameRequest),
  });
  watchPublisher.tell(nameRequest);

  return {
    announce: watched.announce,
    announceHere: (kind) => listeners.publishAll([kind]),
    watch(accountId, onChange) {
      const leave = listeners.add(accountId, onChange);
      watched.markWatched(accountId);
      watchPublisher.tell(accountId);
      return leave;
    },
    async close() {
      clearInterval(renewal);
      watched.close();
      await Promise.all([changePublisher.drain(), watchPublisher.drain()]);
    },
  };
}

type Watched = { untilMs: number; pauses: Map<ChangeKind, Pause> };
type Pause = { timer: NodeJS.Timeout; hasMore: boolean };

/** The accounts that are watched on any node, and the pauses between their notifications. */
function createWatchedAccounts(
  tell: (change: AccountChange) => void,
  { pauseMs, watchedMs }: { pauseMs: number; watchedMs: number },
) {
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
    /** Expires after `watchedMs` unless it is repeated. */
    markWatched(accountId: AccountId): void {
      const untilMs = performance.now() + watchedMs;
      const known = watched.get(accountId);
      if (known === undefined) watched.set(accountId, { untilMs, pauses: new Map() });
      else known.untilMs = untilMs;
    },
    /** Publishes at once; during the pause after the same kind, once more when the pause ends. */
    announce(accountId: AccountId, kind: ChangeKind): void {
      const account = watched.get(accountId);
      if (account === undefined) return;
      const pause = account.pauses.get(kind);
      if (pause === undefined) publishAndPause(accountId, account.pauses, kind);
      else pause.hasMore = true;
    },
    removeExpired(): void {
      const now = performance.now();
      for (const [accountId, account] of watched) if (account.untilMs <= now) forget(accountId, account);
    },
    close(): void {
      for (const [accountId, account] of watched) forget(accountId, account);
    },
  };
}

function createPublisher<Told>(onTrouble: (error: unknown) => void, send: (batch: readonly Told[]) => Promise<void>) {
  return createCoalescer<Told, void>({
    ...{ batchMax: Number.POSITIVE_INFINITY, waitingMax: Number.POSITIVE_INFINITY, onTrouble },
    async run(batch) {
      await send(batch);
      return [];
    },
  });
}

type Listener = (kinds: readonly ChangeKind[]) => void;
type Listeners = ReturnType<typeof createListeners>;

function createListeners() {
  const listeners = new Map<AccountId, Set<Listener>>();
  const tell = (accountId: AccountId, kinds: readonly ChangeKind[]): void => {
    for (const listener of listeners.get(accountId) ?? []) listener(kinds);
  };
  return {
    tell,
    publishAll(kinds: readonly ChangeKind[]): void {
      for (const accountId of listeners.keys()) tell(accountId, kinds);
    },
    listAccounts: () => listeners.keys(),
    add(accountId: AccountId, listener: Listener): () => void {
      const ofAccount = listeners.get(accountId) ?? new Set();
      listeners.set(accountId, ofAccount.add(listener));
      return () => {
        ofAccount.delete(listener);
        if (ofAccount.size === 0 && listeners.get(accountId) === ofAccount) listeners.delete(accountId);
      };
    },
  };
}

function subscribeToChanges(feed: ChangeFeed, listeners: Listeners): void {
  feed.subscribe("account_changes", {
    onChange(payload) {
      const { accountId, kinds } = parseChange(payload);
      listeners.tell(accountId, kinds);
    },
    // Notifications were lost: watchers must read everything again.
    onReset: () => listeners.publishAll(changeKinds),
  });
  // Changes of keys are already sent to the caches of every node.
  feed.subscribe("callers", {
    onChange: (accountId) =>
      accountId === "" ? listeners.publishAll(["keys"]) : listeners.tell(accountId as AccountId, ["keys"]),
    onReset() {},
  });
}

/**
 * Notifies when the transaction commits, whether the account is watched or not. For rare changes, and for the operator's
 * command line, which does not know the watchers.
 */
export async function notifyAccountChange(tx: Database, accountId: AccountId, kind: ChangeKind): Promise<void> {
  await notifyChanges(tx, [{ accountId, kinds: [kind] }]);
}

/** Merges the changes of an account into one notification. */
function notifyChanges(database: Database, changes: readonly AccountChange[]): Promise<void> {
  const kindsOf = new Map<AccountId, Set<ChangeKind>>();
  for (const { accountId, kinds } of changes) {
    kindsOf.set(accountId, new Set([...(kindsOf.get(accountId) ?? []), ...kinds]));
  }
  const payloads = [...kindsOf].map(([accountId, kinds]) => `${accountId} ${[...kinds].join(" ")}`);
  return notify(database, "account_changes", payloads);
}

async function notify(database: Database, channel: string, payloads: readonly string[]): Promise<void> {
  const distinct = [...new Set(payloads)];
  await sql`select pg_notify(${channel}, payload) from unnest(${distinct}::text[]) as payloads (payload)`.execute(
    database,
  );
}

/** Ignores kinds that only nodes of another version know. */
function parseChange(payload: string): AccountChange {
  const [accountId = "", ...words] = payload.split(" ");
  return { accountId: accountId as AccountId, kinds: changeKinds.filter((kind) => words.includes(kind)) };
}
