import type { ReactNode } from "react";

export type Fact = {
  name: string;
  value: ReactNode;
  /** Required when two facts share a name. */
  id?: string;
};

/** Name and value pairs. */
export function FactList({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="divide-y divide-line border-y border-line text-sm">
      {facts.map(({ name, value, id }) => (
        <div key={id ?? name} className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-0.5 py-2.5">
          <dt className="text-ink-soft">{name}</dt>
          <dd className="min-w-0 text-right tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
