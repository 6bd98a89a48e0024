import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

const urlCharactersMax = 8192;

/** Suffixes of names in private networks. */
const innerSuffixes =
  "localhost localdomain local internal intranet private corp home lan home.arpa in-addr.arpa ip6.arpa".split(" ");

/**
 * Returns why a user-supplied URL is not allowed, without quoting it, or `null`. Addresses of its host name are checked
 * when it is fetched.
 */
export function checkPublicUrl(text: string, { allowsPrivate }: { allowsPrivate: boolean }): string | null {
  if (text.length > urlCharactersMax) return `The URL has more than ${urlCharactersMax} characters. Use a shorter one.`;
  // The parser silently drops some of them, and other parsers read the rest differently.
  if (/[\p{Cc}\s\\]/u.test(text))
    return "The URL contains spaces, control characters or backslashes. Percent-encode them.";
  const url = URL.parse(text);
  if (url === null) return "The URL is not valid.";
  const isScheme = url.protocol === "https:" || (allowsPrivate && url.protocol === "http:");
  if (!isScheme) return "The URL must begin with https://.";
  if (url.username !== "" || url.password !== "") return "The URL must not contain a user name or password.";
  // Other ports are allowed: addresses decide, and services on unusual ports are common.
  if (url.port === "0") return "The URL has port 0. Use a valid port.";
  return allowsPrivate ? null : checkHost(getHost(url));
}

/** The host without brackets and trailing dots. */
export function getHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
}

/** The URL parser has normalized the host: lower case, punycode, dotted decimal IPv4. */
function checkHost(host: string): string | null {
  if (isIP(host) !== 0) return isPublicAddress(host) ? null : "The URL points to an address that is not public.";
  const isInner = !host.includes(".") || innerSuffixes.some((suffix) => host.endsWith(`.${suffix}`));
  return isInner ? "The URL points to a host that is not public." : null;
}
