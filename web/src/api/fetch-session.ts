import { ApiError, api, ask } from "./console-api.ts";

/** Public site settings. */
export const getSite = () => ask(api.GET("/site"));

export type SiteSettings = Awaited<ReturnType<typeof getSite>>;

const getSession = () => ask(api.GET("/session"));

export type Session = Awaited<ReturnType<typeof getSession>>;

/** The current session, or null. */
export async function findSession(): Promise<Session | null> {
  try {
    return await getSession();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

export const getAccount = () => ask(api.GET("/account"));
export const getFirstCall = () => ask(api.GET("/first_call"));
export const listPasskeys = () => ask(api.GET("/passkeys"));
export const listSessions = () => ask(api.GET("/sessions"));
export const listServices = () => ask(api.GET("/services"));
export const listConnectedClients = () => ask(api.GET("/connected-clients"));

/** The outbox of a gateway without a mail server. */
export const listOutbox = () => ask(api.GET("/outbox"));
