/** Placeholder that prevents layout shift. Hidden where scripts are off. */
export function Skeleton({ className }: { className: string }) {
  return <div aria-hidden="true" className={`animate-pulse rounded-sm bg-line noscript:hidden ${className}`} />;
}
