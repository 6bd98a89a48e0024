import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

type Claims = Record<string, unknown>;

/** How the next token deviates from a valid one. */
export type OidcTwist = {
  claims?: Claims;
  header?: Record<string, unknown>;
  isSignedByAnother?: boolean;
  isUnsigned?: boolean;
};

export type OidcServer = AsyncDisposable & {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The claims of the user who signs in. */
  person: Claims;
  twist: OidcTwist;
  /** Failure responses for the next request to a path. */
  failures: Map<string, { status: number; body: string }>;
  /** The path of every request. */
  visits: string[];
  /** New keys; the old ones are gone. */
  rotateKeys(): void;
  /** Acts as the user's browser, and returns the URL of the redirect back. */
  approve(location: string): Promise<URL>;
};

type Grant = { challenge: string; nonce: string; redirectUri: string };

/** A small OpenID provider: discovery, authorization, tokens with PKCE and client authentication, keys. */
export async function startOidcServer({ now }: { now: () => Date }): Promise<OidcServer> {
  const clientId = "sluice-test";
  const clientSecret = "the/secret of:sluice";
  const grants = new Map<string, Grant>();
  const visits: string[] = [];
  const failures: OidcServer["failures"] = new Map();
  let key = createKey();
  const stranger = createKey();
  let issuer = "";

  function presentIdToken({ nonce }: Grant): string {
    const nowSeconds = Math.floor(now().getTime() / 1000);
    const { twist } = provider;
    const claims = {
      iss: issuer,
      aud: clientId,
      iat: nowSeconds,
      exp: nowSeconds + 300,
      nonce,
      ...provider.person,
      ...twist.claims,
    };
    const header = { alg: "RS256", kid: key.id, ...twist.header };
    const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const { privateKey } = twist.isSignedByAnother === true ? stranger : key;
    const signature =
      twist.isUnsigned === true ? "" : sign("sha256", Buffer.from(signed), privateKey).toString("base64url");
    return `${signed}.${signature}`;
  }

  async function answerToken(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const form = new URLSearchParams(await text(request));
    const basic = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
    if (request.headers.authorization !== `Basic ${Buffer.from(basic).toString("base64")}`) {
      return { status: 401, body: { error: "invalid_client" } };
    }
    const grant = grants.get(form.get("code") ?? "");
    grants.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (grant?.challenge !== challenge || grant.redirectUri !== form.get("redirect_uri")) {
      return { status: 400, body: { error: "invalid_grant" } };
    }
    return { status: 200, body: { access_token: "x", token_type: "Bearer", id_token: presentIdToken(grant) } };
  }

  const server = createServer(async (request, response) => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    visits.push(path);
    const failure = failures.get(path);
    failures.delete(path);
    const { status, body } = failure ?? (await answer(path, request));
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });

  async function answer(path: string, request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    if (path === "/.well-known/openid-configuration") {
      const addresses = { authorization_endpoint: "authorize", token_endpoint: "token", jwks_uri: "keys" };
      const absolute = Object.entries(addresses).map(([name, place]) => [name, `${issuer}/${place}`]);
      return { status: 200, body: { issuer, ...Object.fromEntries(absolute) } };
    }
    if (path === "/keys") return { status: 200, body: { keys: [key.jwk] } };
    if (path === "/token") return await answerToken(request);
    return { status: 404, body: {} };
  }

  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  issuer = `http://127.0.0.1:${address.port}`;
  const provider: OidcServer = {
    issuer,
    clientId,
    clientSecret,
    person: {},
    twist: {},
    failures,
    visits,
    rotateKeys() {
      key = createKey();
    },
    async approve(location) {
      const { searchParams: query } = new URL(location);
      const code = randomBytes(16).toString("hex");
      const redirectUri = query.get("redirect_uri") ?? "";
      grants.set(code, { challenge: query.get("code_challenge") ?? "", nonce: query.get("nonce") ?? "", redirectUri });
      const back = new URL(redirectUri);
      back.searchParams.set("code", code);
      back.searchParams.set("state", query.get("state") ?? "");
      return back;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return provider;
}

function createKey() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const id = randomBytes(4).toString("hex");
  return { id, privateKey, jwk: { ...publicKey.export({ format: "jwk" }), kid: id, use: "sig", alg: "RS256" } };
}
