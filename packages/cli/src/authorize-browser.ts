import { createHash, randomBytes } from "node:crypto";
import type { ApiClient } from "./api-client.ts";
import { type CallbackListener, listenForCallback } from "./await-callback.ts";
import { CliError } from "./cli-error.ts";
import { openBrowser } from "./open-browser.ts";
import type { Terminal } from "./terminal.ts";

export type AuthorizationOptions = {
  site: string;
  /** A client for the site, without a key. */
  siteApi: ApiClient;
  /** The key's name in the console. */
  client: string;
  terminal: Terminal;
  signal: AbortSignal;
};

export type IssuedKey = { api_key: string };

const patienceMs = 5 * 60_000;

/** Authorizes in the browser; the key is fetched directly, never through the browser. */
export async function authorizeInBrowser(
  options: AuthorizationOptions,
  { opensBrowser }: { opensBrowser: boolean },
): Promise<string> {
  const { terminal, siteApi } = options;
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(24).toString("base64url");
  const listener = await listenForCallback(state);
  try {
    const url = writeEntry(options, { state, verifier, redirectUri: listener.redirectUri });
    terminal.complain(`Open this address in your browser to sign in:\n\n  ${url}\n`);
    if (opensBrowser) openBrowser(url);
    const answer = await waitForPerson(listener, options.signal);
    if (answer.kind === "refused") throw new CliError("Access was denied in the browser. No changes.");
    const json = {
      code: answer.code,
      code_verifier: verifier,
      client: options.client,
      redirect_uri: listener.redirectUri,
    };
    const { api_key } = await siteApi.ask<IssuedKey>({
      method: "POST",
      path: "/connect/token",
      json,
      signal: options.signal,
    });
    return api_key;
  } finally {
    await listener.close();
  }
}

function writeEntry(
  { site, client }: AuthorizationOptions,
  { state, verifier, redirectUri }: { state: string; verifier: string; redirectUri: string },
): string {
  const query = new URLSearchParams({
    client,
    response_type: "api_key",
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  return `${site}/connect/browser-auth?${query}`;
}

async function waitForPerson(listener: CallbackListener, signal: AbortSignal) {
  const late = AbortSignal.timeout(patienceMs);
  try {
    return await listener.answer(AbortSignal.any([signal, late]));
  } catch (error) {
    if (!late.aborted) throw error;
    const remedy = "Run `sluice login` again. On a machine without a browser: sluice login --device";
    throw new CliError("The browser sign-in timed out after five minutes.", { remedy, cause: error });
  }
}
