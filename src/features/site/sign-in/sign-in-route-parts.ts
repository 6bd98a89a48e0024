import type { OidcProvider } from "./provider/oidc-provider.ts";
import { deleteSession } from "./session/session-store.ts";
import type { Browser } from "./session/sessions.ts";
import type { RequestHeaders, SiteCookies } from "./session/site-cookies.ts";
import { type SiteSession, sessionAgeMsMax } from "./session/site-session.ts";
import type { SignInParts } from "./sign-in-parts.ts";

/** What the routes know beside what the operations know. */
export type SignInRouteParts = SignInParts & {
  cookies: SiteCookies;
  providers: readonly OidcProvider[];
  /** What it takes to read the mails that are not sent; `null` where they cannot be read on the site. */
  outboxSecret: string | null;
  currency: string;
  baseUrl: string;
  payments: PaymentOffer;
};

/** How people can pay by card, and how much at a time, as it is told. */
export type PaymentOffer = { kind: "stripe" | "none"; amountMin: string; amountMax: string };

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
  { cookies, database }: SignInRouteParts,
  reply: CookieReply,
  { sessionToken, before }: { sessionToken: string; before: SiteSession | null },
): Promise<void> {
  if (before !== null) await deleteSession(database, before);
  sendSessionCookie({ cookies }, reply, sessionToken);
}

export function sendSessionCookie(
  { cookies }: Pick<SignInRouteParts, "cookies">,
  reply: CookieReply,
  sessionToken: string,
): void {
  reply.header("set-cookie", cookies.present("session", sessionToken, sessionAgeMsMax));
}
