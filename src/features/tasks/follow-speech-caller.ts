/** What becomes of the upstream of a text when its caller hangs up. */
export type SpeechCaller = {
  /** Aborted when the upstream is to be stopped. */
  upstreamSignal: AbortSignal;
  hasHungUp(): boolean;
  /** The first audio is there: from now on the upstream is stopped as soon as nobody listens. */
  begin(): void;
  /** Nobody will hear whether the upstream took the text: it is charged as if it had. */
  isForfeit(): boolean;
  /** The call is over. */
  end(): void;
};

/**
 * Before the first audio nobody knows whether the upstream has taken the text, so it is waited for, also for nobody; the
 * places for that are limited.
 */
export function followSpeechCaller(hungUp: AbortSignal, takeDrainPlace: () => (() => void) | null): SpeechCaller {
  const upstream = new AbortController();
  let state: "waiting" | "begun" | "forfeit" = "waiting";
  let leavePlace: (() => void) | null = null;

  function leave(): void {
    if (state === "waiting") leavePlace = takeDrainPlace();
    if (leavePlace !== null) return;
    if (state === "waiting") state = "forfeit";
    upstream.abort();
  }

  hungUp.addEventListener("abort", leave, { once: true });
  return {
    upstreamSignal: upstream.signal,
    hasHungUp: () => hungUp.aborted,
    begin() {
      if (state === "waiting") state = "begun";
      if (hungUp.aborted) upstream.abort();
    },
    isForfeit: () => state === "forfeit",
    end() {
      hungUp.removeEventListener("abort", leave);
      leavePlace?.();
    },
  };
}
