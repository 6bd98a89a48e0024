import { createHash, randomBytes } from "node:crypto";
import type { TestGateway } from "../test-gateway.ts";
import type { SiteAnswer, SiteVisitor } from "./site-visitor.ts";

type Gateway = Pick<TestGateway, "siteUrl">;

export const programState = "s t+/%=ä";

/** The query of the entry URL, as a program writes it. */
export function writeEntry(changes: Record<string, string> = {}): string {
  return new URLSearchParams({
    client: "my-tool",
    response_type: "api_key",
    redirect_uri: "http://127.0.0.1:53111/callback",
    state: programState,
    ...changes,
  }).toString();
}

/** A verifier, and the fields that a program adds to its entry to get a code. */
export function makeVerifier() {
  const verifier = randomBytes(32).toString("base64url");
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  return { verifier, challenge: { code_challenge, code_challenge_method: "S256" } };
}

/** Opens the entry in a browser that does not follow redirects, from a unique address. */
export function openEntry({ siteUrl }: Gateway, query: string): Promise<Response> {
  const headers = { "x-forwarded-for": makeAddress() };
  return fetch(`${siteUrl}/connect/browser-auth?${query}`, { redirect: "manual", headers });
}

/** Begins an authorization and returns the id of its request. */
export async function beginRequest(gateway: Gateway, changes: Record<string, string> = {}): Promise<string> {
  const response = await openEntry(gateway, writeEntry(changes));
  const location = response.headers.get("location") ?? "";
  if (response.status !== 303) throw new Error(`The entry answered ${response.status}: ${await response.text()}`);
  return location.slice("/connect/requests/".length);
}

/** A program's request to the site, from a unique address unless one is given. */
export async function askSite(
  { siteUrl }: Gateway,
  path: string,
  body: unknown,
  { address = makeAddress(), type = "application/json" }: { address?: string; type?: string } = {},
): Promise<SiteAnswer> {
  const response = await fetch(`${siteUrl}${path}`, {
    method: "POST",
    headers: { "content-type": type, "x-forwarded-for": address },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const { status, headers } = response;
  return { status, body: text === "" ? null : JSON.parse(text), headers, setCookies: headers.getSetCookie() };
}

/** Opens the request as the consent page does, then approves it; returns the query that the program gets. */
export async function approve(visitor: SiteVisitor, id: string, terms: object = {}): Promise<URLSearchParams> {
  await visitor.get(`/connect/requests/${id}`);
  const answer = await visitor.post(`/connect/requests/${id}/approve`, terms);
  if (answer.status !== 200) throw new Error(`Approving answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return readCallback(answer.body.callback_url);
}

export function readCallback(url: string): URLSearchParams {
  return new URL(url).searchParams;
}

export function makeAddress(): string {
  return `10.${[...randomBytes(3)].join(".")}`;
}
