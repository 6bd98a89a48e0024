import type { ChangeFeed } from "../platform/database/change-feed.ts";
import { type CopyState, copyStateChannel, readCopyState } from "../platform/database/copy-state.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Logger } from "../platform/observability/logger.ts";

/** Knows whether the database is a restored copy that nobody has confirmed, on which a gateway only answers reads. */
export type CopyWatch = {
  isLive(): boolean;
  /** Calls back at once, or when the copy is confirmed. */
  whenLive(work: () => void): void;
  /** Throws where a request would change something. */
  requireLive(request: { method: string; url: string }): void;
  /** Calls nobody back any more. */
  close(): void;
};

export const copyNotice = {
  message:
    "This is a restored copy: it answers reads only, and runs no tasks and sends no webhooks, until it is confirmed",
  remedy: "When the original is stopped for good: npm run -s sluice -- restore confirm",
};

const reads: readonly string[] = ["GET", "HEAD", "OPTIONS"];
/** Without these nobody could look at the console. They spend, send and delete nothing. */
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
    logger.info("the restored copy is confirmed: everything starts");
    const ready = waiting;
    waiting = [];
    for (const work of ready) work();
  }

  /** What is heard while it is read is newer. */
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
    onReset: () => void look().catch((error) => logger.warn({ error }, "the copy's state could not be read")),
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
