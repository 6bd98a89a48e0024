import { randomBytes } from "node:crypto";
import { type AdminAccess, type AdminScope, createAdminKey, grantOperator } from "../../../src/features/admin/index.ts";
import type { AccountId, UserId } from "../../../src/lib/ids.ts";
import type { OperatorRole } from "../../../src/lib/operator-role.ts";
import { goodPassword, type SiteAnswer, type SiteVisitor, signUpVisitor, siteOrigin } from "../site/site-visitor.ts";
import { readBase32, showTotp } from "../site/totp-app.ts";
import type { TestGateway } from "../test-gateway.ts";

/** Who changes something outside of the gateway, for the audit log. */
export const onHost = {
  actor: { kind: "command", id: null, name: "root" },
  address: null,
  requestId: null,
} as const;

type Sent = { method?: string; body?: unknown; headers?: Record<string, string> };

/** Calls the operators' API. */
export type AdminClient = {
  send(path: string, sent?: Sent): Promise<Pick<SiteAnswer, "status" | "body" | "headers">>;
  get(path: string): ReturnType<AdminClient["send"]>;
  post(path: string, body?: unknown): ReturnType<AdminClient["send"]>;
};

function createClient(gateway: TestGateway, identify: () => Record<string, string>): AdminClient {
  const send: AdminClient["send"] = async (path, { method = "GET", body, headers = {} } = {}) => {
    const response = await fetch(`${gateway.siteUrl}/admin/v1${path}`, {
      method,
      headers: {
        ...identify(),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: response.status, body: isJson ? JSON.parse(text) : null, headers: response.headers };
  };
  return {
    send,
    get: (path) => send(path),
    post: (path, body = {}) => send(path, { method: "POST", body }),
  };
}

/** A browser's requests to the operators' API, from a page of the site. */
export function openAdmin(gateway: TestGateway, visitor: SiteVisitor): AdminClient {
  return createClient(gateway, () => ({
    "x-forwarded-for": visitor.address,
    cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
    origin: siteOrigin,
    "sec-fetch-site": "same-origin",
  }));
}

export function openWithKey(gateway: TestGateway, key: string): AdminClient {
  return createClient(gateway, () => ({ authorization: `Bearer ${key}` }));
}

export async function makeAdminKey(
  gateway: TestGateway,
  { access = "write", scopes = [] }: { access?: AdminAccess; scopes?: AdminScope[] } = {},
): Promise<string> {
  const request = { name: "script", access, scopes, expiresAt: null, acting: onHost };
  return (await createAdminKey({ ...gateway.parts, randomBytes }, request)).text;
}

export type Operator = {
  visitor: SiteVisitor;
  admin: AdminClient;
  email: string;
  userId: UserId;
  accountId: AccountId;
  /** Proves the operator's identity again. */
  confirm(): Promise<void>;
};

/** A signed-up user with an authenticator app, who has the role. */
export async function signUpOperator(
  gateway: TestGateway,
  { role = "operator", now = () => new Date() }: { role?: OperatorRole; now?: () => Date } = {},
): Promise<Operator> {
  const { visitor, email } = await signUpVisitor(gateway);
  const { secret } = (await visitor.post("/totp")).body;
  const code = (): string => showTotp(readBase32(secret), now());
  const { status } = await visitor.post("/totp/confirm", { code: code() });
  if (status >= 300) throw new Error(`Two-step sign-in was not turned on: ${status}.`);
  await grantOperator(gateway.parts, { email, role, acting: onHost, reason: null });
  const { user, account } = (await visitor.get("/session")).body;
  return {
    ...{ visitor, email, userId: user.id, accountId: account.id },
    admin: openAdmin(gateway, visitor),
    async confirm() {
      const answer = await visitor.post("/reauthenticate", { password: goodPassword, code: code() });
      if (answer.status !== 200) throw new Error(`The identity was not confirmed: ${answer.status}.`);
    },
  };
}
