import type { SiteSession } from "../../../lib/console-session.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { requireFresh } from "../../../platform/http/console-edge.ts";
import { getSessionUser } from "../sign-in/session/sessions.ts";
import { composeMail } from "../sign-in/sign-in-mails.ts";
import { hasSecondFactor } from "../sign-in/user/user.ts";
import { makeToken } from "../sign-in/user/user-token.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import { type BrowserWay, type ConnectRequest, codeMs, type KeyTerms, presentCallback } from "./connect-request.ts";
import { updateApproved, updateDenied } from "./connect-store.ts";
import { issueKey } from "./issue-key.ts";
import { takeRequest } from "./read-request.ts";

/** `callbackUrl` carries the key or code to the program; a device polls instead. */
type ConnectAnswer = { kind: "browser"; callbackUrl: string } | { kind: "device" };

const sessionYoungMs = 24 * 60 * 60_000;

/** Approves the request once, in one transaction. */
export async function approveRequest(
  dependencies: SiteDependencies,
  session: SiteSession,
  { id, terms, address }: { id: string; terms: KeyTerms; address: string },
): Promise<ConnectAnswer> {
  await requireRecentProof(dependencies, session);
  const { client, answer } = await inTransaction(dependencies.database, async (tx) => {
    const request = await takeRequest({ ...dependencies, database: tx }, session, id);
    return { client: request.client, answer: await writeApproval(tx, dependencies, { request, terms }) };
  });
  announceApproval(dependencies, session, { client, address });
  return answer;
}

/** Denies the request; no key is created. */
export async function denyRequest(
  dependencies: SiteDependencies,
  session: SiteSession,
  id: string,
): Promise<ConnectAnswer> {
  return await inTransaction(dependencies.database, async (tx) => {
    const { way } = await takeRequest({ ...dependencies, database: tx }, session, id);
    await updateDenied(tx, id);
    if (way.kind === "device") return { kind: "device" };
    return { kind: "browser", callbackUrl: presentCallback(way, { error: "access_denied" }) };
  });
}

/**
 * Requires reauthentication: a key outlives the session, so an unattended browser must not yield one. A session opened
 * for this request is exempt, unless two-factor authentication is on.
 */
async function requireRecentProof({ database, clock }: SiteDependencies, session: SiteSession): Promise<void> {
  const now = clock.now();
  const isYoung = now.getTime() - session.createdAt.getTime() < sessionYoungMs;
  if (isYoung && !hasSecondFactor(await getSessionUser(database, session))) return;
  requireFresh(session, now);
}

async function writeApproval(
  tx: Database,
  dependencies: SiteDependencies,
  { request, terms }: { request: ConnectRequest; terms: KeyTerms },
): Promise<ConnectAnswer> {
  const { id, way, expiresAt } = request;
  if (way.kind === "device") {
    await updateApproved(tx, id, { terms, keyId: null, secretHash: null, expiresAt });
    return { kind: "device" };
  }
  if (way.codeChallenge !== null) return await writeCode(tx, dependencies, { id, way, terms });
  const { apiKey, text } = await issueKey(tx, dependencies, { ...request, terms });
  await updateApproved(tx, id, { terms, keyId: apiKey.id, secretHash: null, expiresAt });
  return { kind: "browser", callbackUrl: presentCallback(way, { api_key: text }) };
}

/** The key is created when the program sends its verifier. */
async function writeCode(
  tx: Database,
  { clock, randomBytes }: SiteDependencies,
  { id, way, terms }: { id: string; way: BrowserWay; terms: KeyTerms },
): Promise<ConnectAnswer> {
  const code = makeToken(randomBytes);
  const expiresAt = new Date(clock.now().getTime() + codeMs);
  await updateApproved(tx, id, { terms, keyId: null, secretHash: code.hash, expiresAt });
  return { kind: "browser", callbackUrl: presentCallback(way, { code: code.text }) };
}

/** Notifies the owner, who may not have approved it. */
function announceApproval(
  { logger, siteUrl, mailer }: SiteDependencies,
  { userId, accountId, email }: SiteSession,
  { client, address }: { client: string; address: string },
): void {
  logger.info({ account_id: accountId, user_id: userId, client }, "program authorized");
  mailer.send(
    composeMail({
      to: email,
      subject: `BA:${client} was authorized`,
      before: [
        `A program named ${client} was authorized to use your account, from the address ${address}.`,
        "If this was you, you can ignore this e-mail.",
      ],
      link: { label: "Disconnect it if this was not you", url: `${siteUrl}/security` },
      after: ["Then change your password."],
    }),
  );
}
