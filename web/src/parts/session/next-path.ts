const startPath = "/console";

/** Where to go after sign-in. Only paths of this site: prevents open redirects. */
export function parseNextPath(given: string | undefined, origin: string): string {
  if (given === undefined || !given.startsWith("/") || !URL.canParse(given, origin)) return startPath;
  const url = new URL(given, origin);
  if (url.origin !== origin || /^\/(sign-in|sign-up|console\/api|v1)(\/|$)/.test(url.pathname)) return startPath;
  return `${url.pathname}${url.search}`;
}
