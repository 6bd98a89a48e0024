/** The Sluice logo: a half-open sluice gate with water below. */
export function Mark({ className = "size-7" }: { className?: string }) {
  return (
    <svg viewBox="0 0 16 16" className={className} aria-hidden="true">
      <path className="fill-accent" d="M2 1h2v9H2zM12 1h2v9h-2zM5 1h6v6H5z" />
      <path className="fill-none stroke-water" strokeWidth="2" d="M1 13q2-2 3.5 0t3.5 0 3.5 0 3.5 0" />
    </svg>
  );
}
