export type SignedEvent = { headers: Record<string, string>; body: string };

/** What the program on this machine answered, or why it did not. */
export type ForwardOutcome = { status: number | null; error: string | null; duration_ms: number };

const timeoutMs = 15_000;

/** Byte for byte as it came: the signature is over the body. */
export async function forwardEvent(url: string, event: SignedEvent, signal: AbortSignal): Promise<ForwardOutcome> {
  const startedMs = performance.now();
  const measure = (): number => Math.round(performance.now() - startedMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: event.headers,
      body: event.body,
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return { status: response.status, error: null, duration_ms: measure() };
  } catch (error) {
    if (signal.aborted) throw error;
    // The listening goes on: a server that is being written is often not there.
    return { status: null, error: describe(error), duration_ms: measure() };
  }
}

function describe(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return "no answer within 15 seconds";
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? `not reached (${cause.code})` : "not reached";
}
