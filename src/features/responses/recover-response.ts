import { AppError } from "../../platform/errors/app-error.ts";
import { getErrorEntry } from "../../platform/errors/error-table.ts";
import { type BackgroundOrder, numbersPerRun, prepareAgain, type Running, startRun } from "./background-run.ts";
import type { FinishedResponse } from "./present-response.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import { writeEvent } from "./response-output.ts";
import { type AbandonedResponse, endResponse, type ResponseEnd } from "./response-store.ts";
import { addToConversation, type SavedRequest } from "./save-response.ts";

/** Bounds the runs of a response that ends its process each time. */
const runsMax = 5;

/**
 * Runs a response again whose lease was taken over, or stores the end of its last run if that was charged. The upstream may
 * get the request again: nothing else can recover an answer that only the dead process received. Throws if a later try may
 * succeed.
 */
export async function recoverResponse(
  dependencies: ResponseDependencies,
  abandoned: AbandonedResponse,
  watch: (order: BackgroundOrder, one: Running) => void,
): Promise<void> {
  const { database, logger } = dependencies;
  const { id, work, run } = abandoned;
  if (work === null || run > runsMax) {
    const reason = "The gateway stopped before the response was complete.";
    await endResponse(database, abandoned, describeLost(abandoned, reason));
    return;
  }
  try {
    const order = await prepareAgain(dependencies, { ...abandoned, work });
    const started = await startRun(dependencies, order, abandoned);
    logger.warn({ response_id: id, run, outcome: started.kind }, "background response recovered");
    if (started.kind === "running") watch(order, started.one);
    else await saveRecovered(dependencies, abandoned, { saved: order.saved, finished: started.finished });
  } catch (error) {
    // The lease ends, and the next sweep tries again.
    if (!(error instanceof AppError) || getErrorEntry(error.code).isRetryable) throw error;
    await endResponse(database, abandoned, describeLost(abandoned, error.message));
  }
}

async function saveRecovered(
  { database, clock, retentionMs }: ResponseDependencies,
  abandoned: AbandonedResponse,
  { saved, finished }: { saved: SavedRequest; finished: FinishedResponse | null },
): Promise<void> {
  const reason = "The gateway stopped after the response was charged, and its text is lost.";
  const end = finished === null ? describeLost(abandoned, reason) : describeRecovered(abandoned, finished);
  await database.transaction().execute(async (tx) => {
    const isOpen = await endResponse(tx, abandoned, end);
    if (!isOpen || finished === null) return;
    await addToConversation(tx, saved, finished, { now: clock.now(), retentionMs });
  });
}

/** A response that cannot be run again. */
function describeLost(abandoned: AbandonedResponse, reason: string): ResponseEnd {
  const error = { code: "server_error", message: `${reason} Create the response again.` };
  const body = JSON.stringify({ ...JSON.parse(abandoned.body), status: "failed", error });
  return describeRecovered(abandoned, { status: "failed", body, itemIds: [] });
}

/** The end of an earlier run. Its last event contains the whole response. */
function describeRecovered(
  { events, run }: AbandonedResponse,
  { status, body, itemIds }: FinishedResponse,
): ResponseEnd {
  const last = writeEvent(`response.${status}`, run * numbersPerRun, `"response":${body}`);
  return { state: status, body, itemIds, events: events === null ? null : events + last };
}
