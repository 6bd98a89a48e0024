import { type Bill, hungUpMark } from "../../lib/bill.ts";
import type { Caller } from "../../lib/caller.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano, presentMoney } from "../../lib/money.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { SeenLimits } from "../../platform/http/request-context.ts";
import { ProviderError } from "../../providers/contract.ts";
import type { SpeechAudio, SpeechRequest } from "../../providers/generation.ts";
import { getOfferedModel, presentDeprecation } from "../catalog/index.ts";
import {
  type Claim,
  type ClaimParts,
  claimKey,
  freeKey,
  type KeptAnswer,
  keepAnswer,
  keptBytesMax,
  lockClaim,
  renewClaim,
} from "../idempotency/index.ts";
import {
  explainRefusedHold,
  type Ledger,
  type ReleaseOperation,
  releaseHold,
  type SettleOperation,
  settleHold,
} from "../ledger/index.ts";
import { consumeLimits, type DrainedCalls, returnSlot, type Slot } from "../limits/index.ts";
import { checkSpeech } from "./check-generation.ts";
import { followSpeechCaller } from "./follow-speech-caller.ts";
import type { SpeechBody } from "./generation-schema.ts";
import { getPrice } from "./prepare-media.ts";
import { billTask, countCharacters, nothing, priceTask, quoteTask } from "./quote-task.ts";
import {
  attemptsMax,
  listSpeechTargets,
  type SpeechTarget,
  startSpeech,
  toCallerError,
  toProviderError,
} from "./route-speech.ts";
import type { UnitTerms } from "./task.ts";
import type { TaskParts } from "./task-parts.ts";

/** A call that was found good: what is to be said, by whom it can be said, and what it costs. */
export type CheckedSpeech = {
  modelId: string;
  caller: Caller;
  requestId: string;
  request: SpeechRequest;
  targets: readonly SpeechTarget[];
  terms: UnitTerms;
  holdId: `hold_${string}` | null;
};

export type SpeakParts = TaskParts & {
  ledger: Ledger;
  counters: Counters;
  currency: string;
  claims: Pick<ClaimParts, "validityMs" | "releaseHold">;
  drainedCalls: DrainedCalls;
  onTrouble(error: unknown): void;
};

const marginMs = 5 * 60_000;
const slotMs = 10 * 60_000;

/** Everything about a call that can be known before anything happens. Throws what is wrong with it. */
export function checkSpeechCall(
  parts: SpeakParts,
  { caller, body, requestId }: { caller: Caller; body: SpeechBody; requestId: string },
): { speech: CheckedSpeech; headers: Record<string, string> } {
  const offered = getOfferedModel(parts.catalog.current(), body.model, caller, parts.clock.now());
  const { request, capability } = checkSpeech(body, offered.model);
  invariant(request.type === "speech", "speech was checked as something else");
  const targets = listSpeechTargets(parts, offered.model.id);
  if (targets.length === 0) throw toCallerError(null);
  const budgetAmount = caller.budget?.amount ?? null;
  const terms = quoteTask(getPrice(offered.prices, capability), { request, audioSeconds: null, budgetAmount });
  const holdId = priceTask(terms) === 0n ? null : parts.ids.next("hold");
  const speech = { modelId: offered.model.id, caller, requestId, request, targets, terms, holdId };
  return { speech, headers: presentDeprecation(offered) };
}

type Admission =
  | { kind: "admitted"; claim: Claim | null; limits: SeenLimits }
  | { kind: "answered"; answer: KeptAnswer };

/** Claims the key, takes a place among the caller's calls and sets the money aside, or finds that it was answered. */
export async function admitSpeech(
  parts: SpeakParts,
  speech: CheckedSpeech,
  { keyed, seen }: { keyed: { key: string; fingerprint: Buffer } | null; seen: SeenLimits | undefined },
): Promise<Admission> {
  const { caller, requestId, holdId } = speech;
  let claim: Claim | null = null;
  if (keyed !== null) {
    const wanted = { accountId: caller.accountId, requestId, holdId, ...keyed };
    const outcome = await claimKey({ ...parts, ...parts.claims }, wanted);
    if (outcome.kind === "answered") return outcome;
    claim = outcome.claim;
  }
  try {
    const limits = await consumeLimits(parts.counters, caller, { slot: getSlot(speech) }, seen);
    await holdSpeech(parts, speech);
    return { kind: "admitted", claim, limits };
  } catch (error) {
    if (claim !== null) await freeKey(parts.database, claim);
    leave(parts, speech);
    throw error;
  }
}

function getSlot({ requestId }: CheckedSpeech): Slot {
  return { use: "request", id: requestId, ttlMs: slotMs };
}

function leave(parts: SpeakParts, speech: CheckedSpeech): void {
  returnSlot(parts.counters, speech.caller, getSlot(speech))?.catch(parts.onTrouble);
}

export type SpeechEnd = { spoken: bigint; charge: Nano; failure: AppError | null; hasHungUp: boolean };

type SpeechOptions = {
  claim: Claim | null;
  contentType: string;
  /** Aborted when nobody listens any more. */
  hungUp: AbortSignal;
  presentFailure(error: AppError): { status: number; body: unknown };
  /** Takes audio on; ends when there is room for more. */
  write(chunk: Uint8Array): Promise<void>;
};

/**
 * Says an admitted text, and charges the characters that an upstream was given: all of them, whether anybody listens to
 * the end or not. Never throws what the upstream does.
 */
