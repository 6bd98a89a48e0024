import { domainToASCII } from "node:url";

/** Providers that deliver several domains, or an address with other marks in it, to one mailbox. */
const providers: readonly { domains: readonly string[]; ignored: RegExp | null }[] = [
  { domains: ["gmail.com", "googlemail.com"], ignored: /\./g },
  { domains: ["proton.me", "protonmail.com", "pm.me"], ignored: /[._-]/g },
  { domains: ["icloud.com", "me.com", "mac.com"], ignored: null },
];

/**
 * One text for all the ways in which the address of a mailbox can be written: without case, compatibility forms, invisible
 * characters, a tag after `+`, and what its provider ignores. It is compared, and never written to.
 */
export function nameMailbox(email: string): string {
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
