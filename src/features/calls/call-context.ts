import type { Clock } from "../../lib/clock.ts";
import type { AccountId, IdSource } from "../../lib/ids.ts";
import type { Registry } from "../../lib/registry.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { AppError } from "../../platform/errors/app-error.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Metrics } from "../../platform/observability/metrics.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import type { UnchargedCosts } from "../costs/index.ts";
import type { Claim, Claims, KeptAnswer } from "../idempotency/index.ts";
import type { Ledger, RefusalTexts } from "../ledger/index.ts";
import type { DrainedCalls } from "./drained-calls.ts";
import type { CallEnd, CallKinds, StoppedBy } from "./paid-endpoint.ts";
import type { UpstreamNotices } from "./upstream-notices.ts";
import type { Withdrawals } from "./withdrawals.ts";

export type Routing = { health: UpstreamHealth; clock: Pick<Clock, "monotonicMs">; random(): number };

/** The dependencies that all calls share. */
export type CallContext = RefusalTexts & {
  counters: Counters;
  claims: Claims;
  clock: Clock;
  ids: IdSource;
  ledger: Ledger;
  drainedCalls: DrainedCalls;
  withdrawals: Withdrawals;
  notices: UpstreamNotices;
  routing: Routing;
  logger: Logger;
  metrics: Pick<
    Metrics,
    | "timeToFirstToken"
    | "tokens"
    | "charges"
    | "chargedAmount"
    | "lostAmount"
    | "upstreamCost"
    | "upstreamCostReported"
    | "upstreamCostComputed"
    | "callFaults"
    | "unchargedWork"
  >;
  /** Takes costs of calls that have no charge. */
  unchargedCosts: UnchargedCosts;
  running: Registry<RunningCall>;
};

export type RunningCall = {
  plan: { caller: { accountId: AccountId } };
  /** Resolves when the call is over. Rejects if it got no response. */
  ended: Promise<unknown>;
  /** The gateway shuts down: ends the call as if the upstream had failed. */
  stop(failure: AppError): void;
};

/** Receives a streamed response. Nothing arrives before the call is authorized. */
export type CallListener<K extends CallKinds> = {
  onAccepted(): void;
  /** Returns `false` if the caller's buffer is full; `resume` follows when it has room. */
  onPieces(deltas: readonly K["delta"][]): boolean;
  /** The response ends here, before the upstream's end. */
  onCut(stoppedBy: StoppedBy | null): void;
};

export type CallAudience<K extends CallKinds> = {
  /** `null` for a whole response. */
  listener: CallListener<K> | null;
  /** The claim of a call with an idempotency key, and the response to store under it. */
  kept: KeptCall<K> | null;
  /** Whether another process runs the call again if this one shuts down. */
  isHandedOver?: boolean;
};

export type KeptCall<K extends CallKinds> = {
  claim: Claim;
  /** The approximate size of the stored response. */
  bytes(): number;
  describe(end: CallEnd<K>): KeptAnswer;
  /** The stored response of a call that was charged but could not be answered. */
  describeFault(failure: AppError): KeptAnswer;
};
