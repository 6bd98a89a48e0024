import { readWhole } from "./open-exchange.ts";
import { createUpstreamClient } from "./upstream-client.ts";

type JsonQuestion = {
  url: URL;
  method: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
};

const bytesMax = 256 * 1024;
const connectTimeoutMs = 5000;
const timeouts = { headMs: 10_000, idleMs: 10_000, totalMs: 15_000 };

/**
 * Asks a server that an operator named, for something small that is asked for rarely: no connection is kept, no
 * redirect followed. Throws an `ExchangeError`, a `SyntaxError` or the reason of the signal.
 */
export async function askJson({ url, method, headers = {}, body, signal }: JsonQuestion): Promise<{
  status: number;
  value: unknown;
}> {
  const client = createUpstreamClient({ origin: url.origin, connectionsMax: 1, connectTimeoutMs });
  try {
    const answer = await client.send({
      method,
      path: url.pathname + url.search,
      headers: { accept: "application/json", "accept-encoding": "identity", "user-agent": "Sluice", ...headers },
      body: body ?? null,
      timeouts,
      signal,
      connection: "fresh",
    });
    return { status: answer.status, value: JSON.parse((await readWhole(answer, { bytesMax })).toString("utf8")) };
  } finally {
    await client.close();
  }
}
