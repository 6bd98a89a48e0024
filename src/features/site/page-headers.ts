/** Pages of the connect flow may reach a program on the reader's own computer; no other page may. */
export type PagePolicy = "page" | "connect";

const loopbackSources = "http://127.0.0.1:* http://localhost:*";

/** What browsers must not do with our pages. Scripts and styles are files of ours; nothing is written into a page. */
export function presentPageHeaders(policy: PagePolicy, { isHttps }: { isHttps: boolean }): Record<string, string> {
  const connectSources = policy === "connect" ? `'self' ${loopbackSources}` : "'self'";
  const loopback = policy === "connect" ? "(self)" : "()";
  return {
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      // Files that somebody chose are shown before they are sent.
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
