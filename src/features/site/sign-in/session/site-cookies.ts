/** Which cookie: who is signed in, who may read the outbox, or a sign-in, sign-up, passkey or provider that is half done. */
type CookieName = "session" | "outbox" | "sign-up" | "second-factor" | "passkey" | "provider";

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type SiteCookies = {
  read(headers: RequestHeaders, name: CookieName): string | null;
  /** The value of a `Set-Cookie` header. */
  present(name: CookieName, value: string, maxAgeMs: number): string;
  /** The one that makes a browser forget it. */
  presentRemoval(name: CookieName): string;
};

const tokenPattern = /^[A-Za-z0-9_-]{1,200}$/;

/**
 * On https the names begin with `__Host-`, which browsers accept only with `Secure`, for this host alone and for all of
 * it: no subdomain and no plain-http page can plant one.
 */
export function createSiteCookies(siteUrl: string): SiteCookies {
  const isHttps = new URL(siteUrl).protocol === "https:";
  const prefix = isHttps ? "__Host-sluice-" : "sluice-";
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`;
  const present: SiteCookies["present"] = (name, value, maxAgeMs) =>
    `${prefix}${name}=${value}; Max-Age=${Math.floor(maxAgeMs / 1000)}; ${attributes}`;
  return {
    read(headers, name) {
      const values = listCookies(headers, `${prefix}${name}`);
      // Two of one name mean that somebody planted one; which is ours cannot be told.
      const [value] = values.length === 1 ? values : [];
      return value !== undefined && tokenPattern.test(value) ? value : null;
    },
    present,
    presentRemoval: (name) => present(name, "", 0),
  };
}

function listCookies({ cookie }: RequestHeaders, fullName: string): string[] {
  return String(cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${fullName}=`))
    .map((pair) => pair.slice(fullName.length + 1));
}
