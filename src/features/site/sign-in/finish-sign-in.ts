import type { SiteSession } from "../../../lib/console-session.ts";
import { deleteSession } from "./session/session-store.ts";
import { type Browser, sessionAgeMsMax } from "./session/sessions.ts";
import type { RequestHeaders, SiteCookies } from "./session/site-cookies.ts";
import type { SignInDependencies } from "./sign-in-dependencies.ts";

/** The subset of the framework's request and reply used here. */
type BrowserRequest = { ip: string; headers: RequestHeaders };
type CookieReply = { header(name: string, value: string): unknown };

export function readBrowser({ ip, headers }: BrowserRequest): Browser {
  return { userAgent: String(headers["user-agent"] ?? ""), address: ip };
}

/** Sets the cookie of a new session and ends the browser's previous one, which would be unreachable. */
export async function finishSignIn(
  { cookies, database }: SignInDependencies,
  reply: CookieReply,
  { sessionToken, before }: { sessionToken: string; before: SiteSession | null },
): Promise<void> {
  if (before !== null) await deleteSession(database, before);
  sendSessionCookie(cookies, reply, sessionToken);
}

export function sendSessionCookie(cookies: SiteCookies, reply: CookieReply, sessionToken: string): void {
  reply.header("set-cookie", cookies.present("session", sessionToken, sessionAgeMsMax));
}
