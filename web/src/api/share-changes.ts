import { type ChangeKind, changeKinds } from "./change-kinds.ts";
import { type ChangeHandlers, followChanges } from "./follow-changes.ts";
import type { LiveState } from "./live-state.ts";

type Message = { kind: "ask" } | { kind: "state"; state: LiveState } | { kind: "change"; kinds: readonly ChangeKind[] };

/** A leader that does not respond for this long is a tab the browser has suspended. */
const answerMsMax = 3_000;

/**
 * All tabs with the same name share one change stream: the tab that holds the Web Lock reads it and broadcasts to the
 * others. When it closes, the browser grants the lock to another tab. Locks need https or localhost; elsewhere each
 * visible tab opens its own stream. Returns a function that leaves.
 */
export function shareChanges(name: string, handlers: ChangeHandlers): () => void {
  const left = new AbortController();
  if (navigator.locks === undefined) followWhileVisible(left.signal, handlers);
  else joinPages(name, left.signal, handlers);
  return () => left.abort();
}

function joinPages(name: string, left: AbortSignal, { onState, onChange }: ChangeHandlers): void {
  const channel = new BroadcastChannel(name);
  let ledState: LiveState | null = null;
  let isAnswered = false;
  let hasJoined = false;

  const post = (message: Message): void => channel.postMessage(message);

  async function lead(signal: AbortSignal): Promise<void> {
    ledState = "off";
    await followChanges(signal, {
      onState(state) {
        ledState = state;
        onState(state);
        post({ kind: "state", state });
      },
      onChange(kinds) {
        onChange(kinds);
        post({ kind: "change", kinds });
      },
    });
    // Keep the lock after a permanent stop: other tabs would fail the same way.
    await untilAborted(signal);
  }

  /** Leads while it holds the lock, until this tab leaves or another tab steals the lock. */
  async function compete(options: LockOptions): Promise<void> {
    const lost = new AbortController();
    try {
      await navigator.locks.request(name, options, () => lead(AbortSignal.any([left, lost.signal])));
    } catch (error) {
      // Locks that fail once fail again: fall back to polling.
      if (!isAbort(error)) return;
    }
    lost.abort();
    ledState = null;
    if (!left.aborted && options.steal !== true) await compete(options);
  }

  /** A suspended tab keeps its lock, so a visible one steals it. */
  function lookForLeader(): void {
    if (document.hidden || ledState !== null) return;
    isAnswered = false;
    post({ kind: "ask" });
    setTimeout(() => {
      if (!left.aborted && !isAnswered && ledState === null && !document.hidden) void compete({ steal: true });
    }, answerMsMax);
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === "ask") {
      if (ledState !== null) post({ kind: "state", state: ledState });
      return;
    }
    isAnswered = true;
    // Changes between this tab's queries and the leader's first message were missed.
    if (!hasJoined) onChange(changeKinds);
    hasJoined = true;
    if (data.kind === "state") onState(data.state);
    else onChange(data.kinds);
  };
  void compete({ signal: left });
  lookForLeader();
  document.addEventListener("visibilitychange", lookForLeader, { signal: left });
  left.addEventListener("abort", () => {
    channel.close();
    onState("off");
  });
}

function followWhileVisible(left: AbortSignal, handlers: ChangeHandlers): void {
  let hidden = new AbortController();
  const look = (): void => {
    hidden.abort();
    hidden = new AbortController();
    if (document.hidden) handlers.onState("off");
    else void followChanges(AbortSignal.any([left, hidden.signal]), handlers);
  };
  look();
  document.addEventListener("visibilitychange", look, { signal: left });
  left.addEventListener("abort", () => handlers.onState("off"));
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
