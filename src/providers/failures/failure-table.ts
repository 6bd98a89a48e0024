import type { ProviderErrorKind } from "../contract.ts";

/** Who can fix it: the customer, the operator (keys, credit, catalog) or the upstream. */
type Fault = "request" | "account" | "service";

/** How a failure affects the target's circuit. */
export type CircuitEffect =
  | { opens: "never" }
  /** `upstream list` shows it, and the target stays in use. */
  | { opens: "never-but-noted" }
  /** After several failures within a short time, with exponential backoff. */
  | { opens: "when-frequent" }
  /** `openMs` applies if the upstream names no time. `key`: for all models that use this key. */
  | { opens: "at-once"; scope: "target" | "key"; openMs: number };

type Consequence = {
  /** For the operators' guide. */
  explains: string;
  fault: Fault;
  circuit: CircuitEffect;
  /** The customer's error code. Endpoints word a request's faults themselves. */
  code: "invalid_parameter" | "content_policy_violation" | "context_length_exceeded" | UpstreamCode;
};

type UpstreamCode = "upstream_unavailable" | "upstream_timeout";

const never = { opens: "never" } as const;
const frequent = { opens: "when-frequent" } as const;
const atOnce = (scope: "target" | "key", openMs: number): CircuitEffect => ({ opens: "at-once", scope, openMs });

/**
 * The consequences of each kind of failure. Only an upstream's fixed error codes open a circuit at once; what a
 * customer can provoke opens none.
 */
export const failureTable = {
  rejected: {
    explains: "The upstream rejected the request as invalid.",
    ...{ fault: "request", circuit: never, code: "invalid_parameter" },
  },
  "content-refused": {
    explains: "The upstream's content policy rejected the request.",
    ...{ fault: "request", circuit: never, code: "content_policy_violation" },
  },
  "too-long": {
    explains: "The request is longer than the model's context.",
    ...{ fault: "request", circuit: never, code: "context_length_exceeded" },
  },
  "key-refused": {
    explains: "Your key is unknown, revoked or missing, or may not assume its role.",
    ...{ fault: "account", circuit: atOnce("key", 60_000), code: "upstream_unavailable" },
  },
  "out-of-credit": {
    explains: "Your account has no credit left, or has reached its billing limit.",
    ...{ fault: "account", circuit: atOnce("key", 60_000), code: "upstream_unavailable" },
  },
  "quota-exceeded": {
    explains: "Your daily or monthly quota is used up.",
    ...{ fault: "account", circuit: atOnce("target", 60_000), code: "upstream_unavailable" },
  },
  "rate-limited": {
    explains: "You exceeded the upstream's rate limit.",
    ...{ fault: "account", circuit: atOnce("target", 1_000), code: "upstream_unavailable" },
  },
  "model-unavailable": {
    explains: "The upstream does not have the model, or not for your account.",
    ...{ fault: "account", circuit: atOnce("target", 60_000), code: "upstream_unavailable" },
  },
  misconfigured: {
    explains:
      "The catalog entry cannot work: a wrong address, a missing package, a region that the vendor does not serve.",
    ...{ fault: "account", circuit: atOnce("target", 60_000), code: "upstream_unavailable" },
  },
  overloaded: {
    explains: "The upstream failed, or is too busy.",
    ...{ fault: "service", circuit: frequent, code: "upstream_unavailable" },
  },
  timeout: {
    explains: "The upstream did not respond within `timeouts`.",
    ...{ fault: "service", circuit: frequent, code: "upstream_timeout" },
  },
  unreachable: {
    explains: "The upstream could not be reached, or the connection broke.",
    ...{ fault: "service", circuit: frequent, code: "upstream_unavailable" },
  },
  "bad-answer": {
    explains: "The response does not follow the vendor's API.",
    ...{ fault: "service", circuit: frequent, code: "upstream_unavailable" },
  },
  unexplained: {
    explains:
      "A rejection without a cause: a proxy's page, a status without a body, a message that Sluice does not know.",
    ...{ fault: "service", circuit: { opens: "never-but-noted" }, code: "upstream_unavailable" },
  },
} as const satisfies Record<ProviderErrorKind, Consequence>;

/** The kinds that are not the customer's fault. */
export type UpstreamFaultKind = {
  [Kind in ProviderErrorKind]: (typeof failureTable)[Kind]["fault"] extends "request" ? never : Kind;
}[ProviderErrorKind];

/** If the request itself is at fault, every upstream would reject it. */
export function isWorthAnotherTarget({ kind }: { kind: ProviderErrorKind }): boolean {
  return failureTable[kind].fault !== "request";
}
