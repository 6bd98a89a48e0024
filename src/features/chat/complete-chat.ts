import { hash } from "node:crypto";
import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Roster } from "../../lib/roster.ts";
import { type Soon, whenHere } from "../../lib/soon.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { SeenLimits } from "../../platform/http/request-context.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import {
  type CatalogView,
  getOfferedModel,
  type LiveCatalog,
  type Model,
  type Price,
  presentDeprecation,
} from "../catalog/index.ts";
import { type Claim, type ClaimParts, claimKey, freeKey, type KeptAnswer, recallAnswer } from "../idempotency/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { consumeLimits, correctTokens, type DrainedCalls, returnSlot, type Slot } from "../limits/index.ts";
import { type ChatTarget, listAbleTargets } from "./chat-target.ts";
import { checkChatFields, checkChatRequest } from "./check-chat-request.ts";
import { dropEmptyFields } from "./drop-empty-fields.ts";
import { type InputSize, measureInput } from "./measure-input.ts";
import { decideVisibility } from "./output-visibility.ts";
import { type ChatPayment, type ChatTerms, createChatPayment } from "./pay-chat.ts";
import type { PendingHolds } from "./pending-holds.ts";
import { attemptsMax, type RoutingParts } from "./route-chat.ts";
import { type ChatListener, type ConcludeChat, type RunningChat, runChat } from "./run-chat.ts";

export type ChatParts = RoutingParts & {
  catalog: LiveCatalog;
  ledger: Ledger;
  counters: Counters;
  database: Database;
  clock: Clock;
  ids: IdSource;
  currency: string;
  claims: Pick<ClaimParts, "validityMs" | "releaseHold">;
  /** The calls that are under way. */
  running: Roster<RunningChat>;
  pending: PendingHolds;
  drainedCalls: DrainedCalls;
  listTargets(view: CatalogView, modelId: string): ChatTarget[];
  /** What became of a call whose caller was gone: its line in the log had been written by then. */
  onHungUp(fields: Record<string, unknown>): void;
  onTrouble(error: unknown): void;
};

export type IncomingChat = {
  caller: Caller;
  request: ChatRequest;
  bodyBytes: number;
  requestId: string;
  keyed: KeyedRequest | null;
};

/** For a call that may be sent again: its key, and the bytes that make it the same call. */
export type KeyedRequest = { key: string; rawBody: Buffer };

/** A call that was found good: its model, its price and where it can go. */
export type CheckedChat = IncomingChat & {
  model: Model;
  /** What the answer's head tells beside the limits. */
  headers: Record<string, string>;
  size: InputSize;
  targets: ChatTarget[];
  terms: ChatTerms;
  payment: ChatPayment;
};

/** As much output is on hold from the start where neither caller nor catalog says otherwise. */
const usualOutputTokens = 4096;
const marginMs = 5 * 60_000;

/**
 * What a call with a key was answered before. It comes before everything else: what was done is done, whatever the
 * catalog says today.
 */
export async function recallChat(
  parts: ChatParts,
  { caller }: IncomingChat,
  { key, rawBody }: KeyedRequest,
): Promise<KeptAnswer | null> {
  return await recallAnswer(parts, { accountId: caller.accountId, key, fingerprint: fingerprint(rawBody) });
}

/** Everything about a call that can be known before anything happens. Throws what is wrong with it. */
export function checkChat(parts: ChatParts, incoming: IncomingChat): CheckedChat {
  const { request, caller, requestId } = incoming;
  const view = parts.catalog.current();
  const offered = getOfferedModel(view, request.model, caller, parts.clock.now());
  const { model } = offered;
  const seen = checkChatFields(request, model);
  dropEmptyFields(request, model, seen);
  const size = measureInput(request, incoming.bodyBytes);
  checkChatRequest(request, model, size);
  const able = listAbleTargets(parts.listTargets(view, model.id), request);
  if (able.kind === "unable") {
    throw new AppError("unsupported_capability", able.obstacle.message, { param: able.obstacle.param });
  }
  const { targets } = able;
  const terms = decideTerms(model, getPrice(offered.prices), { request, size, targets });
  const payment = createChatPayment(parts, terms, { caller, requestId });
  const { bodyBytes, keyed } = incoming;
  const headers = presentDeprecation(offered);
  return { caller, request, bodyBytes, requestId, keyed, model, size, targets, terms, payment, headers };
}

