import { createMisuse } from "./cli-error.ts";

export const siteUsual = "http://localhost:4242";

/** Validates and normalizes a server's URL. */
export function parseSite(text: string): string {
  const url = parseUrl(text);
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw createMisuse(`"${text}" is not a valid server URL. Use one like https://sluice.example.com`);
  }
  if (url.protocol === "http:" && !isLoopback(url)) {
    throw createMisuse(`http would send your key unencrypted. Use https://${url.host}`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

export function parseUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && ["http:", "https:"].includes(url.protocol) ? url : null;
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
