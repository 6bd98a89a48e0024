/** API keys (ours and Stripe's), webhook secrets and passwords in URLs. */
const secrets = [
  { pattern: /sk-slc-[0-9A-Za-z]{4,}/g, mark: "sk-slc-", replacement: "sk-slc-[hidden]" },
  { pattern: /([sr]k_live_)[0-9A-Za-z]{4,}/g, mark: "k_live_", replacement: "$1[hidden]" },
  { pattern: /([sr]k_test_)[0-9A-Za-z]{4,}/g, mark: "k_test_", replacement: "$1[hidden]" },
  { pattern: /whsec_[A-Za-z0-9+/=]{8,}/g, mark: "whsec_", replacement: "whsec_[hidden]" },
  { pattern: /:\/\/[^\s"']*@/g, mark: "@", replacement: "://[hidden]@" },
  { pattern: /([?&]password=)[^\s"'&]+/g, mark: "password=", replacement: "$1[hidden]" },
];

/** Fast path: most lines contain none of these. */
const anyMark = new RegExp(secrets.map(({ mark }) => mark).join("|"));

/** Defence in depth: removes secrets that were logged by mistake. */
export function scrubSecrets(line: string): string {
  if (!anyMark.test(line)) return line;
  let clean = line;
  for (const { pattern, replacement } of secrets) clean = clean.replace(pattern, replacement);
  return clean;
}
