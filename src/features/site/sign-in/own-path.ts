const charactersMax = 1000;
const fallback = "/console";

/** Where a sign-in leads on to: a page of this site, whatever somebody wrote into the link. */
export function chooseOwnPath(next: string | undefined, siteUrl: string): string {
  if (next === undefined || next.length > charactersMax || !isPath(next)) return fallback;
  const url = URL.parse(next, siteUrl);
  if (url === null || url.origin !== new URL(siteUrl).origin) return fallback;
  // Dots in a path can be what hides a second slash.
  const path = `${url.pathname}${url.search}`;
  return isPath(path) ? path : fallback;
}

/** With two slashes, it would be a host. */
function isPath(text: string): boolean {
  return /^\/(?![/\\])/.test(text);
}
