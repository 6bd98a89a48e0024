export type SignedEvent = { headers: Record<string, string>; body: string };

/** The local program's response, or the error. */
export type ForwardOutcome = { status: number | null; error: string | null; duration_ms: number };

const timeoutMs = 15_000;

/** Forwards the body unchanged, because the signature covers its bytes. */
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
    // Keep listening: a server under development is often down.
    return { status: null, error: describe(error), duration_ms: measure() };
  }
}

function describe(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return "no response within 15 seconds";
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? `cannot connect (${cause.code})` : "cannot connect";
}
