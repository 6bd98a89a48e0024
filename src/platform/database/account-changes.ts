import { sql } from "kysely";
import { createCoalescer } from "../../lib/coalescer.ts";
import type { AccountId } from "../../lib/ids.ts";
import { type AccountChange, type ChangeKind, changeKinds } from "./account-change.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { Database } from "./database.ts";
import { createWatchedAccounts } from "./watched-accounts.ts";

/** Tells those who watch an account, on any node, that something of it changed. Never what: they read it themselves. */
export type AccountChanges = {
  /** Something of this kind changed, and is committed. Costs one look into a map where nobody watches the account. */
  announce(accountId: AccountId, kind: ChangeKind): void;
  /** Something changed for everybody whom this process serves. */
  announceHere(kind: ChangeKind): void;
  /** Tells of changes from now on; of all kinds where some may have been missed. Answers how to stop. */
  watch(accountId: AccountId, onChange: (kinds: readonly ChangeKind[]) => void): () => void;
  close(): Promise<void>;
};

export const accountChangeChannels = ["account_changes", "account_watches"] as const;

type AccountChangesDependencies = {
  database: Database;
  feed: ChangeFeed;
  onTrouble(error: unknown): void;
  /** Tests wait for less. */
  timing?: Partial<typeof defaultTiming>;
};

const defaultTiming = {
  /** How often a process tells of changes of one kind of an account at the most; of the first of them at once. */
  pauseMs: 1_000,
  /** How often a process says which accounts are watched there, and for how long others believe it. */
  renewEveryMs: 20_000,
  believedMs: 60_000,
};

/** On the channel of watches: whoever has watchers is to name them again. */
const whoWatches = "?";

/**
 * Every process knows which accounts are watched anywhere, for a while after it was told. Changes of others are not told
 * at all, so that they cost no statement: what most accounts do, nobody looks at.
 */
export function createAccountChanges(dependencies: AccountChangesDependencies): AccountChanges {
  const { database, feed, onTrouble } = dependencies;
  const timing = { ...defaultTiming, ...dependencies.timing };
  const changeTeller = createTeller<AccountChange>(onTrouble, (batch) => notifyChanges(database, batch));
  const watchTeller = createTeller<string>(onTrouble, (batch) => notify(database, "account_watches", batch));
  const watched = createWatchedAccounts({ ...timing, tell: changeTeller.tell });
  const listeners = createListeners();
  const nameWatched = (): void => {
    for (const accountId of listeners.listAccounts()) watchTeller.tell(accountId);
  };
  const renewal = setInterval(() => {
    watched.forgetOld();
    for (const accountId of listeners.listAccounts()) watched.believe(accountId);
    nameWatched();
  }, timing.renewEveryMs).unref();

  hearChanges(feed, listeners);
  feed.subscribe("account_watches", {
    onChange(payload) {
      if (payload === whoWatches) nameWatched();
      else watched.believe(payload as AccountId);
    },
    onReset: () => watchTeller.tell(whoWatches),
  });
  watchTeller.tell(whoWatches);

  return {
    announce: watched.announce,
    announceHere: (kind) => listeners.tellAll([kind]),
    watch(accountId, onChange) {
      const leave = listeners.add(accountId, onChange);
      watched.believe(accountId);
      watchTeller.tell(accountId);
      return leave;
    },
    async close() {
      clearInterval(renewal);
      watched.close();
      await Promise.all([changeTeller.drain(), watchTeller.drain()]);
    },
  };
}

function createTeller<Told>(onTrouble: (error: unknown) => void, send: (batch: readonly Told[]) => Promise<void>) {
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

/** Those who watch in this process. */
function createListeners() {
  const listeners = new Map<AccountId, Set<Listener>>();
  const tell = (accountId: AccountId, kinds: readonly ChangeKind[]): void => {
    for (const listener of listeners.get(accountId) ?? []) listener(kinds);
  };
  return {
    tell,
    tellAll(kinds: readonly ChangeKind[]): void {
      for (const accountId of listeners.keys()) tell(accountId, kinds);
    },
    listAccounts: () => listeners.keys(),
    /** Answers how to leave. */
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

function hearChanges(feed: ChangeFeed, listeners: Listeners): void {
  feed.subscribe("account_changes", {
    onChange(payload) {
      const { accountId, kinds } = parseChange(payload);
      listeners.tell(accountId, kinds);
    },
    // What was told meanwhile is lost: whoever watches reads everything anew.
    onReset: () => listeners.tellAll(changeKinds),
  });
  // Whatever changes an account's keys is told already, to the caches of every node.
  feed.subscribe("callers", {
    onChange: (accountId) =>
      accountId === "" ? listeners.tellAll(["keys"]) : listeners.tell(accountId as AccountId, ["keys"]),
    onReset() {},
  });
}

/**
 * For what seldom happens, and also where no gateway runs, as on the operator's command line: tells of a change when the
 * transaction commits, whether somebody watches or not.
 */
export async function notifyAccountChange(tx: Database, accountId: AccountId, kind: ChangeKind): Promise<void> {
  await notifyChanges(tx, [{ accountId, kinds: [kind] }]);
}

/** What changed of an account at one moment is told in one word. */
function notifyChanges(database: Database, changes: readonly AccountChange[]): Promise<void> {
  const kindsOf = new Map<AccountId, Set<ChangeKind>>();
  for (const { accountId, kinds } of changes) {
    kindsOf.set(accountId, new Set([...(kindsOf.get(accountId) ?? []), ...kinds]));
  }
  const payloads = [...kindsOf].map(([accountId, kinds]) => `${accountId} ${[...kinds].join(" ")}`);
  return notify(database, "account_changes", payloads);
}

async function notify(database: Database, channel: string, payloads: readonly string[]): Promise<void> {
  const told = [...new Set(payloads)];
  await sql`select pg_notify(${channel}, payload) from unnest(${told}::text[]) as told (payload)`.execute(database);
}

/** Nodes of another version may tell of kinds that this one does not know. */
function parseChange(payload: string): AccountChange {
  const [accountId = "", ...words] = payload.split(" ");
  return { accountId: accountId as AccountId, kinds: changeKinds.filter((kind) => words.includes(kind)) };
}
