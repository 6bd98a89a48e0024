import type { Caller } from "../../lib/caller.ts";
import type { HoldId } from "../../lib/ids.ts";
import type { SeenLimits } from "../../platform/http/request-context.ts";
import type { Claim, KeptAnswer } from "../idempotency/index.ts";
import { consumeLimits, type Slot } from "../limits/index.ts";
import type { CallContext } from "./call-context.ts";

/** An idempotency key and the fingerprint of its request. */
export type KeyedRequest = {
  key: string;
  fingerprint: Buffer;
  /** The owner of the claim, if a request runs more than once. Defaults to the request's id. */
  runId?: string;
};

export type Admission =
  | { kind: "admitted"; claim: Claim | null; limits: SeenLimits }
  | { kind: "answered"; answer: KeptAnswer };

type AdmittedCall = {
  caller: Caller;
  requestId: string;
  holdId: HoldId | null;
  demand: { tokens: number; slot: Slot };
};

/** Claims the call's idempotency key, if any, and consumes the caller's limits; or returns the key's stored response. */
export async function admitCall(
  context: CallContext,
  call: AdmittedCall,
  { keyed, seen }: { keyed: KeyedRequest | null; seen: SeenLimits | undefined },
): Promise<Admission> {
  if (keyed !== null) return await admitKeyed(context, call, keyed, seen);
  return { kind: "admitted", claim: null, limits: await takeLimits(context, call, seen) };
}

async function admitKeyed(
  context: CallContext,
  call: AdmittedCall,
  { key, fingerprint, runId }: KeyedRequest,
  seen: SeenLimits | undefined,
): Promise<Admission> {
  const { claims } = context;
  const { caller, holdId } = call;
  const wanted = { accountId: caller.accountId, key, requestId: runId ?? call.requestId, fingerprint, holdId };
  const outcome = await claims.claim(wanted);
  if (outcome.kind === "answered") return outcome;
  const { claim } = outcome;
  try {
    return { kind: "admitted", claim, limits: await takeLimits(context, call, seen) };
  } catch (error) {
    await claims.end({ claim, answer: null });
    throw error;
  }
}

function takeLimits({ counters }: CallContext, { caller, demand }: AdmittedCall, seen: SeenLimits | undefined) {
  return consumeLimits(counters, caller, demand, seen);
}
