import { useEffect, useState } from "react";
import { api, ask } from "../../api/console-api.ts";

/** Long enough that a typed word is one request. */
const restMs = 500;
/** Larger requests, with images inside, are not sent just for a price. */
const charactersMax = 200_000;
/** So that a quote does not expire on the way. */
const spareMs = 30_000;

const askQuote = (path: string, request: Record<string, unknown>, signal: AbortSignal) =>
  ask(api.POST("/quote", { body: { path, request }, signal }));

export type Quote = Awaited<ReturnType<typeof askQuote>>;

type Answered = { text: string; quote: Quote | null; error: Error | null };

export type QuoteState = {
  /** Of this request, or of the one before while a new one is asked for, so that nothing flickers. */
  quote: Quote | null;
  error: Error | null;
  /** Caps the charge of exactly this request; `null` if there is none that is still valid. */
  findId(): string | null;
};

/** What a request would cost, asked for after the last change. `null`: nothing to ask for yet. */
export function useQuote(path: string, request: Record<string, unknown> | null): QuoteState {
  const written = request === null ? null : JSON.stringify(request);
  const text = written === null || written.length > charactersMax ? null : written;
  const [answered, setAnswered] = useState<Answered | null>(null);
  useEffect(() => {
    if (text === null) return setAnswered(null);
    const stopper = new AbortController();
    const timer = setTimeout(() => {
      askQuote(path, JSON.parse(text), stopper.signal).then(
        (quote) => setAnswered({ text, quote, error: null }),
        (error) => {
          if (!stopper.signal.aborted) setAnswered({ text, quote: null, error });
        },
      );
    }, restMs);
    return () => {
      clearTimeout(timer);
      stopper.abort();
    };
  }, [path, text]);
  const { quote = null, error = null } = answered ?? {};
  return {
    quote,
    error,
    findId() {
      const isCurrent = quote !== null && answered?.text === text;
      return isCurrent && Date.parse(quote.expires_at) - spareMs > Date.now() ? quote.id : null;
    },
  };
}
