import { type BudgetPeriod, findPeriodStart } from "../../../lib/budget.ts";
import type { SiteSession } from "../../../lib/console-session.ts";
import { presentMoney } from "../../../lib/money.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { type ApiKey, findKeyClient, findLastClientKey, listClientKeys, listKeyUses } from "../../accounts/index.ts";
import { listKeySpending } from "../../ledger/index.ts";
import { limitSessions } from "../sign-in/session/sessions.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import { limitUserCodes } from "./connect-limits.ts";
import { type ConnectProgress, type ConnectRequest, decideProgress } from "./connect-request.ts";
import { claimRequest, findOwnRequest, findRequestByUserCode } from "./connect-store.ts";
import { readUserCode } from "./user-code.ts";

/** The undecided request, assigned to this session from now on. */
export async function takeRequest(
  { database, clock }: SiteDependencies,
  session: SiteSession,
  id: string,
): Promise<ConnectRequest> {
  const now = clock.now();
  const request = await claimRequest(database, { id, session, limits: limitSessions(now) });
  if (request === null) throw createUnknownRequest();
  if (request.state !== "open") {
    const answer = request.state === "denied" ? "refused" : "approved";
    throw new AppError("already_answered", `This request was already ${answer}. Start again in the program.`);
  }
  if (request.expiresAt <= now) throw createUnknownRequest();
  return request;
}

/** The program's current key, which would be revoked. */
export async function findReplacedKey(
  { database, clock }: SiteDependencies,
  session: SiteSession,
  client: string,
): Promise<ApiKey | null> {
  const keys = await listClientKeys(database, session.accountId, clock.now());
  return keys.find((key) => findKeyClient(key) === client) ?? null;
}

/** The budget that the program's next key continues; `null` if none. */
export async function describeKeptBudget(
  { database, clock }: SiteDependencies,
  { accountId }: SiteSession,
  client: string,
): Promise<{ amount: string; period: BudgetPeriod; spent: string } | null> {
  const key = await findLastClientKey(database, { accountId, client });
  if (key === null || key.budget === null) return null;
  const { amount, period } = key.budget;
  const asked = { keyId: key.lineageId, startsAt: findPeriodStart(period, clock.now()) };
  const describeSpent = await listKeySpending(database, accountId, [asked]);
  return { amount: presentMoney(amount), period, spent: presentMoney(describeSpent(asked)) };
}

/** State of a request that this session has decided. */
export async function readProgress(
  { database, clock }: SiteDependencies,
  session: SiteSession,
  id: string,
): Promise<ConnectProgress> {
  const request = await findOwnRequest(database, { id, sessionId: session.id });
  if (request === null) throw createUnknownRequest();
  const isKeyUsed = request.keyId !== null && (await listKeyUses(database, [request.keyId])).size > 0;
  return decideProgress(request, { now: clock.now(), isKeyUsed });
}

/** The device's request by its user code. Wrong codes are rate limited. */
export async function findDeviceRequest(
  { database, clock, beginAttempt }: SiteDependencies,
  session: SiteSession,
  { typed, address }: { typed: string; address: string },
): Promise<string> {
  const attempt = await beginAttempt(limitUserCodes(session.userId, address));
  const userCode = readUserCode(typed);
  const request = userCode === null ? null : await findRequestByUserCode(database, { userCode, now: clock.now() });
  const isFree = request !== null && (request.owner === null || request.owner.userId === session.userId);
  if (!isFree) {
    const message =
      "No program is waiting with this code. Compare it with the code that the program shows. It is valid for 10 minutes.";
    throw new AppError("not_found", message, { param: "user_code" });
  }
  await attempt.succeed();
  return request.id;
}

/** The same error for requests of other users. */
function createUnknownRequest(): AppError {
  return new AppError("not_found", "This request does not exist or has expired. Start again in the program.");
}
