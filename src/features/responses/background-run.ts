import { hash } from "node:crypto";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { AppError } from "../../platform/errors/app-error.ts";
import { type CallFacts, createFacts, type SeenLimits } from "../../platform/http/request-context.ts";
import type { Span } from "../../platform/tracing/span.ts";
import type { BegunCall, CallEnd } from "../calls/index.ts";
import type { ChatKinds } from "../chat/index.ts";
import { type Claim, type KeptAnswer, keptBytesMax } from "../idempotency/index.ts";
import { openConversation, RequestedResponse } from "./create-response.ts";
import { createEventLog, type EventLog } from "./event-log.ts";
import { hasHistory, loadConversation } from "./load-conversation.ts";
import { loadFiles } from "./load-files.ts";
import type { PreparedResponse } from "./prepare-response.ts";
import type { FinishedResponse } from "./present-response.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import { nameRequest } from "./response-envelope.ts";
import type { ResponseRequest } from "./response-request.ts";
import type { AbandonedResponse, ResponseLease } from "./response-store.ts";
import type { SavedRequest } from "./save-response.ts";

/**
 * One run of a background response. All runs claim one idempotency key: a run of a dead process is taken over and its hold
 * released, and the end of a run is stored with its charge. So a response is charged at most once, whatever its process does.
 */

export type BackgroundOrder = PreparedResponse & {
  saved: SavedRequest;
  limits: SeenLimits | null;
  span: Span | null;
  /** Filled in when the response ends. */
  facts: CallFacts;
};

export type Running = ResponseLease & {
  saved: SavedRequest;
  call: BegunCall<ChatKinds>;
  log: EventLog | null;
  claim: Claim;
};

/** A run that started, or the end of an earlier run that was charged but not recorded. */
type StartedRun = { kind: "running"; one: Running } | { kind: "ended"; finished: FinishedResponse | null };

/** Above all numbers that a reader may have seen of an earlier run. */
export const numbersPerRun = 1_000_000;
/** The assumed size of a response before it is written. */
const bytesUsual = 4096;
const jsonType = "application/json";

/** Claims the response's key and starts its call. Throws if a limit, the balance or a live process does not allow it. */
export async function startRun(
  { calls, ids }: Pick<ResponseDependencies, "calls" | "ids">,
  order: BackgroundOrder,
  lease: ResponseLease,
): Promise<StartedRun> {
  const { presenter, plan, saved } = order;
  const { accountId, id } = lease;
  const claim: Claim = { accountId, key: `response ${id}`, requestId: ids.next("req") };
  const log = presenter.form === "events" ? createEventLog(lease.run * numbersPerRun) : null;
  const begun = await calls.begin(plan, {
    listener: log && createListener(presenter, log),
    ...{ limits: order.limits, span: order.span },
    run: { key: claim.key, fingerprint: hash("sha256", id, "buffer"), runId: claim.requestId },
    kept: {
      bytes: () => bytesUsual + (log?.text().length ?? 0),
      describe: (end: CallEnd<ChatKinds>) => keepFinished(presenter.describeEnd(end)),
      describeFault: (failure: AppError) => keepFinished(presenter.describeFailure(failure)),
    },
  });
  if (begun.kind === "answered") return { kind: "ended", finished: readFinished(begun.answer) };
  return { kind: "running", one: { ...lease, saved, call: begun.call, log, claim } };
}

function createListener(presenter: PreparedResponse["presenter"], log: EventLog) {
  return {
    onAccepted: () => {},
    onPieces: (pieces: readonly ChatKinds["delta"][]) => {
      log.add(presenter.presentPieces(pieces));
      return true;
    },
    onCut: () => log.add(presenter.presentCut()),
  };
}

function keepFinished(finished: FinishedResponse): KeptAnswer {
  const body = Buffer.from(JSON.stringify(finished));
  const isSmall = body.length <= keptBytesMax;
  return { status: 200, contentType: jsonType, body: isSmall ? body : null, summary: finished.status };
}

/** `null` if it was too large to store. */
function readFinished({ body }: KeptAnswer): FinishedResponse | null {
  return body === null ? null : (JSON.parse(body.toString()) as FinishedResponse);
}

type StoredWork = {
  request: ResponseRequest;
  bodyBytes: number;
  keyId: KeyId;
  /** The most that was quoted, in billionths; all runs keep it. */
  quoted?: string;
};

/** What another process needs to run a response again. */
export function writeWork(
  { saved: { request, caller }, plan: { quoted } }: Pick<BackgroundOrder, "saved" | "plan">,
  bodyBytes: number,
): string {
  const work: StoredWork = { request, bodyBytes, keyId: caller.keyId };
  return JSON.stringify(quoted === undefined ? work : { ...work, quoted: String(quoted) });
}

/** Prepares an abandoned response from its stored work. A conversation is read again, as it is now. */
export async function prepareAgain(
  dependencies: ResponseDependencies,
  { accountId, id, work, body }: AbandonedResponse & { work: string },
): Promise<BackgroundOrder> {
  const { request, bodyBytes, keyId, quoted } = JSON.parse(work) as StoredWork;
  const caller = await dependencies.getKeyCaller(keyId);
  const conversation = await openInput(dependencies, accountId, request);
  // As answered: the row was written a moment later.
  const { created_at: createdAt } = JSON.parse(body) as { created_at: number };
  const requested = new RequestedResponse(dependencies, conversation, new Date(createdAt * 1000));
  const incoming = { caller, body: request, bodyBytes, requestId: nameRequest(id) };
  const prepared = requested.prepareSaved(incoming);
  if (quoted !== undefined) prepared.plan.quoted = nano(BigInt(quoted));
  const facts = createFacts({ model: prepared.plan.modelId, isOpen: true, isBackground: true });
  return { ...prepared, limits: null, span: null, facts };
}

/** The whole input of a request, with the content of uploaded files. */
export async function openInput(
  dependencies: ResponseDependencies,
  accountId: AccountId,
  request: ResponseRequest,
): ReturnType<typeof loadConversation> {
  return await loadFiles(dependencies, accountId, await openHistory(dependencies, accountId, request));
}

/** The whole conversation of a request. */
export async function openHistory(
  dependencies: ResponseDependencies,
  accountId: AccountId,
  request: ResponseRequest,
): ReturnType<typeof loadConversation> {
  return hasHistory(request) ? await loadConversation(dependencies, accountId, request) : openConversation(request);
}
