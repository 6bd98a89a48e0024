/** Cookies: the session, an operator's view, outbox access, and unfinished sign-ins, sign-ups, passkey and provider flows. */
type CookieName = "session" | "view" | "outbox" | "sign-up" | "second-factor" | "passkey" | "provider";

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type SiteCookies = {
  read(headers: RequestHeaders, name: CookieName): string | null;
  present(name: CookieName, value: string, maxAgeMs: number): string;
  /** The header value that deletes the cookie. */
  presentRemoval(name: CookieName): string;
};

const tokenPattern = /^[A-Za-z0-9_-]{1,200}$/;

/**
 * On https, names start with `__Host-`: browsers require `Secure`, this host and path `/`, so subdomains and plain-http
 * pages cannot set one.
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
      // Two cookies of one name mean that one was injected; neither can be trusted.
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
