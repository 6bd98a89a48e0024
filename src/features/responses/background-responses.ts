import { setTimeout as wait } from "node:timers/promises";
import type { AccountId } from "../../lib/ids.ts";
import { presentMoney } from "../../lib/money.ts";
import { databaseLimits } from "../../platform/database/database-limits.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { presentError } from "../../platform/http/error-response.ts";
import { closeFacts } from "../../platform/http/request-context.ts";
import { type CallEnd, noteFacts, noteRouting } from "../calls/index.ts";
import type { ChatKinds } from "../chat/index.ts";
import { type Claim, keepAnswer, lockClaim, withdrawClaims } from "../idempotency/index.ts";
import { type BackgroundOrder, type Running, startRun, writeWork } from "./background-run.ts";
import { findLastNumber, skipEvents } from "./event-log.ts";
import type { FinishedResponse } from "./present-response.ts";
import { recoverResponse } from "./recover-response.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import {
  deleteResponse,
  endResponse,
  findEvents,
  insertResponse,
  type ResponseLease,
  renewLease,
  type StoredResponse,
  saveWork,
  takeOverAbandoned,
} from "./response-store.ts";
import { addToConversation, describeRow } from "./save-response.ts";

/** Responses that run in the background, without a waiting caller. */
export type BackgroundResponses = {
  /**
   * Starts a response and returns its initial state. Ends the claim of the caller's `Idempotency-Key` with it. Throws if a
   * limit or the balance does not allow it.
   */
  begin(order: BackgroundOrder, request: { bodyBytes: number; claim: Claim | null }): Promise<BegunResponse>;
  /**
   * Cancels a running response. Stops its upstream immediately if it runs in this process, else at its next lease
   * renewal.
   */
  cancel(response: StoredResponse): Promise<void>;
  /** Writes the events after `startingAfter`, past and future, until there are no more. */
  follow(response: StoredResponse, startingAfter: number, stream: EventReader): Promise<void>;
  /** Runs responses whose process died again: all, or one. */
  recover(key: Key | null): Promise<void>;
  /** Hands running responses over to other processes. */
  close(): Promise<void>;
};

type BegunResponse = { id: string; body: string };
type EventReader = { write(events: string): void; isGone(): boolean };
type Key = { accountId: AccountId; id: string };

/** As long as the lease of a run's claim. */
const leaseMs = 60_000;
const renewMs = 5_000;
/** How often to poll the events of a response that runs in another process. */
const pollMs = 500;
const takenOverAtOnceMax = 100;
const eventBytesMax = 8 * 1024 * 1024;
const endTriesMax = 5;
const endRetryMs = 1000;
const jsonType = "application/json";

export function createBackgroundResponses(dependencies: ResponseDependencies): BackgroundResponses {
  const { database, clock, logger, retentionMs, claims } = dependencies;
  const running = new Map<string, Running & { over: Promise<void> }>();
  const readLease = (): Date => new Date(clock.now().getTime() + leaseMs);
  const timer = setInterval(() => void renewAll(), renewMs);
  timer.unref();

  async function renewAll(): Promise<void> {
    for (const one of running.values()) await renewOne(dependencies, one, readLease());
  }

  function watch(order: BackgroundOrder, one: Running): void {
    const over = one.call.ended
      .then((end) => finish(dependencies, order, { one, end }))
      .catch((error: unknown) => fail(dependencies, order, { one, error }))
      .catch((error: unknown) => logger.error({ response_id: one.id, error }, "response result not stored"))
      .finally(() => running.delete(one.id));
    running.set(one.id, { ...one, over });
  }

  return {
    async begin(order, { bodyBytes, claim }) {
      const { saved, presenter } = order;
      const row = describeRow(saved, { now: clock.now(), retentionMs });
      const body = presenter.describeBegun();
      const events = presenter.form === "events" ? "" : null;
      const begun = { state: "in_progress", body, itemIds: [], events } as const;
      await insertResponse(database, { ...row, ...begun, leaseUntil: readLease() });
      const { accountId, id } = row;
      const one = await startFirst(dependencies, order, { accountId, id, run: 0 });
      try {
        await acknowledge(database, one, { work: writeWork(order, bodyBytes), claim });
      } catch (error) {
        one.call.stop(toFailure(error));
        await deleteResponse(database, row);
        throw error;
      }
      watch(order, one);
      return { id, body };
    },

    async cancel({ accountId, id, body }) {
      const one = running.get(id);
      const known = one?.log?.text() ?? (await findEvents(database, { accountId, id }))?.events ?? null;
      const events = boundEvents(known);
      const cancelled = JSON.stringify({ ...JSON.parse(body), status: "cancelled" });
      await endResponse(database, { accountId, id }, { state: "cancelled", body: cancelled, itemIds: [], events });
      one?.call.hangUp();
    },

    async follow({ accountId, id }, startingAfter, reader) {
      const one = running.get(id);
      if (one?.log) return await one.log.follow(startingAfter, (events) => reader.write(events));
      await pollEvents(database, { accountId, id }, startingAfter, reader);
    },

    async recover(key) {
      // After an outage, live processes need time to renew their leases.
      if (claims.liveForMs() < databaseLimits.leaseGraceMs) return;
      const times = { now: clock.now(), leaseUntil: readLease(), countMax: takenOverAtOnceMax };
      for (const abandoned of await takeOverAbandoned(database, key, times)) {
        await recoverResponse(dependencies, abandoned, watch).catch((error: unknown) =>
          logger.warn({ response_id: abandoned.id, error }, "background response not recovered"),
        );
      }
    },

    async close() {
      clearInterval(timer);
      const stopped = new AppError("shutting_down", "The gateway stopped before the response was complete.");
      const open = [...running.values()];
      for (const { call } of open) call.stop(stopped);
      await Promise.all(open.map(({ over }) => over));
    },
  };
}

