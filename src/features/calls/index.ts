/**
 * Paid calls: requests that are answered while the caller waits, text or audio, streamed or whole.
 *
 * Promises: no data is sent before the call is authorized, and no response ends before its charge is durable. A call is
 * charged once, for its usage, at the price when it began. Failover happens only before the first data. A caller who hangs
 * up pays no less than one who listens. A call with an `Idempotency-Key` runs to its end even if its caller hangs up, and a
 * retry gets the stored response. Callers never see an upstream's name. An endpoint implements `PaidRoute`: validation,
 * price, request and wire format.
 */
export type { ChargeRule } from "./call.ts";
export { callErrors, explainCallFailure, type FailureTexts, fieldErrors, toProviderError } from "./call-errors.ts";
export { type IncomingCall, type PaidRoute, readKey } from "./call-routes.ts";
export { type BegunCall, type Calls, type CostPayer, createCalls } from "./create-calls.ts";
export {
  type CallDirectory,
  type FlatKinds,
  type FlatMeter,
  type FlatPresenter,
  flatCall,
  isChargeDue,
  listFlatTargets,
} from "./flat-call.ts";
export {
  boundCallMs,
  type CallAttempt,
  type CallEnd,
  type CallMeter,
  type CallOperation,
  type CallPlan,
  type CallPresenter,
  type CallTerms,
  type CallTokens,
  type HoldCover,
  holdMarginMs,
  type StoppedBy,
} from "./paid-endpoint.ts";
export { capTerms, quotePlan } from "./quoted-call.ts";
export { noteFacts, noteRouting, presentAttempt } from "./record-call.ts";
export type { UpstreamNotice } from "./upstream-notices.ts";
