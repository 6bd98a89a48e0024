type Welcome = {
  siteUrl: string;
  baseUrl: string;
  /** Where mails can be read that are not sent; whoever has the link can sign in as anybody. */
  outbox: Secret | null;
  /** What is to be mended, and how. */
  notices: readonly { message: string; remedy?: string | undefined }[];
  /** The demo account on the first run. */
  demo: { email: string; password: Secret; key: Secret } | null;
};

/** Its text for a terminal, or the file that keeps it. */
type Secret = { text: string } | { path: string };

/** The page that a start shows: where things are and what to do next. */
export function presentWelcome({ siteUrl, baseUrl, outbox, notices, demo }: Welcome): string {
  const lines = [
    "",
    "  Sluice is running.",
    "",
    `  Site        ${siteUrl}`,
    `  API         ${baseUrl}`,
    `  Reference   ${siteUrl}/docs`,
    ...(outbox === null ? [] : [`  Outbox      ${"text" in outbox ? outbox.text : `its link is in ${outbox.path}`}`]),
    "",
    ...notices.flatMap(({ message, remedy }) => [`  Warning     ${message}.`, `              ${remedy}`, ""]),
  ];
  if (demo === null) {
    return [
      ...lines,
      "  Accounts    npm run -s sluice -- account list",
      "  A new key   npm run -s sluice -- key create --account <account id>",
      "",
    ].join("\n");
  }
  const { email, password, key } = demo;
  const isShown = "text" in key;
  const secret = isShown ? key.text : `$(cat '${key.path}')`;
  return [
    ...lines,
    `  Sign in as ${email} with this password${"text" in password ? " (shown this once)" : ", which is in this file"}:`,
    "",
    `    ${"text" in password ? password.text : password.path}`,
    "",
    isShown ? "  Your API key (shown this once, so keep it now):" : "  Your API key is in this file:",
    "",
    `    ${isShown ? key.text : key.path}`,
    "",
    "  Your first call:",
    "",
    `    curl ${baseUrl}/chat/completions -H "Authorization: Bearer ${secret}" \\`,
    `      -H "Content-Type: application/json" \\`,
    `      -d '{"model": "sandbox-chat", "messages": [{"role": "user", "content": "Hello!"}]}'`,
    "",
    "  More: npm run -s sluice -- help",
    "",
  ].join("\n");
}
