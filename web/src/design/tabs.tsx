import { type KeyboardEvent, type ReactNode, useId } from "react";

export type Tab<Id extends string> = { id: Id; label: string };
type TabsProps<Id extends string> = {
  label: string;
  tabs: readonly Tab<Id>[];
  chosen: Id;
  onChoose(id: Id): void;
  children: ReactNode;
};

const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** Ways to do the same thing, one shown at a time. Arrow keys go from one to the next. */
export function Tabs<Id extends string>({ label, tabs, chosen, onChoose, children }: TabsProps<Id>) {
  const baseId = useId();
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = steps[event.key];
    const index = tabs.findIndex(({ id }) => id === chosen);
    const next = step === undefined ? undefined : tabs[(index + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next.id);
    document.getElementById(`${baseId}-${next.id}`)?.focus();
  };
  return (
    <div>
      <div role="tablist" aria-label={label} onKeyDown={move} className="flex gap-1 rounded-md bg-sunken p-1">
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${baseId}-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab.id === chosen}
            aria-controls={`${baseId}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => onChoose(tab.id)}
            className="min-h-9 flex-1 rounded-sm px-3 text-sm font-medium text-ink-soft hover:text-ink aria-selected:bg-surface aria-selected:text-ink aria-selected:shadow-card"
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div id={`${baseId}-panel`} role="tabpanel" aria-labelledby={`${baseId}-${chosen}`} className="pt-5">
        {children}
      </div>
    </div>
  );
}
