import type { SiteSession } from "../../../../lib/console-session.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import type { RequestHeaders, SiteCookies } from "./site-cookies.ts";

/** The session narrowed to the view; `ended` if it is over, `null` if it belongs to another session. */
export type FindView = (session: SiteSession, viewId: string) => Promise<SiteSession | "ended" | null>;

type ReadSession = (headers: RequestHeaders) => Promise<SiteSession | null>;

/** Longer than any view: after its end, the cookie must fail, not open the operator's own account on the same page. */
const cookieMs = 24 * 60 * 60_000;

export function presentViewCookie(cookies: SiteCookies, viewId: string | null): string {
  return viewId === null ? cookies.presentRemoval("view") : cookies.present("view", viewId, cookieMs);
}

/** Reads sessions as the console sees them: those of operators who see an account are narrowed to it. */
export function createNarrowing(
  { readSession, cookies }: { readSession: ReadSession; cookies: SiteCookies },
  findView: FindView,
): ReadSession {
  return async (headers) => {
    const session = await readSession(headers);
    const viewId = session === null ? null : cookies.read(headers, "view");
    if (session === null || viewId === null) return session;
    const narrowed = await findView(session, viewId);
    if (narrowed !== "ended") return narrowed ?? session;
    throw new AppError("not_signed_in", "Your view of this account has ended.", {
      headers: { "set-cookie": presentViewCookie(cookies, null) },
    });
  };
}
