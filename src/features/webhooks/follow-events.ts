import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { type EventId, type IdSource, presentLeastId, readIdTime } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { signEvent } from "./sign-event.ts";
import { type PresentData, presentEvent, type WebhookEvent } from "./webhook-event.ts";
import { decideListeningEnd, deriveSessionSecret, type WebhookSession } from "./webhook-session.ts";
import { listEventsFrom, renewSession, takeSession } from "./webhook-session-store.ts";

type FollowDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  presentData: PresentData;
  /** What the sessions' secrets follow from. */
  sessionSecretKey: Uint8Array;
  /** How often to look for what is new. */
  lookEveryMs: number;
};

export type Reader = {
  /** Resolves when more can be taken. */
  write(text: string): Promise<void>;
  lastEventId: string | null;
  signal: AbortSignal;
};

const renewEveryMs = 5_000;
const readAtOnceMax = 100;
/** After this the reader has to come again, and to show a key that is still good. */
const followMsMax = 15 * 60_000;
/**
 * An event gets its id a moment before it is committed, and gateways' clocks differ a little: what is new may lie this
 * far behind what was seen already.
 */
const lateMsMax = 10_000;

/**
 * Writes every event of the account since the session began, or since the last one that the reader has seen, until the
 * reader goes, another takes the session, or it is time to come again. Right after that a few can come a second time.
 */
export async function followEvents(
  dependencies: FollowDependencies,
  session: WebhookSession,
  reader: Reader,
): Promise<void> {
  const { database, clock, ids, lookEveryMs } = dependencies;
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
    const lookedAt = clock.now();
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
    from = new Date(Math.max(from.getTime(), lookedAt.getTime() - lateMsMax));
    forgetBefore(sent, presentLeastId("evt", from));
    // Ends early when the reader goes, which is no failure.
    await wait(lookEveryMs, undefined, { signal }).catch(() => {});
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

/** As one server-sent event: what a receiver would be sent, its headers and its body as the signature has it. */
function presentSigned(
  { clock, presentData, sessionSecretKey }: FollowDependencies,
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