/** The first run. Without it there is no response. */
async function startFirst(
  dependencies: ResponseDependencies,
  order: BackgroundOrder,
  lease: ResponseLease,
): Promise<Running> {
  try {
    const started = await startRun(dependencies, order, lease);
    if (started.kind === "running") return started.one;
    throw new Error(`the response ${lease.id} has ended before it began`);
  } catch (error) {
    await deleteResponse(dependencies.database, lease);
    throw error;
  }
}

/** From here on the caller knows the response, so it must outlive this process. */
async function acknowledge(
  database: ResponseDependencies["database"],
  one: Running,
  { work, claim }: { work: string; claim: Claim | null },
): Promise<void> {
  const { id } = one;
  await database.transaction().execute(async (tx) => {
    if (claim !== null) {
      await lockClaim(tx, claim);
      await keepAnswer(tx, claim, { status: 200, contentType: jsonType, body: Buffer.from(id), summary: id });
    }
    await saveWork(tx, one, work);
  });
}

async function finish(
  dependencies: ResponseDependencies,
  order: BackgroundOrder,
  { one, end }: { one: Running; end: CallEnd<ChatKinds> },
): Promise<void> {
  dependencies.logger.info(describeEnd(order, end), "background response finished");
  noteFacts(order.facts, one.call, end);
  if (!end.hasHungUp) {
    await saveEnd(dependencies, one, order.presenter.describeEnd(end), presentTail(order, end));
    return;
  }
  // The cancel has already stored the final state.
  one.log?.end("");
  await withdrawClaims(dependencies.database, [one.claim]);
}

async function fail(
  dependencies: ResponseDependencies,
  { presenter, saved, facts }: BackgroundOrder,
  { one, error }: { one: Running; error: unknown },
): Promise<void> {
  noteRouting(facts, one.call);
  closeFacts(facts);
  const failure = toFailure(error);
  if (failure.code === "shutting_down") {
    // Ends the lease, so that another process takes over.
    await renewOne(dependencies, one, dependencies.clock.now());
    one.log?.end("");
    return;
  }
  const tail = presenter.presentFailure(presentError(failure, saved.requestId).body);
  await saveEnd(dependencies, one, presenter.describeFailure(failure), tail);
}

async function renewOne({ database, logger }: ResponseDependencies, one: Running, leaseUntil: Date): Promise<void> {
  try {
    const events = boundEvents(one.log?.text() ?? null);
    // Cancelled, deleted or taken over through another process.
    if (!(await renewLease(database, one, { leaseUntil, events }))) one.call.hangUp();
  } catch (error) {
    logger.warn({ response_id: one.id, error }, "response lease not renewed");
  }
}

/** Stores the final state, unless the response was cancelled, deleted or taken over in the meantime. */
async function saveEnd(
  { database, clock, logger, retentionMs }: ResponseDependencies,
  one: Running,
  finished: FinishedResponse,
  tail: string,
): Promise<void> {
  const { log, id, saved, claim } = one;
  const { status: state, body, itemIds } = finished;
  const events = log === null ? null : boundEvents(log.text(tail));
  let isWanted = false;
  for (let tries = 1; tries <= endTriesMax; tries += 1) {
    try {
      isWanted = await database.transaction().execute(async (tx) => {
        const isOpen = await endResponse(tx, one, { state, body, itemIds, events });
        if (isOpen) await addToConversation(tx, saved, finished, { now: clock.now(), retentionMs });
        await withdrawClaims(tx, [claim]);
        return isOpen;
      });
      break;
    } catch (error) {
      logger.warn({ response_id: id, error }, "response result not stored");
      await wait(endRetryMs * tries);
    }
  }
  log?.end(isWanted ? tail : "");
}

/** Polls the database for the events of a response that runs in another process. */
async function pollEvents(
  database: ResponseDependencies["database"],
  key: Key,
  startingAfter: number,
  reader: EventReader,
): Promise<void> {
  for (let last = startingAfter; !reader.isGone(); await wait(pollMs)) {
    const found = await findEvents(database, key);
    const events = skipEvents(found?.events ?? "", last);
    reader.write(events);
    last = Math.max(last, findLastNumber(events));
    if (found?.state !== "in_progress") return;
  }
}

function presentTail({ presenter, saved }: BackgroundOrder, end: CallEnd<ChatKinds>): string {
  return end.failure === null
    ? presenter.presentTail(end)
    : presenter.presentFailure(presentError(end.failure, saved.requestId).body);
}

/** Events above the limit are not stored, so they cannot be streamed again. */
function boundEvents(events: string | null): string | null {
  return events !== null && events.length > eventBytesMax ? null : events;
}

function toFailure(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const message = "The gateway failed unexpectedly. Retry, and report the request_id if it persists.";
  return new AppError("internal_error", message, { cause: error });
}

function describeEnd({ plan, saved }: BackgroundOrder, { usage, settlement, hasHungUp }: CallEnd<ChatKinds>) {
  const { caller, requestId } = saved;
  return {
    ...{ request_id: requestId, account_id: caller.accountId, key_id: caller.keyId, model: plan.modelId },
    ...plan.describeUsage(usage),
    charge: presentMoney(settlement.charge),
    ...(hasHungUp ? { hung_up: true } : {}),
  };
}
