type Welcome = {
  siteUrl: string;
  baseUrl: string;
  /** The demo key on the first run: its text for a terminal, or the file that keeps it. */
  key: { text: string } | { path: string } | null;
};

/** The page that a start shows: where things are and what to do next. */
export function presentWelcome({ siteUrl, baseUrl, key }: Welcome): string {
  const lines = [
    "",
    "  Sluice is running.",
    "",
    `  Site        ${siteUrl}`,
    `  API         ${baseUrl}`,
    `  Reference   ${siteUrl}/docs`,
    "",
  ];
  if (key === null) {
    return [
      ...lines,
      "  Accounts    npm run -s sluice -- account list",
      "  A new key   npm run -s sluice -- key create --account <account id>",
      "",
    ].join("\n");
  }
  const isShown = "text" in key;
  const secret = isShown ? key.text : `$(cat '${key.path}')`;
  return [
    ...lines,
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
