// A program that connects through the browser. It is written from the API document's section on browser authorization
// alone, with nothing but Node: that section must be enough to write a working program.
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type ContractClientOptions = {
  siteUrl: string;
  baseUrl: string;
  client: string;
  host?: "127.0.0.1" | "localhost";
  /** Opens an address in the system's browser. */
  openBrowser(url: string): unknown;
  signal?: AbortSignal;
};

type Connection = { kind: "connected"; apiKey: string; models: string[] } | { kind: "refused"; error: string };

/** Resolves when the browser has delivered an answer with our state. */
export async function connectByContract(options: ContractClientOptions): Promise<Connection> {
  const state = randomBytes(16).toString("hex");
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  options.signal?.addEventListener("abort", reject);
  const server = createServer((request, response) => {
    const query = readCallback(request, state);
    answer(response, query !== null);
    if (query !== null) resolve(query);
  });
  const { host = "127.0.0.1" } = options;
  await new Promise<void>((listening) => void server.listen(0, host, listening));
  try {
    const { port } = server.address() as AddressInfo;
    const entry = new URLSearchParams({
      client: options.client,
      response_type: "api_key",
      redirect_uri: `http://${host}:${port}/callback`,
      state,
    });
    options.openBrowser(`${options.siteUrl}/connect/browser-auth?${entry}`);
    const query = await promise;
    const apiKey = query.get("api_key");
    if (apiKey === null) return { kind: "refused", error: query.get("error") ?? "" };
    return { kind: "connected", apiKey, models: await listModels(options.baseUrl, apiKey) };
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

/** `null` for other requests on this port, and for an answer with another state. */
function readCallback({ url = "" }: IncomingMessage, state: string): URLSearchParams | null {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  return pathname === "/callback" && searchParams.get("state") === state ? searchParams : null;
}

function answer(response: ServerResponse, isOurs: boolean): void {
  response.writeHead(isOurs ? 200 : 404, { "content-type": "text/html; charset=utf-8", connection: "close" });
  response.end(isOurs ? "<!doctype html><title>Done</title><script>window.close()</script>You can close this." : "");
}

async function listModels(baseUrl: string, apiKey: string): Promise<string[]> {
  const response = await fetch(`${baseUrl}/models`, { headers: { authorization: `Bearer ${apiKey}` } });
  if (!response.ok) throw new Error(`The new key was refused with ${response.status}.`);
  const { data } = (await response.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}
