import type { Clock } from "../../lib/clock.ts";
import { createNetworkMatcher } from "../../lib/network.ts";
import type { ChangeFeed } from "../../platform/database/change-feed.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { listBlocks } from "./block-store.ts";

/** The blocked networks, in memory. */
export type BlockList = {
  /** Throws if the address is in a blocked network. */
  requireUnblocked(address: string): void;
  close(): void;
};

const networksMax = 10_000;
/** Ended blocks stop within this time. */
const reloadMs = 60_000;
const retryMs = 500;

type BlockListOptions = {
  database: Database;
  clock: Clock;
  feed: Pick<ChangeFeed, "subscribe">;
  supportContact: string | null;
  onTrouble(error: unknown): void;
};

/** Loads the networks, and reloads them on each change. While the database is away, the last ones are in force. */
export async function openBlockList(options: BlockListOptions): Promise<BlockList> {
  const { database, clock, feed, supportContact, onTrouble } = options;
  let isBlocked: ((address: string) => boolean) | null = null;
  let wanted = 0;
  let isLoading = false;
  let isClosed = false;
  let retry: NodeJS.Timeout | null = null;

  async function read(): Promise<void> {
    const blocks = await listBlocks(database, { kind: "network", now: clock.now(), limit: networksMax });
    isBlocked = blocks.length === 0 ? null : createNetworkMatcher(blocks.map(({ subject }) => subject));
  }

  async function load(): Promise<void> {
    wanted += 1;
    if (isLoading) return;
    isLoading = true;
    try {
      for (let done = -1; done !== wanted && !isClosed; ) {
        const before = wanted;
        await read();
        done = before;
      }
    } catch (error) {
      onTrouble(error);
      if (!isClosed) retry = setTimeout(() => void load(), retryMs).unref();
    } finally {
      isLoading = false;
    }
  }

  feed.subscribe("blocks", { onChange: () => void load(), onReset: () => void load() });
  await read();
  const timer = setInterval(() => {
    // Without blocks none can end.
    if (isBlocked !== null) void load();
  }, reloadMs).unref();
  return {
    requireUnblocked(address) {
      if (isBlocked?.(address)) throw createBlocked("network", supportContact);
    },
    close() {
      isClosed = true;
      clearInterval(timer);
      if (retry !== null) clearTimeout(retry);
    },
  };
}

export function createBlocked(what: string, supportContact: string | null): AppError {
  const whom = supportContact ?? "the operator of this service";
  return new AppError("access_blocked", `Your ${what} is blocked. If this is a mistake, contact ${whom}.`, {
    ...(what === "network" ? {} : { param: "email" }),
  });
}
