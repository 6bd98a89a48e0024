/** The headers that answers can have, as the reference describes them. */
const answerHeaders = {
  "x-request-id": { pattern: "^req_[0-9a-z]+$", description: "Names this answer; tell it when you report a problem." },
  "request-id": { pattern: "^req_[0-9a-z]+$", description: "The same, where clients of Anthropic's look for it." },
  "x-client-request-id": { description: "The `X-Client-Request-Id` of the request." },
  "x-ratelimit-limit": { pattern: "^\\d+$", description: "Of the limit that leaves the least: how much it allows." },
  "x-ratelimit-remaining": { pattern: "^\\d+$", description: "How much of it is left." },
  "x-ratelimit-reset": { pattern: "^\\d+$", description: "In how many seconds all of it is back." },
  "x-ratelimit-limit-requests": { pattern: "^\\d+$", description: "How many requests a minute are allowed." },
  "x-ratelimit-remaining-requests": { pattern: "^\\d+$", description: "How many of them are left." },
  "x-ratelimit-reset-requests": { description: "When all of them are back, as in `6m0s`." },
  "x-ratelimit-limit-tokens": { pattern: "^\\d+$", description: "How many tokens a minute are allowed." },
  "x-ratelimit-remaining-tokens": { pattern: "^\\d+$", description: "How many of them are left." },
  "x-ratelimit-reset-tokens": { description: "When all of them are back, as in `12ms`." },
  "x-should-retry": { enum: ["false"], description: "Sending the same request again cannot help." },
  "retry-after": { pattern: "^\\d+$", description: "In how many seconds it is worth asking again." },
  "retry-after-ms": { pattern: "^\\d+$", description: "The same in milliseconds." },
  "idempotent-replayed": { enum: ["true"], description: "This is the answer to an earlier request with this key." },
  "preference-applied": { description: "What of `Prefer` was done." },
  deprecation: { description: "Since when the model is deprecated." },
  sunset: { description: "When the model will be shut down." },
  location: { description: "Where what was created can be read." },
  etag: { description: "The version of what is answered." },
  "accept-ranges": { enum: ["bytes"], description: "Parts can be asked for." },
  "content-range": { description: "Which bytes these are, of how many." },
  "content-disposition": { description: "The name to save it by." },
  "set-cookie": { description: "The session, or its end." },
} as const satisfies Record<string, { description: string; pattern?: string; enum?: readonly string[] }>;

export type AnswerHeader = keyof typeof answerHeaders;

/** What of an answer its schema does not say: its content types, where they are not JSON alone, and its headers. */
export type AnswerDescription = {
  types?: readonly string[];
  always?: readonly AnswerHeader[];
  sometimes?: readonly AnswerHeader[];
};

/** A part of a route's schema, by status. */
export function describeAnswers(answers: Readonly<Record<number, AnswerDescription>>) {
  return { [answersKey]: answers };
}

/** Where the reference's writer finds it, and takes it out. */
export const answersKey = "x-answers";

type HeaderReference = { $ref: string };

/** Where a header is described once, for answers that always have it and for those that may. */
export function referToHeader(name: AnswerHeader, when: "always" | "sometimes"): HeaderReference {
  return { $ref: `#/components/headers/${nameComponent(name, when)}` };
}

function nameComponent(name: AnswerHeader, when: "always" | "sometimes"): string {
  return when === "always" ? name : `${name}-if-any`;
}

export function describeHeaderComponents(): Record<string, object> {
  const names = Object.keys(answerHeaders) as AnswerHeader[];
  return Object.fromEntries(
    names.flatMap((name) => {
      const { description, ...rules } = answerHeaders[name];
      const header = { description, schema: { type: "string", ...rules } };
      return [
        [nameComponent(name, "always"), { ...header, required: true }],
        [nameComponent(name, "sometimes"), header],
      ];
    }),
  );
}
