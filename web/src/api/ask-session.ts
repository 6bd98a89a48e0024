import { ApiError, api, ask } from "./console-api.ts";

/** What the site allows, whoever asks. */
export const getSite = () => ask(api.GET("/site"));

export type SiteSettings = Awaited<ReturnType<typeof getSite>>;

const getSession = () => ask(api.GET("/session"));

export type Session = Awaited<ReturnType<typeof getSession>>;

/** Who is signed in, or nobody. */
export async function findSession(): Promise<Session | null> {
  try {
    return await getSession();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** What people have of their own: the account with its plan, ways to sign in, programs that they connected. */
export const getAccount = () => ask(api.GET("/account"));
/** Whether the account has called with a key of its own yet. */
export const getFirstCall = () => ask(api.GET("/first_call"));
export const listPasskeys = () => ask(api.GET("/passkeys"));
export const listSessions = () => ask(api.GET("/sessions"));
export const listServices = () => ask(api.GET("/services"));
export const listConnectedClients = () => ask(api.GET("/connected-clients"));

/** Mails of a gateway without a mail server. */
export const listOutbox = () => ask(api.GET("/outbox"));
