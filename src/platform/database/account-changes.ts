import { sql } from "kysely";
import { createCoalescer } from "../../lib/coalescer.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { Database } from "./database.ts";

/** What of an account can change under the eyes of somebody who looks at it. */
export const changeKinds = ["balance", "tasks", "deliveries", "keys", "requests"] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** Tells those who watch an account, on any node, that something of it changed. Never what: they read it themselves. */
export type AccountChanges = {
  /** Something of this kind changed, and is committed. Costs one look into a map where nobody watches the account. */
  announce(accountId: AccountId, kind: ChangeKind): void;
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
  /** How often an account's changes are told by one process at the most; the first of them at once. */
  pauseMs: 1_000,
  /** How often a process says which accounts are watched there, and for how long others believe it. */
  renewEveryMs: 20_000,
  believedMs: 60_000,
};

/** On the channel of watches: whoever has watchers is to name them again. */
const whoWatches = "?";

type Watched = { untilMs: number; pending: Set<ChangeKind>; isPausing: boolean };
type Listener = (kinds: readonly ChangeKind[]) => void;
type Told = { accountId: AccountId; kinds: readonly ChangeKind[] };

/**
 * Every process knows which accounts are watched anywhere, for a while after it was told. Changes of others are not told
 * at all, so that they cost no statement: what most accounts do, nobody looks at.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one map of watched accounts; its functions share it.
export function createAccountChanges(dependencies: AccountChangesDependencies): AccountChanges {
  const { database, feed, onTrouble } = dependencies;
  const { pauseMs, renewEveryMs, believedMs } = { ...defaultTiming, ...dependencies.timing };
  const watched = new Map<AccountId, Watched>();
  const listeners = new Map<AccountId, Set<Listener>>();
  const pauses = new Set<NodeJS.Timeout>();
  const unlimited = { batchMax: Number.POSITIVE_INFINITY, waitingMax: Number.POSITIVE_INFINITY };
  const changeTeller = createCoalescer<Told, void>({
    ...{ ...unlimited, onTrouble },
    async run(batch) {
      await notifyChanges(database, batch);
      return [];
    },
  });
  const watchTeller = createCoalescer<string, void>({
    ...{ ...unlimited, onTrouble },
    async run(batch) {
      await notify(database, "account_watches", [...new Set(batch)]);
      return [];
    },
  });

  function believe(accountId: AccountId): void {
    const untilMs = performance.now() + believedMs;
    const known = watched.get(accountId);
    if (known !== undefined) known.untilMs = untilMs;
    else watched.set(accountId, { untilMs, pending: new Set(), isPausing: false });
  }

  function tell(accountId: AccountId, account: Watched): void {
    changeTeller.tell({ accountId, kinds: [...account.pending] });
    account.pending.clear();
    account.isPausing = true;
    const pause = setTimeout(() => {
      pauses.delete(pause);
      account.isPausing = false;
      if (account.pending.size > 0) tell(accountId, account);
    }, pauseMs);
    pause.unref();
    pauses.add(pause);
  }

  function hear(accountId: AccountId, kinds: readonly ChangeKind[]): void {
    for (const listener of listeners.get(accountId) ?? []) listener(kinds);
  }

  function hearAll(kinds: readonly ChangeKind[]): void {
    for (const accountId of listeners.keys()) hear(accountId, kinds);
  }

  function nameWatched(): void {
    for (const accountId of listeners.keys()) watchTeller.tell(accountId);
  }

  const renewal = setInterval(() => {
    const now = performance.now();
    for (const [accountId, { untilMs }] of watched) if (untilMs <= now) watched.delete(accountId);
    for (const accountId of listeners.keys()) believe(accountId);
    nameWatched();
  }, renewEveryMs);
  renewal.unref();

  feed.subscribe("account_changes", {
    onChange(payload) {
      const { accountId, kinds } = parseChange(payload);
      hear(accountId, kinds);
    },
    // What was told meanwhile is lost: whoever watches reads everything anew.
    onReset: () => hearAll(changeKinds),
  });
  feed.subscribe("account_watches", {
    onChange(payload) {
      if (payload === whoWatches) nameWatched();
      else believe(payload as AccountId);
    },
    onReset() {
      watchTeller.tell(whoWatches);
    },
  });
  // Whatever changes an account's keys is told already, to the caches of every node.
  feed.subscribe("callers", {
    onChange: (accountId) => (accountId === "" ? hearAll(["keys"]) : hear(accountId as AccountId, ["keys"])),
    onReset() {},
  });
  watchTeller.tell(whoWatches);

  return {
    announce(accountId, kind) {
      const account = watched.get(accountId);
      if (account === undefined) return;
      account.pending.add(kind);
      if (!account.isPausing) tell(accountId, account);
    },
    watch(accountId, onChange) {
      const ofAccount = listeners.get(accountId) ?? new Set();
      listeners.set(accountId, ofAccount.add(onChange));
      believe(accountId);
      watchTeller.tell(accountId);
      return () => {
        ofAccount.delete(onChange);
        if (ofAccount.size === 0 && listeners.get(accountId) === ofAccount) listeners.delete(accountId);
      };
    },
    async close() {
      clearInterval(renewal);
      for (const pause of pauses) clearTimeout(pause);
      await Promise.all([changeTeller.drain(), watchTeller.drain()]);
    },
  };
}

/**
 * For what seldom happens, and also where no gateway runs, as on the operator's command line: tells of a change when the
 * transaction commits, whether somebody watches or not.
 */
export async function notifyAccountChange(tx: Database, accountId: AccountId, kind: ChangeKind): Promise<void> {
  await notifyChanges(tx, [{ accountId, kinds: [kind] }]);
}

function notifyChanges(database: Database, changes: readonly Told[]): Promise<void> {
  const payloads = changes.map(({ accountId, kinds }) => `${accountId} ${kinds.join(" ")}`);
  return notify(database, "account_changes", payloads);
}

async function notify(database: Database, channel: string, payloads: readonly string[]): Promise<void> {
  await sql`select pg_notify(${channel}, payload) from unnest(${payloads}::text[]) as told (payload)`.execute(database);
}

/** Nodes of another version may tell of kinds that this one does not know. */
function parseChange(payload: string): Told {
  const [accountId = "", ...words] = payload.split(" ");
  return { accountId: accountId as AccountId, kinds: changeKinds.filter((kind) => words.includes(kind)) };
}
