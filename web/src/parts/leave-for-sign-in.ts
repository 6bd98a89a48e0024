/** Goes to sign in, and afterwards back to this page. */
export function leaveForSignIn(): void {
  const here = `${location.pathname}${location.search}`;
  location.assign(`/sign-in?next=${encodeURIComponent(here)}`);
}
