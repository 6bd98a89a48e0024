const startPath = "/console";

/**
 * Where to go after signing in. Only a page of this site counts; an address of another site in a link to the sign-in
 * page must lead nowhere else, however it is written.
 */
export function parseNextPath(given: string | undefined, origin: string): string {
  if (given === undefined || !given.startsWith("/") || !URL.canParse(given, origin)) return startPath;
  const url = new URL(given, origin);
  if (url.origin !== origin || /^\/(sign-in|sign-up|console\/api|v1)(\/|$)/.test(url.pathname)) return startPath;
  return `${url.pathname}${url.search}`;
}
