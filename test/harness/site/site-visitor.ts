import { randomBytes } from "node:crypto";
import { openAccount } from "../../../src/app/change-account.ts";
import type { TestGateway } from "../test-gateway.ts";
import { hashPasswordCheaply } from "./cheap-password.ts";

/** Settings for visitors: a proxy header gives each one a unique address, and accounts start without credit. */
export const visitorSettings = { trusted_proxies: ["127.0.0.0/8"], welcome_credit: "0" } as const;

export const siteOrigin = "http://localhost:4242";

export type SiteAnswer = {
  status: number;
  // Tests look into answers of every shape.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
  headers: Headers;
  /** Every `Set-Cookie` of the answer. */
  setCookies: string[];
};

/** A browser on the site: it keeps cookies and sends the page's origin. */
export type SiteVisitor = {
  cookies: Map<string, string>;
  /** The browser's IP address. */
  address: string;
  /** The cookie that gives access to the outbox. */
  outboxCookie: string;
  get(path: string, headers?: Record<string, string>): Promise<SiteAnswer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<SiteAnswer>;
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<SiteAnswer>;
  delete(path: string, headers?: Record<string, string>): Promise<SiteAnswer>;
  send(method: string, path: string, init: { body?: string; headers?: Record<string, string> }): Promise<SiteAnswer>;
};

export function visitSite(
  gateway: Pick<TestGateway, "siteUrl"> & Partial<Pick<TestGateway, "outboxUrl">>,
  options: { address?: string; userAgent?: string } = {},
) {
  const cookies = new Map<string, string>();
  const address = options.address ?? `10.${[...randomBytes(3)].join(".")}`;

  const send: SiteVisitor["send"] = async (method, path, { body, headers = {} }) => {
    const response = await fetch(`${gateway.siteUrl}/console/api${path}`, {
      method,
      redirect: "manual",
      headers: {
        "x-forwarded-for": address,
        "user-agent": options.userAgent ?? "visitor",
        ...(cookies.size === 0 ? {} : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const setCookies = response.headers.getSetCookie();
    for (const line of setCookies) keepCookie(cookies, line);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers, setCookies };
  };
  const fromPage = { origin: siteOrigin, "sec-fetch-site": "same-origin" };
  const sendJson = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
    send(method, path, {
      body: JSON.stringify(body),
      headers: { ...fromPage, "content-type": "application/json", ...headers },
    });
  const visitor: SiteVisitor = {
    cookies,
    address,
    outboxCookie: `sluice-outbox=${(gateway.outboxUrl ?? "").split("#")[1]}`,
    send,
    get: (path, headers = {}) => send("GET", path, { headers }),
    post: (path, body = {}, headers = {}) => sendJson("POST", path, body, headers),
    patch: (path, body, headers = {}) => sendJson("PATCH", path, body, headers),
    delete: (path, headers = {}) => send("DELETE", path, { headers: { ...fromPage, ...headers } }),
  };
  return visitor;
}

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [pair = ""] = line.split(";");
  const split = pair.indexOf("=");
  const [name, value] = [pair.slice(0, split), pair.slice(split + 1)];
  if (/max-age=0(;|$)/i.test(line)) cookies.delete(name);
  else cookies.set(name, value);
}

export const goodPassword = "four random words here";

type ListedMail = { to: string; subject: string; text: string; links: string[] };

/** The mails to an address, newest first, from the outbox; it waits for those being written. */
export async function listMails(visitor: SiteVisitor, to: string): Promise<ListedMail[]> {
  const { body } = await visitor.get("/outbox", { cookie: visitor.outboxCookie });
  return body.data.filter((one: ListedMail) => one.to === to);
}

/** The newest of them. */
export async function readMail(visitor: SiteVisitor, to: string) {
  const mail = (await listMails(visitor, to))[0] ?? null;
  const link: string = mail?.links[0] ?? "";
  const token = link === "" ? "" : (new URL(link).searchParams.get("token") ?? "");
  return { mail, link, token };
}

/** A new user with a verified address, signed in. `signUpByMail` goes the whole way, at the real cost of a password. */
export async function signUpVisitor(gateway: TestGateway, email = makeEmail()) {
  await openAccount(gateway.parts, {
    email,
    person: { passwordHash: hashPasswordCheaply(goodPassword), isEmailVerified: true },
  });
  const visitor = visitSite(gateway);
  const { status } = await visitor.post("/sign-in", { email, password: goodPassword });
  if (status !== 200) throw new Error(`The sign-in of ${email} failed with ${status}.`);
  return { visitor, email, password: goodPassword };
}

/** A new user who has signed up, followed the link in the mail and is signed in. */
export async function signUpByMail(gateway: TestGateway, email = makeEmail()) {
  const visitor = visitSite(gateway);
  await visitor.post("/sign-up", { email, password: goodPassword });
  const { token } = await readMail(visitor, email);
  const { status } = await visitor.post("/email/verify", { token });
  if (status !== 200) throw new Error(`The sign-up of ${email} failed with ${status}.`);
  return { visitor, email, password: goodPassword };
}

function makeEmail(): string {
  return `${randomBytes(6).toString("hex")}@example.com`;
}
