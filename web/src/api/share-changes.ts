import { type ChangeKind, changeKinds } from "./change-kinds.ts";
import { type ChangeHandlers, followChanges } from "./follow-changes.ts";
import type { LiveState } from "./live-state.ts";

type Message = { kind: "ask" } | { kind: "state"; state: LiveState } | { kind: "change"; kinds: readonly ChangeKind[] };

/** A leader that does not answer for so long is a page that the browser has put to sleep. */
const answerMsMax = 3_000;

/**
 * All pages of a browser that have the same name share one stream of changes: the page that holds the lock reads it and
 * tells the others. When that page is closed the browser gives the lock to another. Browsers have locks on https and on
 * this computer only; elsewhere each page that is looked at has a stream of its own. Answers how to leave.
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

  const tell = (message: Message): void => channel.postMessage(message);

  async function lead(signal: AbortSignal): Promise<void> {
    ledState = "off";
    await followChanges(signal, {
      onState(state) {
        ledState = state;
        onState(state);
        tell({ kind: "state", state });
      },
      onChange(kinds) {
        onChange(kinds);
        tell({ kind: "change", kinds });
      },
    });
    // Whoever ends for good keeps the lock: the others would not fare better.
    await untilAborted(signal);
  }

  /** Leads once it has the lock, until this page leaves or another takes the lock from it. */
  async function compete(options: LockOptions): Promise<void> {
    const lost = new AbortController();
    try {
      await navigator.locks.request(name, options, () => lead(AbortSignal.any([left, lost.signal])));
    } catch (error) {
      // A browser that gives no locks here gives none the next time; pages ask from time to time then.
      if (!isAbort(error)) return;
    }
    lost.abort();
    ledState = null;
    if (!left.aborted && options.steal !== true) await compete(options);
  }

  /** A page that is asleep keeps its lock, and is to lose it to one that is looked at. */
  function lookForLeader(): void {
    if (document.hidden || ledState !== null) return;
    isAnswered = false;
    tell({ kind: "ask" });
    setTimeout(() => {
      if (!left.aborted && !isAnswered && ledState === null && !document.hidden) void compete({ steal: true });
    }, answerMsMax);
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === "ask") {
      if (ledState !== null) tell({ kind: "state", state: ledState });
      return;
    }
    isAnswered = true;
    // Whatever changed between this page's questions and the first word of another was not heard here.
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
