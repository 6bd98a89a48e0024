import type { Operation } from "./operation.ts";

/**
 * How an operation ended for its caller.
 *
 * | ending   | what the caller saw                                                                    |
 * |----------|----------------------------------------------------------------------------------------|
 * | open     | nothing final yet                                                                      |
 * | answered | the whole answer                                                                       |
 * | broken   | an answer that was ended by an error after it had begun                                |
 * | refused  | an error; with a key only where sending it again cannot help                           |
 * | cut      | a connection that broke, or silence; only without a key, since with one it is sent again |
 * | task     | the task's final state                                                                 |
 */
export type Ending =
  | { kind: "open" }
  | { kind: "answered"; requestId: string; call: number; text: string }
  | { kind: "broken"; requestId: string | null; text: string }
  | { kind: "refused"; status: number; text: string }
  | { kind: "cut"; requestId: string | null }
  | { kind: "task"; state: string; charge: string };

/** A caller's record of one operation. */
export type Entry = {
  operation: Operation;
  sent: number;
  ending: Ending;
  /** Every task id that was returned for its key; more than one is wrong. */
  taskIds: Set<string>;
  lastTrouble: string;
};

/** Status 0 means no answer. */
export type Received = { status: number; text: string; isSent: boolean; isWhole: boolean; isReplay: boolean };

/** The ending that an answer to a chat call means; `null` if it must be retried. */
export function readChatEnding(entry: Entry, received: Received, isStream: boolean): Ending | null {
  const { status, text, isWhole } = received;
  const isKeyed = entry.operation.kind.startsWith("keyed");
  const requestId = readRequestId(text);
  if (status === 0 || !isWhole) return isKeyed ? null : { kind: "cut", requestId };
  if (status !== 200) return isKeyed && mayPass(status) ? null : { kind: "refused", status, text };
  const call = Number(/Call (\d+)/.exec(joinContent(text, isStream))?.[1] ?? Number.NaN);
  const isComplete = isStream ? text.endsWith("data: [DONE]\n\n") : text.endsWith("}");
  if (isComplete && requestId !== null && !Number.isNaN(call)) return { kind: "answered", requestId, call, text };
  return { kind: "broken", requestId, text };
}

/** Still running under its key, rate limited, or a server error: all of them are temporary. */
export function mayPass(status: number): boolean {
  return status === 409 || status === 429 || status >= 500;
}

function readRequestId(text: string): string | null {
  const id = /"id":"chatcmpl-([^"]+)"/.exec(text)?.[1];
  return id === undefined ? null : `req_${id}`;
}

/** Joins the pieces of a stream, however it is split. */
function joinContent(text: string, isStream: boolean): string {
  if (!isStream) return text;
  return [...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join("");
}
