import { domainToASCII } from "node:url";
import { isNetwork } from "../../lib/network.ts";
import { AppError } from "../../platform/errors/app-error.ts";

/** `disposable` is a mail domain too, and has its own error: its users can sign up with another address. */
export const blockKinds = ["network", "domain", "mailbox", "disposable"] as const;
export type BlockKind = (typeof blockKinds)[number];

export type Block = {
  kind: BlockKind;
  /** In the form that is compared: a network, a domain in ASCII, or a normalized mailbox. */
  subject: string;
  /** For operators only. */
  reason: string;
  createdAt: Date;
  createdBy: string;
  endsAt: Date | null;
};

const domainPattern = /^(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/;

/** The form that is compared. Throws if it cannot be one. */
export function requireSubject(kind: BlockKind, text: string, normalizeMailbox: (email: string) => string): string {
  const trimmed = text.trim();
  if (kind === "network") {
    if (isNetwork(trimmed)) return trimmed.toLowerCase();
    throw createWrong("a network must be an address or a network such as 203.0.113.0/24");
  }
  if (kind === "mailbox") {
    if (/^[^\s@]+@[^\s@]+$/.test(trimmed) && trimmed.length <= 254) return normalizeMailbox(trimmed);
    throw createWrong("a mailbox must be an e-mail address");
  }
  const domain = readDomain(trimmed);
  if (domain !== null) return domain;
  throw createWrong("a domain must be one such as example.com");
}

/** `null` if the text is no domain with a dot. */
export function readDomain(text: string): string | null {
  const domain = domainToASCII(text.trim().toLowerCase().replace(/^@/, "").replace(/\.$/, ""));
  return domainPattern.test(domain) ? domain : null;
}

/** A domain and the domains that contain it: `a.b.com`, `b.com`. */
export function listParents(domain: string): string[] {
  const labels = domain.split(".");
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join("."));
}

function createWrong(what: string): AppError {
  return new AppError("invalid_parameter", `Correct the subject: ${what}.`, { param: "subject" });
}
