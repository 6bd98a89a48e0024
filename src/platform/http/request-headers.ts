import { type TSchema, Type } from "typebox";

/** Request headers with their descriptions for the reference. Operations read and check them. */
const requestHeaders = {
  "x-client-request-id": Type.String({
    pattern: "^[!-~]{1,512}$",
    description: "Your own trace id. The response returns it, and tasks store it.",
  }),
  "idempotency-key": Type.String({
    pattern: "^[!-~]{1,255}$",
    description: "A unique key that makes retries safe: the request runs and is charged once.",
  }),
  "x-quote-id": Type.String({
    pattern: "^quote_[A-Za-z0-9_-]{1,200}$",
    description: "A quote of this request from `POST /quote`. The request costs at most its `max_charge`.",
  }),
  prefer: Type.String({
    description:
      "`wait=N` waits up to N seconds (0 to 60) for the task to end; `respond-async` returns the task at once.",
    examples: ["wait=30"],
  }),
  "if-none-match": Type.String({ description: "An `ETag`. If the version is still current, the response is 304." }),
  range: Type.String({ description: "The byte range to return; the response is 206.", examples: ["bytes=0-1023"] }),
  "if-range": Type.String({ description: "An `ETag`. If the version differs, the whole file is returned." }),
  "last-event-id": Type.String({ description: "The id of the last event you received. The stream resumes after it." }),
  "anthropic-version": Type.String({
    pattern: "^\\d{4}-\\d\\d-\\d\\d$",
    description: "The version of Anthropic's API that the client uses.",
    examples: ["2023-06-01"],
  }),
  "anthropic-beta": Type.String({
    description: "Beta features of Anthropic's API. Passed to upstreams that support them.",
  }),
} as const satisfies Record<string, TSchema>;

type RequestHeader = keyof typeof requestHeaders;

/** The `headers` of a route's schema. */
export function describeHeaders<Name extends RequestHeader>(...names: Name[]) {
  const properties = Object.fromEntries(names.map((name) => [name, Type.Optional(requestHeaders[name])]));
  return { ...Type.Unsafe<{ [name in Name]?: string }>(Type.Object(properties)), properties };
}
