import { setTimeout as wait } from "node:timers/promises";
import { type EventId, presentLeastId, readIdTime } from "../../lib/ids.ts";
import { signEvent } from "./sign-event.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { presentEvent, type WebhookEvent } from "./webhook-event.ts";
import { decideListeningEnd, deriveSessionSecret, type WebhookSession } from "./webhook-session.ts";
import { listEventsFrom, renewSession, takeSession } from "./webhook-session-store.ts";

export type Reader = {
  /** Resolves when the client can take more (back-pressure). */
  write(text: string): Promise<void>;
  lastEventId: string | null;
  signal: AbortSignal;
};

/** A person may be waiting for new events. */
const pollEveryMs = 250;
const renewEveryMs = 5_000;
const readAtOnceMax = 100;
/** The stream ends after this, so that the client reconnects with a valid key. */
const followMsMax = 15 * 60_000;
/**
 * Event ids are created shortly before the commit, and the clocks of nodes differ: a new event may be this much older
 * than events already sent.
 */
const lateMsMax = 10_000;

/**
 * Streams every event of the account since the session began or since `lastEventId`, until the client disconnects,
 * another stream takes over the session, or the time limit is reached. After a reconnect, a few events may repeat.
 */
export async function followEvents(
  dependencies: WebhookDependencies,
  session: WebhookSession,
  reader: Reader,
): Promise<void> {
  const { database, clock, ids } = dependencies;
  const { signal } = reader;
  const hold = { id: session.id, readerId: ids.next("node") };
  const startedMs = clock.monotonicMs();
  const sent = new Set<EventId>();
  let from = decideStart(session, reader.lastEventId);
  let renewedMs = startedMs;
  await takeSession(database, { ...hold, until: decideListeningEnd(clock.now()) });
  while (!signal.aborted && clock.monotonicMs() - startedMs < followMsMax) {
    if (clock.monotonicMs() - renewedMs >= renewEveryMs) {
      renewedMs = clock.monotonicMs();
      if (!(await renewSession(database, { ...hold, until: decideListeningEnd(clock.now()) }))) return;
    }
    const polledAt = clock.now();
    const events = await listEventsFrom(database, session.accountId, {
      fromId: presentLeastId("evt", from),
      exceptIds: [...sent],
      limit: readAtOnceMax,
    });
    for (const event of events) {
      if (event.id !== reader.lastEventId) await reader.write(presentSigned(dependencies, session, event));
      sent.add(event.id);
    }
    if (events.length === readAtOnceMax) continue;
    from = new Date(Math.max(from.getTime(), polledAt.getTime() - lateMsMax));
    forgetBefore(sent, presentLeastId("evt", from));
    // Rejects when the client disconnects, which is expected.
    await wait(pollEveryMs, undefined, { signal }).catch(() => {});
  }
}

function decideStart({ startedAt }: WebhookSession, lastEventId: string | null): Date {
  const seenUntil = lastEventId === null ? null : readIdTime(lastEventId);
  return new Date(Math.max(startedAt.getTime(), (seenUntil?.getTime() ?? 0) - lateMsMax));
}

function forgetBefore(sent: Set<EventId>, id: EventId): void {
  for (const seen of sent) {
    if (seen < id) sent.delete(seen);
  }
}

/** A server-sent event with the headers and body a receiver would get; the signature covers exactly this body. */
function presentSigned(
  { clock, presentData, sessionSecretKey }: WebhookDependencies,
  session: WebhookSession,
  event: WebhookEvent,
): string {
  const sentAt = clock.now();
  const body = JSON.stringify(presentEvent(event, presentData, sentAt));
  const secret = deriveSessionSecret(sessionSecretKey, session);
  const headers = {
    "content-type": "application/json",
    "user-agent": "Sluice",
    ...signEvent({ id: event.id, body, sentAt }, [secret]),
  };
  return `event: ${event.type}\nid: ${event.id}\ndata: ${JSON.stringify({ headers, body })}\n\n`;
}
