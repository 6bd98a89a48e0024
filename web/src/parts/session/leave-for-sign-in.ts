let isLeaving = false;

/**
 * Goes to sign in, and afterwards back to this page. Everything that asks the server hears that the session has ended;
 * only the first to hear it leaves, because each new way out would give up the one before.
 */
export function leaveForSignIn(): void {
  if (isLeaving) return;
  isLeaving = true;
  // Somebody who goes back may find the page as it was left.
  addEventListener(
    "pageshow",
    () => {
      isLeaving = false;
    },
    { once: true },
  );
  const here = `${location.pathname}${location.search}`;
  location.assign(`/sign-in?next=${encodeURIComponent(here)}`);
}
