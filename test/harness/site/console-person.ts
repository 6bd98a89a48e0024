import { randomBytes } from "node:crypto";
import { createApiKey } from "../../../src/features/accounts/index.ts";
import type { AccountId } from "../../../src/lib/ids.ts";
import type { BrowsedSite } from "./browsed-site.ts";

/** A user with an account, money and a program that calls the API. */
export type ConsolePerson = {
  email: string;
  accountId: AccountId;
  /** Calls the API with the user's key and returns the body. */
  call(method: "GET" | "POST", path: string, body?: unknown, headers?: Record<string, string>): Promise<CallAnswer>;
};

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer, it compares.
type CallAnswer = any;

export async function createConsolePerson(
  site: BrowsedSite,
  options: { email?: string; credit?: string } = {},
): Promise<ConsolePerson> {
  const email = await site.createPerson({ credit: "10", ...options });
  const { database, parts } = site.gateway;
  const row = await database.selectFrom("accounts").select("id").where("email", "=", email).executeTakeFirstOrThrow();
  const accountId = row.id as AccountId;
  const { text } = await createApiKey({ ...parts, randomBytes }, { accountId, name: "program" });
  return {
    email,
    accountId,
    async call(method, path, body, headers = {}) {
      const response = await fetch(`${site.siteUrl}/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${text}`, "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer: CallAnswer = await response.json();
      if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${JSON.stringify(answer)}`);
      return answer;
    },
  };
}
