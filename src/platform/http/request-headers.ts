import { type TSchema, Type } from "typebox";

/** The headers that requests can have, as the reference describes them. Whoever needs one reads and checks it. */
const requestHeaders = {
  "x-client-request-id": Type.String({
    pattern: "^[!-~]{1,512}$",
    description: "A trace id of your own. It comes back with the answer, and is kept on tasks.",
  }),
  "idempotency-key": Type.String({
    pattern: "^[!-~]{1,255}$",
    description: "Names this request, so that it can be sent again and is done and paid once.",
  }),
  prefer: Type.String({
    description:
      "`wait=N` waits up to N seconds (0 to 60) for the end of a task; `respond-async` asks for a task at once.",
    examples: ["wait=30"],
  }),
  "if-none-match": Type.String({ description: "An `ETag`: where it is still that version, the answer is 304." }),
  range: Type.String({ description: "Which bytes to send; the answer is 206.", examples: ["bytes=0-1023"] }),
  "if-range": Type.String({ description: "An `ETag`: where it is another version, all bytes are sent." }),
  "last-event-id": Type.String({ description: "The id of the last event that you have; those after it are sent." }),
  "anthropic-version": Type.String({
    pattern: "^\\d{4}-\\d\\d-\\d\\d$",
    description: "The version of Anthropic's API that a client knows.",
    examples: ["2023-06-01"],
  }),
  "anthropic-beta": Type.String({
    description: "What of Anthropic's API is meant that is not final; an upstream that speaks it is told.",
  }),
} as const satisfies Record<string, TSchema>;

type RequestHeader = keyof typeof requestHeaders;

/** For the `headers` of a route's schema. */
export function describeHeaders<Name extends RequestHeader>(...names: Name[]) {
  const properties = Object.fromEntries(names.map((name) => [name, Type.Optional(requestHeaders[name])]));
  return { ...Type.Unsafe<{ [name in Name]?: string }>(Type.Object(properties)), properties };
}
