import type { FastifyRequest } from "fastify";
import { requireKeyAccess } from "../features/accounts/index.ts";
import { requireLiveSession } from "../features/site/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { SiteSession } from "../lib/console-session.ts";
import { invariant } from "../lib/invariant.ts";
import type { ChangeFeed } from "../platform/database/change-feed.ts";
import type { Database } from "../platform/database/database.ts";
import type { AppError } from "../platform/errors/app-error.ts";
import { findSession } from "../platform/http/console-edge.ts";
import { getEndpoint } from "../platform/http/endpoint-table.ts";
import { presentError } from "../platform/http/error-response.ts";
import type { AccessWatch } from "../platform/http/event-stream.ts";
import { createOpenStreams } from "../platform/http/open-streams.ts";
import { getCaller } from "../platform/http/request-context.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { createOutageLog } from "../platform/observability/outage-log.ts";

export type ReaderWatch = {
  /** Watches whether the caller of this request still has access to its stream. */
  watch(request: FastifyRequest): AccessWatch;
  close(): void;
};

type ReaderWatchOptions = { database: Database; feed: ChangeFeed; clock: Clock; logger: Logger };

/** Ends event streams within a second after the key, account or session loses access. */
export function watchReaders({ database, feed, clock, logger }: ReaderWatchOptions): ReaderWatch {
  const waits = createOutageLog({
    ...{ logger, clock },
    begins: "open stream checks failed",
    ends: "open stream checks recovered",
  });
  const streams = createOpenStreams({ clock, ...waits });
  const recheckAll = (): void => streams.recheck(() => true);
  feed.subscribe("callers", {
    onChange: (accountId) => streams.recheck((reader) => accountId === "" || reader.accountId === accountId),
    onReset: recheckAll,
  });
  feed.subscribe("sessions", {
    onChange: (sessionId) => streams.recheck((reader) => reader.sessionId === sessionId),
    onReset: recheckAll,
  });

  /** A stream of a page, with a session instead of a key. */
  function watchSession(request: FastifyRequest, session: SiteSession | null): AccessWatch {
    invariant(session !== null, "a stream needs a session or a caller");
    return (end) =>
      streams.add({
        accountId: session.accountId,
        sessionId: session.id,
        check: () => requireLiveSession(database, session.id, clock.now()),
        end: (refusal) => end(presentEnd(request, refusal)),
      });
  }

  return {
    watch(request) {
      const { endpoint } = request.routeOptions.config;
      const session = findSession(request);
      if (endpoint === undefined) return watchSession(request, session);
      const { accountId, keyId } = getCaller(request);
      const place = { address: request.ip, endpointScope: getEndpoint(endpoint).scope };
      return (end) =>
        streams.add({
          accountId,
          sessionId: session?.id ?? null,
          async check() {
            const now = clock.now();
            const sessionEndsAt = session === null ? null : await requireLiveSession(database, session.id, now);
            const keyEndsAt = await requireKeyAccess(database, keyId, { ...place, now });
            return keyEndsAt ?? sessionEndsAt;
          },
          end: (refusal) => end(presentEnd(request, refusal)),
        });
    },
    close: streams.close,
  };
}

/** The last event of a stream whose reader lost access. */
function presentEnd(request: FastifyRequest, refusal: AppError): string {
  request.failure = refusal;
  return `data: ${JSON.stringify(presentError(refusal, request.id).body)}\n\n`;
}
