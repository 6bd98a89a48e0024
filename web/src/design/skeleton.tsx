/** Holds the place of what is still on its way, so that nothing jumps when it comes. Where no script runs, nothing will. */
export function Skeleton({ className }: { className: string }) {
  return <div aria-hidden="true" className={`animate-pulse rounded-sm bg-line noscript:hidden ${className}`} />;
}
