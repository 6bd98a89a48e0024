import { domainToASCII } from "node:url";

/** Providers with several domains, or that ignore characters of an address. */
const providers: readonly { domains: readonly string[]; ignored: RegExp | null }[] = [
  { domains: ["gmail.com", "googlemail.com"], ignored: /\./g },
  { domains: ["proton.me", "protonmail.com", "pm.me"], ignored: /[._-]/g },
  { domains: ["icloud.com", "me.com", "mac.com"], ignored: null },
];

/**
 * Canonical form of a mail address: no case, compatibility forms, invisible characters, `+` tag, or ignored characters.
 * For comparison only, never for sending.
 */
export function normalizeMailbox(email: string): string {
  const plain = email
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .toLowerCase();
  const at = plain.lastIndexOf("@");
  const written = plain.slice(at + 1).replace(/\.+$/, "");
  const domain = domainToASCII(written) || written;
  const provider = providers.find(({ domains }) => domains.includes(domain));
  const local = plain.slice(0, at).replace(/(?<=.)\+.*$/, "");
  return `${provider?.ignored == null ? local : local.replaceAll(provider.ignored, "")}@${provider?.domains[0] ?? domain}`;
}
