import type { SiteSession } from "../../../lib/console-session.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { createNotSignedIn, type RequestHeaders } from "../../../platform/http/console-edge.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { adminKeyPrefix, hashAdminKey } from "../keys/admin-key.ts";
import { findAdminKeyByHash, updateKeyUsed } from "../keys/admin-key-store.ts";
import { findOperator } from "../operators/operator-store.ts";
import type { AdminCaller } from "./admin-caller.ts";
import { type AdminEndpointName, getAdminEndpoint } from "./admin-endpoint-table.ts";
import { requireAccess } from "./require-access.ts";

type Asked = { headers: RequestHeaders; endpoint: AdminEndpointName };

/** Identifies an operator or an admin key and checks what it may do. Throws the same 404 as a missing path for customers. */
export async function identifyAdmin(
  dependencies: AdminDependencies,
  { headers, endpoint }: Asked,
): Promise<AdminCaller> {
  const caller = await findCaller(dependencies, headers);
  requireAccess(caller, getAdminEndpoint(endpoint), dependencies.clock.now());
  return caller;
}

async function findCaller(dependencies: AdminDependencies, headers: RequestHeaders): Promise<AdminCaller> {
  const keyText = readAdminKey(headers);
  return keyText === null ? await requireOperator(dependencies, headers) : await requireKey(dependencies, keyText);
}

function readAdminKey(headers: RequestHeaders): string | null {
  const { authorization } = headers;
  const [, text = null] = /^Bearer\s+(\S+)\s*$/i.exec(String(authorization ?? "")) ?? [];
  return text?.startsWith(adminKeyPrefix) === true ? text : null;
}

async function requireKey({ database, clock }: AdminDependencies, text: string): Promise<AdminCaller> {
  const key = await findAdminKeyByHash(database, hashAdminKey(text));
  const now = clock.now();
  if (key === null) throw new AppError("invalid_api_key", "This admin key does not exist. Copy it again.");
  if (key.revokedAt !== null) throw new AppError("revoked_api_key", `The admin key ${key.name} was revoked.`);
  if (key.expiresAt !== null && key.expiresAt <= now) {
    throw new AppError("expired_api_key", `The admin key ${key.name} expired on ${key.expiresAt.toISOString()}.`);
  }
  await updateKeyUsed(database, key, now);
  return { kind: "key", id: key.id, name: key.name, scopes: key.scopes, access: key.access };
}

async function requireOperator(
  { database, readSession }: AdminDependencies,
  headers: RequestHeaders,
): Promise<AdminCaller> {
  const session = await readSession(headers);
  if (session === null) {
    // A page whose session ended leads to the sign-in.
    if (/sluice-session=/.test(String(headers.cookie ?? ""))) throw createNotSignedIn();
    throw createHidden();
  }
  const operator = await findOperator(database, session.userId);
  if (operator === null) throw createHidden();
  if (!operator.hasSecondFactor) {
    throw new AppError(
      "second_factor_required",
      "Operators need two-step sign-in. Add an authenticator app or a passkey in your settings.",
    );
  }
  requireTwoSteps(session);
  return { kind: "operator", session, role: operator.role };
}

/** The session may be from before the second factor, or from a sign-in service. */
function requireTwoSteps({ isTwoStep }: SiteSession): void {
  if (isTwoStep) return;
  throw new AppError(
    "reauthentication_required",
    "This session was opened in one step. Confirm your identity with a code or a passkey.",
  );
}

/** Customers cannot tell the operators' API from a missing path. */
function createHidden(): AppError {
  return new AppError("not_found", "There is nothing at this path.");
}
