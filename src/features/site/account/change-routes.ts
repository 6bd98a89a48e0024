import { Type } from "typebox";
import type { AccountId } from "../../../lib/ids.ts";
import { type ChangeKind, changeKinds } from "../../../platform/database/account-change.ts";
import type { AccountChanges } from "../../../platform/database/account-changes.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { describeAnswers } from "../../../platform/http/answer-headers.ts";
import { consoleErrors, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { Heartbeats } from "../../../platform/http/event-stream.ts";
import { sendEvents } from "../../../platform/http/hijack-reply.ts";
import type { SiteDependencies } from "../site-dependencies.ts";

const tags = ["Account"];
/** All tabs of a browser share one stream. */
const ofAccountMax = 20;
const ofProcessMax = 2_000;

/** Streams to an account's pages which data changed. */
export function addChangeRoutes(
  http: HttpServer,
  { clock }: SiteDependencies,
  { changes, heartbeats }: { changes: Pick<AccountChanges, "watch">; heartbeats: Heartbeats },
): void {
  const places = createPlaces();
  // The streams never end on their own, so a shutdown aborts them.
  const stopping = new AbortController();
  http.addHook("preClose", async () => stopping.abort());
  http.get(
    "/changes",
    {
      schema: {
        operationId: "streamChanges",
        summary: "Stream changes",
        description: `Server-sent events named \`change\`: the data lists the kinds of data that changed since the last event, of
${changeKinds.map((kind) => `\`${kind}\``).join(", ")}. What it is now is read from its own address. Everything may have changed
before the stream began.`,
        tags,
        ...describeAnswers({ 200: { types: ["text/event-stream"] } }),
        response: {
          200: Type.Unsafe<string>(Type.String({ description: "The events." })),
          ...consoleErrors("GET"),
        },
      },
    },
    async (request, reply) => {
      const { accountId } = getSession(request);
      const leave = places.take(accountId);
      const gone = new AbortController();
      reply.raw.once("close", () => {
        leave();
        gone.abort();
      });
      const unsent = new Set<ChangeKind>();
      let send = (): void => {};
      // Close the connection with the stream, or a shutdown would wait for it.
      const options = { clock, heartbeats, headers: { connection: "close" }, onDrain: () => send() };
      return await sendEvents(reply, options, async (stream) => {
        let canTakeMore = true;
        send = () => {
          canTakeMore = stream.write(presentChange([...unsent]));
          unsent.clear();
        };
        const unwatch = changes.watch(accountId, (kinds) => {
          for (const kind of kinds) unsent.add(kind);
          // Back-pressure: for a slow reader, changes accumulate until it drains.
          if (canTakeMore) send();
        });
        await untilAborted(AbortSignal.any([gone.signal, stopping.signal]));
        unwatch();
        stream.end("");
      });
    },
  );
}

function presentChange(kinds: readonly ChangeKind[]): string {
  return kinds.length === 0 ? "" : `event: change\ndata: ${JSON.stringify(kinds)}\n\n`;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Limits open streams by account and process. Clients without a stream poll instead. */
function createPlaces() {
  const taken = new Map<AccountId, number>();
  let sum = 0;
  return {
    /** Returns the release function. */
    take(accountId: AccountId): () => void {
      const own = taken.get(accountId) ?? 0;
      if (own >= ofAccountMax || sum >= ofProcessMax) {
        throw new AppError("rate_limit_exceeded", "Too many change streams are open. Close other windows.", {
          headers: { "retry-after": "60" },
        });
      }
      taken.set(accountId, own + 1);
      sum += 1;
      return () => {
        const left = (taken.get(accountId) ?? 1) - 1;
        if (left > 0) taken.set(accountId, left);
        else taken.delete(accountId);
        sum -= 1;
      };
    },
  };
}