/** A model is offered only with a price; of several, chat has the one that is for no other capability. */
function getPrice(prices: readonly Price[]): Price {
  const price = prices.find(({ capability }) => capability === null || capability === "chat") ?? prices[0];
  invariant(price !== undefined, "a model was offered without a price");
  return price;
}

function decideTerms(
  model: Model,
  price: Price,
  { request, size, targets }: { request: ChatRequest; size: InputSize; targets: readonly ChatTarget[] },
): ChatTerms {
  const { limits, usual_output_tokens: usual = usualOutputTokens } = model;
  const choices = request.n ?? 1;
  const asked = request.max_completion_tokens ?? request.max_tokens ?? null;
  const outputMax = asked ?? limits.max_output_tokens ?? usual;
  let totalMs = 0;
  for (const { timeouts } of targets) totalMs = Math.max(totalMs, timeouts.totalMs);
  return {
    price,
    // No upstream reads more than fits.
    inputTokensMax: Math.min(size.tokensMax, limits.context_window ?? size.tokensMax),
    outputTokensMax: outputMax * choices,
    outputTokensUsual: Math.min(outputMax, usual) * choices,
    ...decideVisibility(model, request, targets),
    choices,
    holdMs: totalMs * attemptsMax + marginMs,
  };
}

export type Admission =
  | { kind: "admitted"; claim: Claim | null; limits: SeenLimits }
  | { kind: "answered"; answer: KeptAnswer };

/** Claims the call's key, if it has one, and takes what it needs of the caller's limits, or finds that it has been answered. */
export function admitChat(parts: ChatParts, chat: CheckedChat, seen: SeenLimits | undefined): Soon<Admission> {
  if (chat.keyed !== null) return admitKeyed(parts, chat, chat.keyed, seen);
  return whenHere(takeLimits(parts, chat, seen), (limits) => ({ kind: "admitted", claim: null, limits }));
}

async function admitKeyed(
  parts: ChatParts,
  chat: CheckedChat,
  { key, rawBody }: KeyedRequest,
  seen: SeenLimits | undefined,
): Promise<Admission> {
  const outcome = await claimKey(
    { ...parts, ...parts.claims },
    {
      accountId: chat.caller.accountId,
      key,
      requestId: chat.requestId,
      fingerprint: fingerprint(rawBody),
      holdId: chat.payment.holdId,
    },
  );
  if (outcome.kind === "answered") return outcome;
  const { claim } = outcome;
  try {
    return { kind: "admitted", claim, limits: await takeLimits(parts, chat, seen) };
  } catch (error) {
    await freeKey(parts.database, claim);
    throw error;
  }
}

function takeLimits(parts: ChatParts, chat: CheckedChat, seen: SeenLimits | undefined): Soon<SeenLimits> {
  return consumeLimits(parts.counters, chat.caller, { tokens: countDemand(chat), slot: getSlot(chat) }, seen);
}

/** Of the method, the path and the bytes as they were sent. */
function fingerprint(rawBody: Buffer): Buffer {
  return hash("sha256", Buffer.concat([Buffer.from("POST /v1/chat/completions\n"), rawBody]), "buffer");
}

/** Runs an admitted call; when it ends, the limits are told what it really used. */
export function startChat(
  parts: ChatParts,
  chat: CheckedChat,
  { listener, conclude }: { listener: ChatListener | null; conclude: ConcludeChat | null },
): RunningChat {
  const { payment, request, size, targets, terms } = chat;
  const { outputTokensMax, choices, isVisible } = terms;
  // It ends in a later turn than it began, at the earliest.
  let strikeOut: () => void = () => {};
  const onOver = (tokensUsed: number): void => {
    strikeOut();
    giveBack(parts, chat, tokensUsed);
  };
  const order = { request, size, targets, payment, outputTokensMax, choices, isVisible };
  const takeDrainPlace = (): (() => void) | null => parts.drainedCalls.take(chat.caller.accountId);
  const running = runChat(parts, order, { listener, conclude, onOver, takeDrainPlace });
  strikeOut = parts.running.add(running);
  return running;
}

function giveBack(parts: ChatParts, chat: CheckedChat, tokensUsed: number): void {
  correctTokens(parts.counters, chat.caller, tokensUsed - countDemand(chat))?.catch(parts.onTrouble);
  returnSlot(parts.counters, chat.caller, getSlot(chat))?.catch(parts.onTrouble);
}

function countDemand({ size, terms }: CheckedChat): number {
  return size.tokensLikely + terms.outputTokensUsual;
}

function getSlot({ requestId, terms }: CheckedChat): Slot {
  return { use: "request", id: requestId, ttlMs: terms.holdMs };
}