export async function runSpeech(parts: SpeakParts, speech: CheckedSpeech, options: SpeechOptions): Promise<SpeechEnd> {
  const { claim, hungUp } = options;
  const stopRenewing = claim === null ? null : renewClaim(parts, claim);
  const caller = followSpeechCaller(hungUp, () => parts.drainedCalls.take(speech.caller.accountId));
  const kept: Uint8Array[] = [];
  let audio: SpeechAudio | null = null;
  let bytes = 0;
  let failure: AppError | null = null;
  try {
    audio = await startSpeech(parts, speech, caller);
    caller.begin();
    for await (const chunk of audio.chunks) {
      if (hungUp.aborted) break;
      bytes += chunk.length;
      if (claim !== null && bytes <= keptBytesMax) kept.push(chunk);
      await options.write(chunk);
    }
    if (bytes === 0) failure = toCallerError(new ProviderError("bad-answer", "No audio came."));
  } catch (error) {
    failure = error instanceof AppError ? error : toCallerError(toProviderError(error));
  }
  const hasHungUp = hungUp.aborted;
  const isGiven = hasHungUp ? audio !== null || caller.isForfeit() : bytes > 0;
  const spoken = isGiven ? countSpoken(speech.request, { audio, hasFailed: failure !== null && !hasHungUp }) : 0n;
  try {
    const charge = await conclude(parts, speech, { ...options, kept, bytes, spoken, failure });
    return { spoken, charge, failure, hasHungUp };
  } finally {
    stopRenewing?.();
    caller.end();
    leave(parts, speech);
  }
}

type Conclusion = SpeechOptions & { kept: Uint8Array[]; bytes: number; spoken: bigint; failure: AppError | null };

/** With a key, the charge and the answer become durable together. A text that broke off is never said again. */
async function conclude(parts: SpeakParts, speech: CheckedSpeech, end: Conclusion): Promise<Nano> {
  const { claim, spoken, bytes, failure } = end;
  const hasHungUp = end.hungUp.aborted;
  if (claim === null) return await settleSpeech(parts, speech, { spoken, hasHungUp, tx: null });
  return await parts.database.transaction().execute(async (tx) => {
    await lockClaim(tx, claim);
    const charge = await settleSpeech(parts, speech, { spoken, hasHungUp, tx });
    if (bytes === 0) await freeKey(tx, claim);
    else await keepAnswer(tx, claim, describeAnswer(end, charge));
    return failure === null || bytes > 0 ? charge : nothing;
  });
}

function describeAnswer(
  { contentType, kept, bytes, spoken, failure, presentFailure }: Conclusion,
  charge: Nano,
): KeptAnswer {
  const summary = `It said ${spoken} characters and cost ${presentMoney(charge)}.`;
  if (failure !== null) {
    const { status, body } = presentFailure(failure);
    return { status, contentType: "application/json; charset=utf-8", body: Buffer.from(JSON.stringify(body)), summary };
  }
  return { status: 200, contentType, body: bytes <= keptBytesMax ? Buffer.concat(kept) : null, summary };
}

/** Sets aside what the whole text costs, or throws what is missing. */
async function holdSpeech(
  parts: SpeakParts,
  { caller, requestId, terms, holdId, targets }: CheckedSpeech,
): Promise<void> {
  if (holdId === null) return;
  const held = priceTask(terms);
  const lifeMs = Math.max(0, ...targets.map(({ timeoutMs }) => timeoutMs)) * attemptsMax + marginMs;
  const result = await parts.ledger.apply({
    kind: "hold",
    id: holdId,
    accountId: caller.accountId,
    amount: held,
    quota: { kind: terms.quota.kind, units: terms.quota.unitsMax },
    keyId: caller.keyId,
    budget: caller.budget,
    cause: { kind: "request", id: requestId },
    expiresAt: new Date(parts.clock.now().getTime() + lifeMs),
  });
  if (result.kind === "refused") throw explainRefusedHold(result, { held, currency: parts.currency });
  if (result.kind !== "held") throw new Error(`a new hold was answered with ${result.kind}`);
}

/** An upstream that broke off may know how far it came; else it was given all of the text. */
function countSpoken(
  { text }: SpeechRequest,
  { audio, hasFailed }: { audio: SpeechAudio | null; hasFailed: boolean },
): bigint {
  const all = countCharacters(text);
  const spoken = hasFailed ? (audio?.spokenCharacters?.() ?? all) : all;
  return BigInt(Math.min(spoken, all));
}

/** Charges what was said, by itself or in somebody's transaction; nothing said costs nothing. */
async function settleSpeech(
  parts: SpeakParts,
  { caller, terms, holdId }: CheckedSpeech,
  { spoken, hasHungUp, tx }: { spoken: bigint; hasHungUp: boolean; tx: Database | null },
): Promise<Nano> {
  if (holdId === null) return nothing;
  const { accountId } = caller;
  const now = parts.clock.now();
  if (spoken === 0n) {
    const release: ReleaseOperation = { kind: "release", accountId, holdId };
    await (tx === null ? parts.ledger.apply(release) : releaseHold(tx, release, now));
    return nothing;
  }
  const units = terms.counts === "characters" ? spoken : terms.unitsMax;
  const settle: SettleOperation = {
    kind: "settle",
    accountId,
    holdId,
    bill: hasHungUp ? markHungUp(billTask(terms, units)) : billTask(terms, units),
    overrun: "take-available",
    budgetAmount: terms.budgetAmount,
  };
  const result = await (tx === null ? parts.ledger.apply(settle) : settleHold(tx, settle, now));
  if (result.kind !== "settled") throw new Error(`the hold ${holdId} could not be settled: ${result.kind}`);
  return result.unit === "money" ? nano(result.paid) : nothing;
}

function markHungUp(bill: Bill): Bill {
  return { ...bill, items: [...bill.items, hungUpMark] };
}
