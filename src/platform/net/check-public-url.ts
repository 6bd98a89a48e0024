import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

const urlCharactersMax = 8192;

/** Names that mean this machine or its neighbours, by convention or by the way networks are set up. */
const innerSuffixes =
  "localhost localdomain local internal intranet private corp home lan home.arpa in-addr.arpa ip6.arpa".split(" ");

/**
 * Why a URL that a stranger gave cannot be fetched, as a sentence that does not quote it; `null` where nothing speaks
 * against it that can be known without the network. What its name resolves to is checked when it is fetched.
 */
export function checkPublicUrl(text: string, { allowsPrivate }: { allowsPrivate: boolean }): string | null {
  if (text.length > urlCharactersMax) return `The URL has more than ${urlCharactersMax} characters.`;
  // The parser would drop some of them silently, and others read the rest differently.
  if (/[\p{Cc}\s\\]/u.test(text)) return "The URL has spaces, control characters or backslashes.";
  const url = URL.parse(text);
  if (url === null) return "The URL is not valid.";
  const isScheme = url.protocol === "https:" || (allowsPrivate && url.protocol === "http:");
  if (!isScheme) return "The URL must begin with https://.";
  if (url.username !== "" || url.password !== "") return "The URL must not contain a user name or a password.";
  // Any other port is fine: who may be reached is decided by addresses, and services on odd ports are common.
  if (url.port === "0") return "The URL has a port that cannot be reached.";
  return allowsPrivate ? null : checkHost(getHost(url));
}

/** The name or address of the URL's host, without brackets and the dots that may end a name. */
export function getHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
}

/** The parser has made one form of all spellings: lower case, ASCII, and IPv4 addresses as four decimal numbers. */
function checkHost(host: string): string | null {
  if (isIP(host) !== 0) return isPublicAddress(host) ? null : "The URL leads to an address that is not public.";
  const isInner = !host.includes(".") || innerSuffixes.some((suffix) => host.endsWith(`.${suffix}`));
  return isInner ? "The URL leads to a host that is not public." : null;
}
