/** Response headers with their descriptions for the reference. */
const answerHeaders = {
  "x-request-id": {
    pattern: "^req_[0-9a-z]+$",
    description: "The id of this request. Include it when you report a problem.",
  },
  "request-id": { pattern: "^req_[0-9a-z]+$", description: "The same as `x-request-id`, for Anthropic's clients." },
  "x-client-request-id": { description: "The `X-Client-Request-Id` of the request." },
  "x-ratelimit-limit": { pattern: "^\\d+$", description: "The tightest limit: its maximum." },
  "x-ratelimit-remaining": { pattern: "^\\d+$", description: "The tightest limit: what remains." },
  "x-ratelimit-reset": { pattern: "^\\d+$", description: "The tightest limit: seconds until it is fully restored." },
  "x-ratelimit-limit-requests": { pattern: "^\\d+$", description: "Maximum requests per minute." },
  "x-ratelimit-remaining-requests": { pattern: "^\\d+$", description: "Remaining requests." },
  "x-ratelimit-reset-requests": { description: "Time until all requests are restored, such as `6m0s`." },
  "x-ratelimit-limit-tokens": { pattern: "^\\d+$", description: "Maximum tokens per minute." },
  "x-ratelimit-remaining-tokens": { pattern: "^\\d+$", description: "Remaining tokens." },
  "x-ratelimit-reset-tokens": { description: "Time until all tokens are restored, such as `12ms`." },
  "x-should-retry": { enum: ["false"], description: "A retry of the same request cannot succeed." },
  "retry-after": { pattern: "^\\d+$", description: "Seconds to wait before a retry." },
  "retry-after-ms": { pattern: "^\\d+$", description: "Milliseconds to wait before a retry." },
  "idempotent-replayed": {
    enum: ["true"],
    description: "This is the response to an earlier request with this `Idempotency-Key`.",
  },
  "preference-applied": { description: "The applied part of `Prefer`." },
  deprecation: { description: "The date since which the model is deprecated." },
  sunset: { description: "The date when the model will be shut down." },
  location: { description: "The URL of the created resource." },
  etag: { description: "The version of the resource." },
  "accept-ranges": { enum: ["bytes"], description: "Byte ranges are supported." },
  "content-range": { description: "The byte range of this response and the total size." },
  "content-disposition": { description: "The file name." },
  "set-cookie": { description: "Sets or clears the session." },
} as const satisfies Record<string, { description: string; pattern?: string; enum?: readonly string[] }>;

export type AnswerHeader = keyof typeof answerHeaders;

/** Content types other than JSON, and headers, which response schemas do not describe. */
export type AnswerDescription = {
  types?: readonly string[];
  always?: readonly AnswerHeader[];
  sometimes?: readonly AnswerHeader[];
};

/** A part of a route's schema, keyed by status. */
export function describeAnswers(answers: Readonly<Record<number, AnswerDescription>>) {
  return { [answersKey]: answers };
}

/** `completeDocument` reads and removes this key. */
export const answersKey = "x-answers";

type HeaderReference = { $ref: string };

/** Each header has two components: required and optional. */
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
