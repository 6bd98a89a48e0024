import type { Clock } from "../../../lib/clock.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import type { Mail } from "../../../platform/mail/create-mailer.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import type { KeyDependencies } from "../../accounts/index.ts";
import { requireFresh } from "../console-edge.ts";
import { getSessionUser } from "../sign-in/session/get-session-user.ts";
import type { SiteSession } from "../sign-in/session/site-session.ts";
import { composeMail } from "../sign-in/sign-in-mails.ts";
import { hasSecondFactor } from "../sign-in/user/user.ts";
import { makeToken } from "../sign-in/user/user-token.ts";
import { type BrowserWay, type ConnectRequest, codeMs, type KeyTerms, presentCallback } from "./connect-request.ts";
import { updateApproved, updateDenied } from "./connect-store.ts";
import { makeKey } from "./make-key.ts";
import { takeRequest } from "./read-request.ts";

export type ApprovalDependencies = KeyDependencies & {
  database: Database;
  logger: Logger;
  siteUrl: string;
  /** Takes the mail on and returns at once. */
  sendMail(mail: Mail): void;
};

/** `callbackUrl` is where the browser brings the answer, with the key or code in it; a device fetches its own. */
export type ConnectAnswer = { kind: "browser"; callbackUrl: string } | { kind: "device" };

const sessionYoungMs = 24 * 60 * 60_000;

/** Connects the program to the account of who says so, once. Whatever happens, it happens as a whole. */
export async function approveRequest(
  dependencies: ApprovalDependencies,
  session: SiteSession,
  { id, terms, address }: { id: string; terms: KeyTerms; address: string },
): Promise<ConnectAnswer> {
  const { database, clock } = dependencies;
  await requireRecentProof(dependencies, session);
  const { client, answer } = await inTransaction(database, async (tx) => {
    const request = await takeRequest({ database: tx, clock }, session, id);
    return { client: request.client, answer: await writeApproval(tx, dependencies, { request, terms }) };
  });
  announceApproval(dependencies, session, { client, address });
  return answer;
}

/** The program is told, and nothing is handed over. */
export async function denyRequest(
  { database, clock }: { database: Database; clock: Clock },
  session: SiteSession,
  id: string,
): Promise<ConnectAnswer> {
  return await inTransaction(database, async (tx) => {
    const { way } = await takeRequest({ database: tx, clock }, session, id);
    await updateDenied(tx, id);
    if (way.kind === "device") return { kind: "device" };
    return { kind: "browser", callbackUrl: presentCallback(way, { error: "access_denied" }) };
  });
}

/**
 * A key outlives the session that it was made in, so whoever finds a browser unattended must not get one. Somebody who
 * signed in for this very purpose is not asked twice, unless they chose to be asked more.
 */
async function requireRecentProof({ database, clock }: ApprovalDependencies, session: SiteSession): Promise<void> {
  const now = clock.now();
  const isYoung = now.getTime() - session.createdAt.getTime() < sessionYoungMs;
  if (isYoung && !hasSecondFactor(await getSessionUser(database, session))) return;
  requireFresh(session, now);
}

async function writeApproval(
  tx: Database,
  dependencies: KeyDependencies,
  { request, terms }: { request: ConnectRequest; terms: KeyTerms },
): Promise<ConnectAnswer> {
  const { id, way, expiresAt } = request;
  if (way.kind === "device") {
    await updateApproved(tx, id, { terms, keyId: null, secretHash: null, expiresAt });
    return { kind: "device" };
  }
  if (way.codeChallenge !== null) return await writeCode(tx, dependencies, { id, way, terms });
  const { apiKey, text } = await makeKey(tx, dependencies, { ...request, terms });
  await updateApproved(tx, id, { terms, keyId: apiKey.id, secretHash: null, expiresAt });
  return { kind: "browser", callbackUrl: presentCallback(way, { api_key: text }) };
}

/** The key does not exist until the program that began all this has shown its verifier. */
async function writeCode(
  tx: Database,
  { clock, randomBytes }: KeyDependencies,
  { id, way, terms }: { id: string; way: BrowserWay; terms: KeyTerms },
): Promise<ConnectAnswer> {
  const code = makeToken(randomBytes);
  const expiresAt = new Date(clock.now().getTime() + codeMs);
  await updateApproved(tx, id, { terms, keyId: null, secretHash: code.hash, expiresAt });
  return { kind: "browser", callbackUrl: presentCallback(way, { code: code.text }) };
}

/** Told after the fact, so that an owner who did not do it learns of it. */
function announceApproval(
  { logger, siteUrl, sendMail }: ApprovalDependencies,
  { userId, accountId, email }: SiteSession,
  { client, address }: { client: string; address: string },
): void {
  logger.info({ account_id: accountId, user_id: userId, client }, "a program was authorized");
  sendMail(
    composeMail({
      to: email,
      subject: `BA:${client} was authorized`,
      before: [
        `A program that calls itself ${client} was authorized to use your account, from the address ${address}.`,
        "If it was you, there is nothing to do.",
      ],
      link: { label: "Disconnect it if it was not you", url: `${siteUrl}/security` },
      after: ["Then change your password too."],
    }),
  );
}
