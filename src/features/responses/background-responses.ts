import { setTimeout as wait } from "node:timers/promises";
import type { AccountId } from "../../lib/ids.ts";
import { presentMoney } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { presentError } from "../../platform/http/error-response.ts";
import { type CallFacts, closeFacts, type SeenLimits } from "../../platform/http/request-context.ts";
import type { Span } from "../../platform/tracing/span.ts";
import { type BegunCall, type CallEnd, noteFacts, noteRouting } from "../calls/index.ts";
import type { ChatKinds } from "../chat/index.ts";
import { createEventLog, type EventLog, findLastNumber, skipEvents } from "./event-log.ts";
import type { PreparedResponse } from "./prepare-response.ts";
import type { FinishedResponse } from "./present-response.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import { writeEvent } from "./response-output.ts";
import {
  type AbandonedResponse,
  deleteResponse,
  endResponse,
  findAbandoned,
  findEvents,
  insertResponse,
  renewLease,
  type StoredResponse,
} from "./response-store.ts";
import { addToConversation, describeRow, type SavedRequest } from "./save-response.ts";

type BackgroundOrder = PreparedResponse & {
  saved: SavedRequest;
  limits: SeenLimits | null;
  span: Span | null;
  /** Filled in when the response ends. */
  facts: CallFacts;
};

/** Responses that run in the background, without a waiting caller. */
export type BackgroundResponses = {
  /** Starts a response and returns its initial state. Throws if a limit or the balance does not allow it. */
  begin(order: BackgroundOrder): Promise<{ id: string; body: string }>;
  /**
   * Cancels a running response. Stops its upstream immediately if it runs in this process, else at its next lease
   * renewal.
   */
  cancel(response: StoredResponse): Promise<void>;
  /** Writes the events after `startingAfter`, past and future, until there are no more. */
  follow(response: StoredResponse, startingAfter: number, stream: EventReader): Promise<void>;
  /** Marks responses whose process died as failed. Their holds expire. */
  endAbandoned(): Promise<void>;
  close(): void;
};

type EventReader = { write(events: string): void; isGone(): boolean };
type Key = { accountId: AccountId; id: string };
type Running = Key & { saved: SavedRequest; call: BegunCall<ChatKinds>; log: EventLog | null };

const leaseMs = 30_000;
const renewMs = 5_000;
/** How often to poll the events of a response that runs in another process. */
const pollMs = 500;
const abandonedAtOnceMax = 100;
const eventBytesMax = 8 * 1024 * 1024;
const endTriesMax = 5;
const endRetryMs = 1000;

export function createBackgroundResponses(dependencies: ResponseDependencies): BackgroundResponses {
  const { database, clock, logger, retentionMs, calls } = dependencies;
  const running = new Map<string, Running>();
  const readLease = (): Date => new Date(clock.now().getTime() + leaseMs);
  const timer = setInterval(() => void renewAll(), renewMs);
  timer.unref();

  async function renewAll(): Promise<void> {
    for (const one of running.values()) await renewOne(dependencies, one, readLease());
  }

  async function finish(order: BackgroundOrder, one: Running, end: CallEnd<ChatKinds>): Promise<void> {
    logger.info(describeEnd(order, end), "background response finished");
    noteFacts(order.facts, one.call, end);
    // The cancel has already stored the final state.
    if (end.hasHungUp) one.log?.end("");
    else await saveEnd(dependencies, one, order.presenter.describeEnd(end), presentTail(order, end));
  }

  async function fail({ presenter, saved, facts }: BackgroundOrder, one: Running, error: unknown): Promise<void> {
    noteRouting(facts, one.call);
    closeFacts(facts);
    const failure = toFailure(error);
    const tail = presenter.presentFailure(presentError(failure, saved.requestId).body);
    await saveEnd(dependencies, one, presenter.describeFailure(failure), tail);
  }

  function watch(order: BackgroundOrder, one: Running): void {
    running.set(one.id, one);
    one.call.ended
      .then((end) => finish(order, one, end))
      .catch((error: unknown) => fail(order, one, error))
      .catch((error: unknown) => logger.error({ response_id: one.id, error }, "response result not stored"))
      .finally(() => running.delete(one.id));
  }

  return {
    async begin(order) {
      const { saved, presenter, plan } = order;
      const row = describeRow(saved, { now: clock.now(), retentionMs });
      const body = presenter.describeBegun();
      const log = presenter.form === "events" ? createEventLog() : null;
      const begun = { state: "in_progress", body, itemIds: [], events: log?.text() ?? null } as const;
      await insertResponse(database, { ...row, ...begun, leaseUntil: readLease() });
      const { accountId, id } = row;
      try {
        const listener = log && createListener(presenter, log);
        const call = await calls.begin(plan, { listener, limits: order.limits, span: order.span });
        watch(order, { accountId, id, saved, call, log });
      } catch (error) {
        await deleteResponse(database, row);
        throw error;
      }
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

    async endAbandoned() {
      const abandoned = await findAbandoned(database, clock.now(), abandonedAtOnceMax);
      for (const one of abandoned) await endResponse(database, one, describeAbandoned(one));
    },

    close: () => clearInterval(timer),
  };
}

async function renewOne({ database, logger }: ResponseDependencies, one: Running, leaseUntil: Date): Promise<void> {
  try {
    const events = boundEvents(one.log?.text() ?? null);
    // Cancelled or deleted through another process.
    if (!(await renewLease(database, one, { leaseUntil, events }))) one.call.hangUp();
  } catch (error) {
    logger.warn({ response_id: one.id, error }, "response lease not renewed");
  }
}

/** Stores the final state, unless the response was cancelled or deleted in the meantime. */
async function saveEnd(
  { database, clock, logger, retentionMs }: ResponseDependencies,
  { log, accountId, id, saved }: Running,
  finished: FinishedResponse,
  tail: string,
): Promise<void> {
  const { status: state, body, itemIds } = finished;
  const events = log === null ? null : boundEvents(log.text() + tail);
  let isWanted = false;
  for (let tries = 1; tries <= endTriesMax; tries += 1) {
    try {
      isWanted = await database.transaction().execute(async (tx) => {
        const isOpen = await endResponse(tx, { accountId, id }, { state, body, itemIds, events });
        if (isOpen) await addToConversation(tx, saved, finished, { now: clock.now(), retentionMs });
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

function createListener(presenter: PreparedResponse["presenter"], log: EventLog) {
  return {
    onAccepted: () => {},
    onPieces: (pieces: readonly ChatKinds["delta"][]) => {
      log.add(presenter.presentPieces(pieces));
      return true;
    },
    onCut: () => log.add(presenter.presentCut()),
  };
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

function describeAbandoned({ body, events }: AbandonedResponse) {
  const message = "The gateway stopped before the response was complete. Create it again.";
  const failed = JSON.stringify({
    ...JSON.parse(body),
    status: "failed",
    error: { code: "server_error", message },
  });
  const allEvents =
    events && events + writeEvent("response.failed", findLastNumber(events) + 1, `"response":${failed}`);
  return { state: "failed" as const, body: failed, itemIds: [], events: allEvents };
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
