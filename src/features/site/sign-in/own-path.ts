const charactersMax = 1000;
const fallback = "/console";

/** Where a sign-in redirects: only paths of this site, to prevent open redirects. */
export function chooseOwnPath(next: string | undefined, siteUrl: string): string {
  if (next === undefined || next.length > charactersMax || !isPath(next)) return fallback;
  const url = URL.parse(next, siteUrl);
  if (url === null || url.origin !== new URL(siteUrl).origin) return fallback;
  // Dot segments can hide a second slash.
  const path = `${url.pathname}${url.search}`;
  return isPath(path) ? path : fallback;
}

/** Two leading slashes would name a host. */
function isPath(text: string): boolean {
  return /^\/(?![/\\])/.test(text);
}
