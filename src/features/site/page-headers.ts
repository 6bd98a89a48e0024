import { createHash } from "node:crypto";

/** Only pages of the connect flow may reach programs on the user's computer. */
export type PagePolicy = "page" | "connect";

const loopbackSources = "http://127.0.0.1:* http://localhost:*";

type HeaderOptions = { isHttps: boolean; shell?: string };

/** Security headers. Scripts and styles are our own files; the shell's inline styles are allowed by hash. */
export function presentPageHeaders(policy: PagePolicy, { isHttps, shell = "" }: HeaderOptions): Record<string, string> {
  const connectSources = policy === "connect" ? `'self' ${loopbackSources}` : "'self'";
  const loopback = policy === "connect" ? "(self)" : "()";
  return {
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      ["style-src 'self'", ...listStyleHashes(shell)].join(" "),
      // Previews of files before their upload.
      "img-src 'self' data: blob:",
      "media-src 'self' blob:",
      "font-src 'self'",
      `connect-src ${connectSources}`,
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join("; "),
    "permissions-policy": [
      `loopback-network=${loopback}`,
      "local-network=()",
      "camera=()",
      "geolocation=()",
      "microphone=()",
      "payment=()",
      "usb=()",
    ].join(", "),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    ...(isHttps ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}

function listStyleHashes(shell: string): string[] {
  return [...shell.matchAll(/<style>(.*?)<\/style>/gs)].map(
    ([, styles = ""]) => `'sha256-${createHash("sha256").update(styles).digest("base64")}'`,
  );
}
