/** Holds the place of what is still on its way, so that nothing jumps when it comes. */
export function Skeleton({ className }: { className: string }) {
  return <div aria-hidden="true" className={`animate-pulse rounded-sm bg-line ${className}`} />;
}
