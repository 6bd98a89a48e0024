import { type CallFacts, closeFacts } from "../../platform/http/request-context.ts";
import type { CallEnd, CallKinds } from "./paid-endpoint.ts";
import type { PaidCall } from "./run-call.ts";

/** Adds a finished call to the account's request log. */
export function noteFacts<K extends CallKinds>(
  facts: CallFacts | null,
  call: Pick<PaidCall<K>, "plan" | "routed" | "findChargeId">,
  end: CallEnd<K>,
): void {
  if (facts === null) return;
  const tokens = call.plan.countTokens(end.usage);
  facts.tokens = tokens.input === 0 && tokens.output === 0 ? null : tokens;
  facts.chargeId = call.findChargeId();
  facts.charge = end.settlement.charge;
  noteRouting(facts, call);
  closeFacts(facts);
}

/** Also called for calls that failed. */
export function noteRouting<K extends CallKinds>(
  facts: CallFacts | null,
  { routed }: Pick<PaidCall<K>, "routed">,
): void {
  if (facts === null) return;
  facts.upstream = routed.target?.providerId ?? null;
  facts.failedAttempts = routed.failedAttempts;
}
