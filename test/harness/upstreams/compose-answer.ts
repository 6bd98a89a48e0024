import { type Ask, planAnswer } from "./answer-plan.ts";
import type { Behaviour } from "./behaviour.ts";
import { canary } from "./canary.ts";
import { removeFaultWords } from "./fault-words.ts";
import type { VendorRefusal } from "./vendor-refusal.ts";
import type { VendorError, VendorWire, WireEvent } from "./vendor-wire.ts";

/** A serialized answer. Scripts count and delay the writes that contain a piece. */
export type ComposedAnswer = {
  status: number;
  headers: Record<string, string | string[]>;
  writes: readonly AnswerWrite[];
};

export type AnswerWrite = { bytes: Buffer; hasPiece: boolean };

/** The bytes for this request. */
export function composeAnswer(
  wire: VendorWire,
  ask: Ask,
  { behaviour, callNumber }: { behaviour: Behaviour; callNumber: number },
): ComposedAnswer {
  const extra = { ...listScriptedHeaders(behaviour), ...behaviour.headers };
  const compose = (status: number, type: string, writes: readonly AnswerWrite[]): ComposedAnswer => {
    const length = writes.reduce((total, { bytes }) => total + bytes.length, 0);
    // Streams, and answers that may end early, use chunked encoding.
    const isSized = writes.length === 1 && type.startsWith("application/json") && behaviour.isEndless !== true;
    const sized = isSized ? { "content-length": String(length) } : {};
    const headers = {
      "content-type": behaviour.contentType ?? type,
      ...sized,
      ...wire.listHeaders(callNumber),
      ...extra,
    };
    return { status, headers, writes };
  };
  const json = "application/json; charset=utf-8";
  if (behaviour.redirectTo !== undefined) return compose(307, "text/plain", []);
  if (behaviour.body !== undefined) return compose(behaviour.status ?? 200, json, [write(behaviour.body, false)]);
  if (behaviour.status !== undefined) {
    const error = wire.presentError(describeError(behaviour), callNumber);
    return compose(behaviour.status, json, [write(JSON.stringify(error), false)]);
  }
  const isStreamed = behaviour.form === undefined ? ask.isStreamed : behaviour.form === "stream";
  const type = isStreamed ? "text/event-stream; charset=utf-8" : json;
  if (behaviour.rawChunks !== undefined) {
    return { ...compose(200, type, []), writes: behaviour.rawChunks.map((chunk) => write(chunk, true)) };
  }
  const asked = { ...ask, prompt: removeFaultWords(ask.prompt) };
  const plan = planAnswer(asked, behaviour, callNumber);
  const envelope = { ask: asked, behaviour, callNumber };
  if (!isStreamed) {
    const text = JSON.stringify(wire.presentWhole(plan, envelope));
    return compose(200, type, [write(behaviour.isMalformed === true ? text.slice(0, -10) : text, true)]);
  }
  const events = spoilEvents(wire.presentEvents(plan, envelope), { wire, behaviour, callNumber });
  return compose(
    200,
    type,
    events.map((event) => write(formatEvent(event, behaviour), event.kind === "piece")),
  );
}

/** The vendor's own refusal, which no script can turn into an answer. */
export function composeRefusal(wire: VendorWire, refusal: VendorRefusal, callNumber: number): ComposedAnswer {
  const { status, message, code, param } = refusal;
  const error = { status, message: `${message} (${canary})`, code, param, type: null, retryDelay: null };
  const body = write(JSON.stringify(wire.presentError(error, callNumber)), false);
  const headers = { "content-type": "application/json", "content-length": String(body.bytes.length) };
  return { status, headers: { ...headers, ...wire.listHeaders(callNumber) }, writes: [body] };
}

function listScriptedHeaders({ hugeHeaderBytes, redirectTo }: Behaviour): Record<string, string> {
  return {
    ...(hugeHeaderBytes === undefined ? {} : { [`x-${canary}-huge`]: "h".repeat(hugeHeaderBytes) }),
    ...(redirectTo === undefined ? {} : { location: redirectTo }),
  };
}

function describeError({ status = 500, error = {}, retryDelay }: Behaviour): VendorError {
  return {
    status,
    message: `${error.message ?? `Something is wrong with the model at https://api.${canary}.example`} (${canary})`,
    code: error.code ?? null,
    type: error.type ?? null,
    param: error.param ?? null,
    retryDelay: retryDelay ?? null,
  };
}

function spoilEvents(
  events: readonly WireEvent[],
  { wire, behaviour, callNumber }: { wire: VendorWire; behaviour: Behaviour; callNumber: number },
): WireEvent[] {
  const kept = events.filter(({ kind }) => {
    return !(kind === "done" && behaviour.hasNoDone === true) && !(kind === "finish" && behaviour.hasNoFinish === true);
  });
  const firstPieceAt = kept.findIndex(({ kind }) => kind === "piece");
  const written = kept.map((event, at) =>
    behaviour.isMalformed === true && at === firstPieceAt ? { ...event, data: `{"${canary}":` } : event,
  );
  if (behaviour.errorAfterPieces === undefined) return written;
  const pieces = written.flatMap(({ kind }, at) => (kind === "piece" ? [at] : []));
  const errorAt = pieces[behaviour.errorAfterPieces] ?? (pieces.at(-1) ?? written.length - 1) + 1;
  const error = describeError({ error: behaviour.error ?? {}, status: 529 });
  return [...written.slice(0, errorAt), wire.presentErrorEvent(error, callNumber)];
}

function formatEvent({ name, data }: WireEvent, behaviour: Behaviour): string {
  const end = behaviour.lineEnding ?? "\n";
  const colon = behaviour.hasNoSpace === true ? ":" : ": ";
  const comment = behaviour.hasComments === true ? `: ${canary} is thinking${end}${end}` : "";
  const line = name === undefined ? "" : `event${colon}${name}${end}`;
  return `${comment}${line}data${colon}${data}${end}${end}`;
}

function write(text: string | Buffer, hasPiece: boolean): AnswerWrite {
  return { bytes: Buffer.from(text), hasPiece };
}
