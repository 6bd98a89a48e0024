import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { waitUntil } from "../wait-until.ts";
import { writeEntry } from "./connect-program.ts";

type Callback = { query: URLSearchParams; headers: IncomingHttpHeaders };

/** A program on this computer that waits for its key. It closes the window that delivers one, as programs do. */
export type LoopbackProgram = AsyncDisposable & {
  redirectUri: string;
  /** All requests to the callback so far. */
  callbacks: readonly Callback[];
  /** The first of them, once it has arrived. */
  called(): Promise<Callback>;
  /** Answers the delayed requests, and delays no more. */
  answerNow(): void;
};

type LoopbackProgramOptions = {
  /** A port that was just free; any free one by default. */
  port?: number;
  /** Whether it leaves the browser waiting until `answerNow`. */
  isSlow?: boolean;
  /** The page that it shows instead of closing the window. */
  page?: string;
};

export async function startLoopbackProgram(options: LoopbackProgramOptions = {}): Promise<LoopbackProgram> {
  const callbacks: Callback[] = [];
  const held: ServerResponse[] = [];
  const page = options.page ?? "<!doctype html><title>Done</title><script>window.close()</script>You can close this.";
  const sendPage = (response: ServerResponse) => response.setHeader("content-type", "text/html").end(page);
  let isSlow = options.isSlow ?? false;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    if (pathname !== "/callback") return void response.writeHead(404).end();
    callbacks.push({ query: searchParams, headers: request.headers });
    if (isSlow) held.push(response);
    else sendPage(response);
  });
  await new Promise<void>((listening) => void server.listen(options.port ?? 0, "127.0.0.1", listening));
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    callbacks,
    called: () => waitUntil("the browser to come to the program", () => callbacks[0]),
    answerNow() {
      isSlow = false;
      for (const response of held) sendPage(response);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** The path that a program opens in the browser. */
export function presentEntry(redirectUri: string, changes: Record<string, string> = {}): string {
  return `/connect/browser-auth?${writeEntry({ redirect_uri: redirectUri, ...changes })}`;
}

/** Clicks Approve as soon as it is enabled. */
export async function approveByPage(page: Page): Promise<void> {
  await page.locator("button[type=submit][aria-disabled=false]", { hasText: "Approve" }).click();
}

/** Every window that is opened from now on. */
export function notePopups(context: BrowserContext): readonly Page[] {
  const popups: Page[] = [];
  context.on("page", (popup) => popups.push(popup));
  return popups;
}
