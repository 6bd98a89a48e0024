import { type ChangeKind, changeKinds, parseKinds } from "./change-kinds.ts";
import { computeBackoffMs } from "./compute-backoff.ts";
import { ApiError, api, ask, connection } from "./console-api.ts";
import type { LiveState } from "./live-state.ts";
import { readEventStream } from "./read-event-stream.ts";

export type ChangeHandlers = {
  onState(state: LiveState): void;
  onChange(kinds: readonly ChangeKind[]): void;
};

/** The server sends a keep-alive every 15 s. A stream silent for longer is dead. */
const silenceMsMax = 45_000;
/** Wait when the server rejects another stream. */
const refusedPauseMs = 60_000;

/**
 * Reads the stream of changes and reopens it until aborted. Each stream starts by reporting all kinds as changed, since
 * changes between two streams are missed. Stops when the session has ended.
 */
export async function followChanges(signal: AbortSignal, { onState, onChange }: ChangeHandlers): Promise<void> {
  let hasBeenLive = false;
  let failures = 0;
  while (!signal.aborted) {
    try {
      await readChanges(signal, {
        onChange,
        onState(state) {
          hasBeenLive = true;
          failures = 0;
          onState(state);
          onChange(changeKinds);
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      const status = error instanceof ApiError ? error.status : 0;
      if (status === 401) {
        onState("off");
        // The pages' own requests redirect to sign-in.
        return onChange(changeKinds);
      }
      failures += 1;
      connection.suspect();
      onState(hasBeenLive && status !== 429 ? "broken" : "off");
      if (status === 429) await pause(refusedPauseMs, signal);
    }
    if (!signal.aborted) await pause(computeBackoffMs(failures, Math.random), signal);
  }
}

async function readChanges(signal: AbortSignal, { onState, onChange }: ChangeHandlers): Promise<void> {
  const silent = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hear = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), silenceMsMax);
  };
  try {
    hear();
    const stream = await ask(
      api.GET("/changes", { parseAs: "stream", signal: AbortSignal.any([signal, silent.signal]) }),
    );
    if (stream === null || stream === undefined) return;
    onState("live");
    for await (const { event, data } of readEventStream(stream, hear)) {
      // Any other error ends the stream and triggers a reconnect.
      if (event !== "change") return;
      onChange(parseKinds(data));
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Ends early when the server is reachable again. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      unsubscribe();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const unsubscribe = connection.subscribe(() => connection.getState() === "connected" && end());
    signal.addEventListener("abort", end);
  });
}
