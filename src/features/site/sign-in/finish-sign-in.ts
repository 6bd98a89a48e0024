import type { Database } from "../../../platform/database/database.ts";
import { deleteSession } from "./session/session-store.ts";
import type { Browser } from "./session/sessions.ts";
import type { RequestHeaders, SiteCookies } from "./session/site-cookies.ts";
import { type SiteSession, sessionAgeMsMax } from "./session/site-session.ts";

/** As much of the framework's request and reply as these need. */
type BrowserRequest = { ip: string; headers: RequestHeaders };
type CookieReply = { header(name: string, value: string): unknown };

export function readBrowser({ ip, headers }: BrowserRequest): Browser {
  return { userAgent: String(headers["user-agent"] ?? ""), address: ip };
}

/**
 * Gives the browser the cookie of a session that was just opened. The one it had before ends: nobody would find it
 * again.
 */
export async function finishSignIn(
  { cookies, database }: { cookies: SiteCookies; database: Database },
  reply: CookieReply,
  { sessionToken, before }: { sessionToken: string; before: SiteSession | null },
): Promise<void> {
  if (before !== null) await deleteSession(database, before);
  sendSessionCookie(cookies, reply, sessionToken);
}

export function sendSessionCookie(cookies: SiteCookies, reply: CookieReply, sessionToken: string): void {
  reply.header("set-cookie", cookies.present("session", sessionToken, sessionAgeMsMax));
}
