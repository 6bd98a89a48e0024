import type { AddressStep } from "../platform/net/probe-address.ts";
import type { ProviderError, ProviderErrorKind } from "./contract.ts";

type Advised = { keyName: string; upstreamModel: string; address: string };
type Advice = { check: string; message: string; remedy: string };

/** What each failure of a test call means, and what the operator does about it. */
export const adviceByFailure: Readonly<Record<ProviderErrorKind, (about: Advised) => Advice>> = {
  "key-refused": ({ keyName }) => ({
    ...{ check: "key", message: "The vendor refuses this key: it is wrong, expired, revoked, or of another project." },
    remedy: `Store a valid one: npm run -s sluice -- secret set ${keyName}`,
  }),
  "out-of-credit": () => ({
    ...{ check: "balance", message: "Your account at the vendor has no balance, or has reached its billing limit." },
    remedy: "Add credit or raise the limit at the vendor.",
  }),
  "quota-exceeded": () => ({
    ...{ check: "quota", message: "Your quota at the vendor is used up." },
    remedy: "Raise the quota at the vendor, or wait until it is renewed.",
  }),
  "rate-limited": () => ({
    ...{ check: "quota", message: "The vendor's rate limit is reached. The key itself works." },
    remedy: "Raise the limit at the vendor, or add a key of another project to api_keys.",
  }),
  "model-unavailable": ({ upstreamModel }) => ({
    ...{ check: "model", message: `The vendor does not have the model ${upstreamModel}, or not for your account.` },
    remedy: "Compare upstream_model with the vendor's list, or request access to the model.",
  }),
  misconfigured: ({ address }) => ({
    ...{ check: "address", message: "The vendor does not serve this address or your region." },
    remedy: `Compare base_url with the vendor's documentation (it is ${address}), and check which regions it serves.`,
  }),
  rejected: () => ({
    ...{ check: "request", message: "The vendor rejects the test request." },
    remedy: "Read what the vendor says. The provider's options, such as output_cap_field, may not fit.",
  }),
  "content-refused": () => ({
    ...{ check: "request", message: "The vendor's content policy rejects the test request." },
    remedy: "Check the account's policy settings at the vendor.",
  }),
  "too-long": () => ({
    ...{ check: "request", message: "The vendor says that the test request is too long." },
    remedy: "Check that upstream_model is a chat or embedding model.",
  }),
  overloaded: () => ({
    ...{ check: "upstream", message: "The vendor has a fault, or is too busy." },
    remedy: "See the vendor's status page, and test again later.",
  }),
  timeout: () => ({
    ...{ check: "network", message: "The vendor did not answer in time." },
    remedy: "See the vendor's status page, check proxies in between, or raise --timeout.",
  }),
  unreachable: () => ({
    ...{ check: "network", message: "The connection broke or could not be opened." },
    remedy: "Check firewalls and proxies between this machine and the vendor.",
  }),
  "bad-answer": ({ address }) => ({
    ...{ check: "address", message: "The answer is not in the format of this kind of provider." },
    remedy: `Check kind and base_url (${address}): it may be the address of a website or of another API.`,
  }),
  unexplained: ({ address }) => ({
    ...{ check: "upstream", message: "The vendor refuses without a reason that Sluice knows." },
    remedy: `Read what the vendor says. A proxy may answer in its place, or base_url (${address}) be wrong.`,
  }),
};

/** What AWS's codes mean when a role is assumed. `AccessDenied` is also the answer for a role that does not exist. */
const roleAdvice: Readonly<Record<string, Pick<Advice, "message" | "remedy">>> = {
  AccessDenied: {
    message: "AWS does not let this key assume the role.",
    remedy:
      "Compare role_arn with IAM. Allow sts:AssumeRole on it in the policy of the key's user, and name that user in the role's trust policy. If the trust policy requires sts:ExternalId, set external_id.",
  },
  ValidationError: {
    message: "AWS does not accept role_arn or external_id.",
    remedy: "Compare both with the role in IAM.",
  },
  RegionDisabledException: {
    message: "AWS STS is not active in this region for your account.",
    remedy: "Activate the region in IAM, under Account settings.",
  },
};

/** For a failure to assume the role of `role_arn`; `null` for any other failure. */
export function adviseRole({ kind, detail = {} }: ProviderError, keyName: string): Advice | null {
  const { role, stsUrl, code } = detail;
  if (typeof role !== "string") return null;
  const known = Object.hasOwn(roleAdvice, String(code)) ? roleAdvice[String(code)] : undefined;
  if (known !== undefined) return { check: "role", message: `${known.message} (${role})`, remedy: known.remedy };
  if (kind === "key-refused") {
    return {
      ...{ check: "key", message: `AWS refuses this key when it assumes the role ${role}.` },
      remedy: `Store a valid access key: aws configure export-credentials | npm run -s sluice -- secret set ${keyName}`,
    };
  }
  return {
    ...{ check: "role", message: `The role ${role} could not be assumed at ${String(stsUrl)}.` },
    remedy: "Read what AWS says. Check that this machine reaches that address, and AWS's status page.",
  };
}

const remedyByCode: Readonly<Record<string, string>> = {
  ENOTFOUND:
    "Check the host in base_url, region, location or resource for typing errors, and the name servers of this machine.",
  EAI_AGAIN: "The name servers of this machine do not answer. Check its network.",
  ECONNREFUSED: "Nothing listens there. Check host and port in base_url, and that the server runs.",
  ECONNRESET: "The server closed the connection. Check that base_url has the right scheme and port.",
  EHOSTUNREACH: "There is no way to this host. Check the network and the firewall.",
  ENETUNREACH: "There is no way to this network. Check the network and the firewall.",
  timeout: "The host does not answer. A firewall may drop the packets, or the port be wrong.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The certificate is self-signed. Trust its authority by NODE_EXTRA_CA_CERTS.",
  SELF_SIGNED_CERT_IN_CHAIN: "A private authority signed the certificate. Trust it by NODE_EXTRA_CA_CERTS.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "The server sends an incomplete chain. Send the intermediate certificates too.",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "Its authority is not trusted here. Trust it by NODE_EXTRA_CA_CERTS.",
  CERT_HAS_EXPIRED: "The certificate has expired. Its owner must renew it; check this machine's clock too.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The certificate is for another host. Check the host in base_url.",
};

export function adviseConnection({ step, code }: Extract<AddressStep, { isOk: false }>): string {
  return (
    remedyByCode[step === "dns" && code === "timeout" ? "EAI_AGAIN" : code] ??
    "Check base_url, and firewalls and proxies between this machine and the vendor."
  );
}
