import type { ChangeFeed } from "../platform/database/change-feed.ts";
import { type CopyState, copyStateChannel, readCopyState } from "../platform/database/copy-state.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Logger } from "../platform/observability/logger.ts";

/** Watches whether the database is an unconfirmed restored copy, on which a gateway serves only reads. */
export type CopyWatch = {
  isLive(): boolean;
  /** Calls back when the copy is confirmed, or at once. */
  whenLive(work: () => void): void;
  /** Throws for requests that change data. */
  requireLive(request: { method: string; url: string }): void;
  close(): void;
};

export const copyNotice = {
  message: "This is an unconfirmed restored copy: it serves only reads, runs no tasks and sends no webhooks",
  remedy: "After you have stopped the original for good: npm run -s sluice -- restore confirm",
};

const reads: readonly string[] = ["GET", "HEAD", "OPTIONS"];
/** Needed to use the console; they neither spend, send nor delete. */
const signInPattern = /^\/console\/api\/(?:sign-in|sign-out|reauthenticate|outbox\/open)(?:[/?]|$)/;

export async function watchCopy({
  database,
  feed,
  logger,
}: {
  database: Database;
  feed: ChangeFeed;
  logger: Logger;
}): Promise<CopyWatch> {
  let waiting: (() => void)[] = [];
  let state: CopyState = "live";
  let newsCount = 0;

  function hear(next: CopyState): void {
    if (next === state) return;
    state = next;
    if (state !== "live") return;
    logger.info("restored copy confirmed");
    const ready = waiting;
    waiting = [];
    for (const work of ready) work();
  }

  /** Notifications during the read are newer than its result. */
  async function look(): Promise<void> {
    newsCount += 1;
    const count = newsCount;
    const found = await readCopyState(database);
    if (count === newsCount) hear(found);
  }

  feed.subscribe(copyStateChannel, {
    onChange(told) {
      newsCount += 1;
      hear(told as CopyState);
    },
    onReset: () => void look().catch((error) => logger.warn({ error }, "copy state read failed")),
  });
  await look();
  if (state !== "live") logger.warn({ remedy: copyNotice.remedy }, copyNotice.message);
  return {
    isLive: () => state === "live",
    whenLive(work) {
      if (state === "live") work();
      else waiting.push(work);
    },
    requireLive({ method, url }) {
      if (state === "live" || reads.includes(method) || signInPattern.test(url)) return;
      throw new AppError("overloaded", `${copyNotice.message}.`, { headers: { "retry-after": "60" } });
    },
    close() {
      waiting = [];
    },
  };
}
