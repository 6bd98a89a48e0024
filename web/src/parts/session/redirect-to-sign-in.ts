let isLeaving = false;

/**
 * Goes to sign-in and back. Many requests may fail at once; only the first redirects, because each navigation would
 * cancel the one before.
 */
export function redirectToSignIn(): void {
  if (isLeaving) return;
  isLeaving = true;
  // The page may be restored from the back/forward cache.
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
