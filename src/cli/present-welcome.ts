type Welcome = {
  siteUrl: string;
  baseUrl: string;
  /** The link to unsent mails; it allows a sign-in to every account. */
  outbox: Secret | null;
  notices: readonly { message: string; remedy?: string | undefined }[];
  /** Only on the first run. */
  demo: { email: string; password: Secret; key: Secret } | null;
};

/** The text on a terminal, else the file that contains it. */
type Secret = { text: string } | { path: string };

/** The startup page: addresses and next steps. */
export function presentWelcome({ siteUrl, baseUrl, outbox, notices, demo }: Welcome): string {
  const lines = [
    "",
    "  Sluice is running.",
    "",
    `  Site        ${siteUrl}`,
    `  API         ${baseUrl}`,
    `  Reference   ${siteUrl}/docs`,
    ...(outbox === null ? [] : [`  Outbox      ${"text" in outbox ? outbox.text : `link in ${outbox.path}`}`]),
    "",
    ...notices.flatMap(({ message, remedy }) => [`  Warning     ${message}.`, `              ${remedy}`, ""]),
  ];
  if (demo === null) {
    return [
      ...lines,
      "  Accounts    npm run -s sluice -- account list",
      "  New key     npm run -s sluice -- key create --account <account id>",
      "",
    ].join("\n");
  }
  const { email, password, key } = demo;
  const isShown = "text" in key;
  const secret = isShown ? key.text : `$(cat '${key.path}')`;
  return [
    ...lines,
    `  Sign in as ${email} with this password${"text" in password ? " (shown once)" : ", stored in this file"}:`,
    "",
    `    ${"text" in password ? password.text : password.path}`,
    "",
    isShown ? "  Your API key (shown once, save it now):" : "  Your API key is in this file:",
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
