import type { ProviderErrorKind } from "../contract.ts";

/** Who can change that it fails: the customer, the operator (keys, money, catalog) or the upstream itself. */
type Fault = "request" | "account" | "service";

/** What a failure does to the circuit of the target that it happened at. */
export type CircuitEffect =
  | { opens: "never" }
  /** `upstream list` shows it; the target is called on. */
  | { opens: "never-but-noted" }
  /** After several failures within a short time, with exponential backoff. */
  | { opens: "when-frequent" }
  /** `openMs` holds where the upstream does not name a time itself. `key`: for all models that this key is used for. */
  | { opens: "at-once"; scope: "target" | "key"; openMs: number };

type Consequence = {
  /** For the operators' guide. */
  explains: string;
  fault: Fault;
  circuit: CircuitEffect;
  /** What customers are told. Endpoints word the faults of a request in their own terms. */
  code: "invalid_parameter" | "content_policy_violation" | "context_length_exceeded" | UpstreamCode;
};

type UpstreamCode = "upstream_unavailable" | "upstream_timeout";

const never = { opens: "never" } as const;
const frequent = { opens: "when-frequent" } as const;
const atOnce = (scope: "target" | "key", openMs: number): CircuitEffect => ({ opens: "at-once", scope, openMs });

/**
 * What follows from each kind of failure. Only what an upstream says in fixed words of its own opens a circuit at once;
 * what a customer can provoke opens none.
 */
export const failureTable = {
  rejected: {
    explains: "The upstream found the request wrong.",
    ...{ fault: "request", circuit: never, code: "invalid_parameter" },
  },
  "content-refused": {
    explains: "The upstream's moderation refused the content.",
    ...{ fault: "request", circuit: never, code: "content_policy_violation" },
  },
  "too-long": {
    explains: "The request is longer than the model can read.",
    ...{ fault: "request", circuit: never, code: "context_length_exceeded" },
  },
  "key-refused": {
    explains: "Your key is unknown, revoked or missing.",
    ...{ fault: "account", circuit: atOnce("key", 60_000), code: "upstream_unavailable" },
  },
  "out-of-credit": {
    explains: "Your account has no money left, or has reached its billing limit.",
    ...{ fault: "account", circuit: atOnce("key", 60_000), code: "upstream_unavailable" },
  },
  "quota-exceeded": {
    explains: "Your quota of a day or a month is used up.",
    ...{ fault: "account", circuit: atOnce("target", 60_000), code: "upstream_unavailable" },
  },
  "rate-limited": {
    explains: "You send too much at a time.",
    ...{ fault: "account", circuit: atOnce("target", 1_000), code: "upstream_unavailable" },
  },
  "model-unavailable": {
    explains: "The upstream does not have the model, or not for you.",
    ...{ fault: "account", circuit: atOnce("target", 60_000), code: "upstream_unavailable" },
  },
  misconfigured: {
    explains: "The catalog's entry cannot work: a wrong address, a missing package, a region that is not served.",
    ...{ fault: "account", circuit: atOnce("target", 60_000), code: "upstream_unavailable" },
  },
  overloaded: {
    explains: "The upstream failed, or is too busy.",
    ...{ fault: "service", circuit: frequent, code: "upstream_unavailable" },
  },
  timeout: {
    explains: "The upstream did not answer within `timeouts`.",
    ...{ fault: "service", circuit: frequent, code: "upstream_timeout" },
  },
  unreachable: {
    explains: "The upstream could not be reached, or the connection broke.",
    ...{ fault: "service", circuit: frequent, code: "upstream_unavailable" },
  },
  "bad-answer": {
    explains: "The answer is not what the vendor's API promises.",
    ...{ fault: "service", circuit: frequent, code: "upstream_unavailable" },
  },
  unexplained: {
    explains:
      "A refusal that names no cause: a page of a proxy, a status without words, words that Sluice does not know.",
    ...{ fault: "service", circuit: { opens: "never-but-noted" }, code: "upstream_unavailable" },
  },
} as const satisfies Record<ProviderErrorKind, Consequence>;

/** The kinds that are not the customer's fault, and the customer's error for each. */
export type UpstreamFaultKind = {
  [Kind in ProviderErrorKind]: (typeof failureTable)[Kind]["fault"] extends "request" ? never : Kind;
}[ProviderErrorKind];

/** Where the request itself is at fault, every upstream would refuse it. */
export function isWorthAnotherTarget({ kind }: { kind: ProviderErrorKind }): boolean {
  return failureTable[kind].fault !== "request";
}
