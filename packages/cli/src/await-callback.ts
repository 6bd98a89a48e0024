import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type CallbackAnswer = { kind: "code"; code: string } | { kind: "refused" };

export type CallbackListener = {
  redirectUri: string;
  /** The callback's parameters. Rejects on abort. */
  answer(signal: AbortSignal): Promise<CallbackAnswer>;
  close(): Promise<void>;
};

const connectionsMax = 20;
const headersTimeoutMs = 10_000;

/**
 * Waits on the loopback interface for the browser's callback. Requests without the right `state` are ignored; the first
 * valid one is answered.
 */
export async function listenForCallback(state: string): Promise<CallbackListener> {
  const arrived = createDeferred<CallbackAnswer>();
  let isAnswered = false;
  const server = createServer(
    { headersTimeout: headersTimeoutMs, requestTimeout: headersTimeoutMs },
    (request, response) => {
      const answer = isAnswered ? null : readCallback(request, { state, port: getPort() });
      if (answer === null) return refuse(response);
      isAnswered = true;
      showPage(response, answer);
      arrived.resolve(answer);
    },
  );
  const getPort = (): number => (server.address() as AddressInfo).port;
  server.maxConnections = connectionsMax;
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    redirectUri: `http://127.0.0.1:${getPort()}/callback`,
    async answer(signal) {
      const stopped = createDeferred<never>();
      const stop = (): void => stopped.reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      try {
        return await Promise.race([arrived.promise, stopped.promise]);
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), 500);
      await closed;
      clearTimeout(cut);
    },
  };
}

function createDeferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  return { promise, resolve, reject };
}

/** `null` for any other request. */
function readCallback(
  request: IncomingMessage,
  { state, port }: { state: string; port: number },
): CallbackAnswer | null {
  // DNS rebinding: check the Host header.
  const isOurName = [`127.0.0.1:${port}`, `localhost:${port}`].includes(request.headers.host ?? "");
  if (request.method !== "GET" || !isOurName) return null;
  const url = URL.canParse(request.url ?? "", "http://127.0.0.1")
    ? new URL(request.url ?? "", "http://127.0.0.1")
    : null;
  if (url?.pathname !== "/callback" || !isSame(url.searchParams.get("state") ?? "", state)) return null;
  const code = url.searchParams.get("code");
  if (code !== null && code !== "") return { kind: "code", code };
  return url.searchParams.has("error") ? { kind: "refused" } : null;
}

/** Constant time. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function refuse(response: ServerResponse): void {
  response.writeHead(404, { "content-type": "text/plain", connection: "close" }).end("There is nothing here.\n");
}

const style =
  "body{font:18px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:28em;padding:0 1em;color-scheme:light dark}";
const script = "window.close()";

function showPage(response: ServerResponse, { kind }: CallbackAnswer): void {
  const [title, sentence] =
    kind === "code"
      ? ["Back to the terminal", "You are signed in on the command line. You can close this window."]
      : ["Denied", "You denied access. You can close this window."];
  const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "content-security-policy": `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; frame-ancestors 'none'`,
    connection: "close",
  });
  response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><style>${style}</style>
<h1>${title}</h1><p>${sentence}</p><script>${script}</script></html>`);
}
