/**
 * Paid calls: whatever is answered while its caller waits, be it text or audio, streamed or not.
 *
 * Promises: nothing is answered before it is authorized, and no answer ends before its charge is durable. A call is
 * charged once, for what its upstream was used for, by the price that held when it began. Another upstream is tried until
 * the first data, never after it. A caller who hangs up pays no less than one who listens. With an `Idempotency-Key` a
 * call is finished whatever its caller does, and answered again when it is sent again. Nothing that a caller sees names an
 * upstream. An endpoint brings a `PaidRoute`: what it checks, what it costs, how it is sent and how its answer looks.
 */
export type { ChargeRule } from "./call.ts";
export { callErrors, explainCallFailure, type FailureTexts, fieldErrors, toProviderError } from "./call-errors.ts";
export type { IncomingCall, PaidRoute } from "./call-routes.ts";
export { type BegunCall, type Calls, createCalls } from "./create-calls.ts";
export { presentAttempt } from "./describe-attempt.ts";
export {
  type CallDirectory,
  type FlatKinds,
  type FlatMeter,
  type FlatPresenter,
  flatCall,
  isChargeDue,
  listFlatTargets,
} from "./flat-call.ts";
export { noteFacts, noteRouting } from "./note-facts.ts";
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
export type { UpstreamNotice } from "./upstream-notices.ts";
