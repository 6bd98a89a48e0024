import { invariant } from "../../lib/invariant.ts";
import { type GuardedClient, type GuardedRequest, readWhole, timeoutsOf } from "./guarded-client.ts";
import { createResponse, type Fetch } from "./upstream-fetch.ts";

/**
 * A guarded client as a `fetch`, for libraries with small responses. The response is complete or an error: most libraries
 * have no timeout for a body that arrives byte by byte.
 */
export function createWholeFetch(
  client: Pick<GuardedClient, "send">,
  { bytesMax, timeoutMs, connection }: { bytesMax: number; timeoutMs: number; connection: "kept" | "fresh" },
): Fetch {
  return async (input, init) => {
    invariant(typeof input === "string" || input instanceof URL, "fetch needs a URL");
    const body = init?.body ?? null;
    invariant(body === null || typeof body === "string" || body instanceof URLSearchParams, "a body must be text");
    const headers = new Headers(init?.headers);
    if (body instanceof URLSearchParams) headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
    headers.set("accept-encoding", "identity");
    const answer = await client.send(String(input), {
      method: (init?.method ?? "GET") as NonNullable<GuardedRequest["method"]>,
      headers: Object.fromEntries(headers),
      body: body === null ? null : String(body),
      timeouts: timeoutsOf(timeoutMs),
      signal: init?.signal ?? new AbortController().signal,
      connection,
    });
    return createResponse(answer, [await readWhole(answer, { bytesMax })]);
  };
}
