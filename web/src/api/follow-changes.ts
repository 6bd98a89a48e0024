import { type ChangeKind, changeKinds, parseKinds } from "./change-kinds.ts";
import { computeBackoffMs } from "./compute-backoff.ts";
import { ApiError, api, ask, connection } from "./console-api.ts";
import type { LiveState } from "./live-state.ts";
import { readEventStream } from "./read-event-stream.ts";

export type ChangeHandlers = {
  onState(state: LiveState): void;
  onChange(kinds: readonly ChangeKind[]): void;
};

/** The server says something every 15 s; a stream that is silent for longer is dead, whatever the network says. */
const silenceMsMax = 45_000;
/** Where there is no room for another stream. */
const refusedPauseMs = 60_000;

/**
 * Reads the stream of changes, and opens it again whenever it ends, until the signal says so. Between two streams
 * anything may have changed, so that each begins with all kinds. Ends by itself where nobody is signed in any more.
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
        // The pages find out by themselves, and lead to sign-in.
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
      // Anything else is the reason for which the stream ends.
      if (event !== "change") return;
      onChange(parseKinds(data));
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Ends early when the server is back after it was away. */
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
