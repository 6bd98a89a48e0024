import type { Clock } from "../../lib/clock.ts";
import type { AccountId, IdSource } from "../../lib/ids.ts";
import { presentNetwork } from "../../lib/network.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { isPublicAddress } from "../../platform/net/public-address.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { listParents } from "./block.ts";
import { createBlocked } from "./block-list.ts";
import { findMailBlocks } from "./block-store.ts";
import { isSharedDomain } from "./shared-domains.ts";
import { countOpened, insertSignUp, lockSignUps, type SignUpRefusal } from "./sign-up-store.ts";

type SignUpLimits = {
  /** Accounts per network and day; 0: no limit. */
  perNetworkMax: number;
  /** Accounts per mail domain and day; 0: no limit. Domains of large mail services are not limited. */
  perDomainMax: number;
  supportContact: string | null;
};

/** `mailbox` is normalized: two spellings of one address are equal. */
type SigningUp = { mailbox: string; address: string };

export type SignUpAdmission = {
  /** Throws if the sign-up is to be refused, and records it. Reveals nothing about existing accounts. */
  check(person: SigningUp): Promise<void>;
  /** Checks the limits again under their locks and records the account, in the transaction that opens it. */
  admit(tx: Database, person: SigningUp & { accountId: AccountId }): Promise<void>;
};

const dayMs = 24 * 60 * 60_000;

type AdmissionOptions = { database: Database; clock: Clock; ids: IdSource; logger: Logger; limits: SignUpLimits };

export function createAdmission({ database, clock, ids, logger, limits }: AdmissionOptions): SignUpAdmission {
  function describe({ mailbox, address }: SigningUp) {
    const mailDomain = mailbox.slice(mailbox.lastIndexOf("@") + 1);
    // Behind a proxy that is not in trusted_proxies, everybody has its address.
    const isLimitedNetwork = isPublicAddress(address);
    return { network: presentNetwork(address), mailDomain, isLimitedNetwork };
  }

  async function findLimit(within: Database, person: SigningUp): Promise<"network-limit" | "domain-limit" | null> {
    const { network, mailDomain, isLimitedNetwork } = describe(person);
    const since = new Date(clock.now().getTime() - dayMs);
    const { ofNetwork, ofDomain } = await countOpened(within, { network, mailDomain, since });
    const { perNetworkMax, perDomainMax } = limits;
    if (isLimitedNetwork && perNetworkMax > 0 && ofNetwork >= perNetworkMax) return "network-limit";
    if (!isSharedDomain(mailDomain) && perDomainMax > 0 && ofDomain >= perDomainMax) return "domain-limit";
    return null;
  }

  async function findRefusal(person: SigningUp): Promise<SignUpRefusal | null> {
    const { mailDomain } = describe(person);
    const kinds = await findMailBlocks(database, {
      ...{ mailbox: person.mailbox, domains: listParents(mailDomain), now: clock.now() },
    });
    if (kinds.includes("mailbox") || kinds.includes("domain")) return "blocked";
    if (kinds.includes("disposable")) return "disposable";
    return await findLimit(database, person);
  }

  return {
    async check(person) {
      const refusal = await findRefusal(person);
      if (refusal === null) return;
      const { network, mailDomain } = describe(person);
      logger.warn({ network, mail_domain: mailDomain, refusal }, "sign-up refused");
      const row = { id: ids.next("sup"), createdAt: clock.now(), network, mailDomain, accountId: null, refusal };
      await insertSignUp(database, row);
      throw explainRefusal(refusal, limits);
    },
    async admit(tx, { accountId, ...person }) {
      const { network, mailDomain } = describe(person);
      await lockSignUps(tx, [network, mailDomain]);
      const refusal = await findLimit(tx, person);
      if (refusal !== null) throw explainRefusal(refusal, limits);
      await insertSignUp(tx, {
        ...{ id: ids.next("sup"), createdAt: clock.now(), network, mailDomain, accountId, refusal: null },
      });
    },
  };
}

function explainRefusal(refusal: SignUpRefusal, { supportContact }: SignUpLimits): AppError {
  switch (refusal) {
    case "blocked":
      return createBlocked("e-mail address or its domain", supportContact);
    case "disposable":
      return new AppError(
        "disposable_email",
        "This address belongs to a service for disposable mailboxes. Sign up with a lasting e-mail address.",
        { param: "email" },
      );
    case "network-limit":
      return createLimited("from your network", supportContact, null);
    case "domain-limit":
      return createLimited("with your mail domain", supportContact, "email");
  }
}

const retryAfterSeconds = 3600;

function createLimited(what: string, supportContact: string | null, param: string | null): AppError {
  const whom = supportContact ?? "the operator of this service";
  const message = `Too many accounts were opened ${what} today. Try again tomorrow, or ask ${whom} for an invitation.`;
  return new AppError("sign_up_limited", message, {
    ...(param === null ? {} : { param }),
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}
