import { Tabs as Primitive } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

export type Tab<Id extends string> = { id: Id; label: string };
type TabsProps<Id extends string> = {
  label: string;
  tabs: readonly Tab<Id>[];
  chosen: Id;
  onChoose(id: Id): void;
  children: ReactNode;
};

/** Ways to do the same thing, one shown at a time. Arrow keys go from one to the next. */
export function Tabs<Id extends string>({ label, tabs, chosen, onChoose, children }: TabsProps<Id>) {
  return (
    <Primitive.Root value={chosen} onValueChange={onChoose}>
      <Primitive.List aria-label={label} activateOnFocus className="flex gap-1 rounded-md bg-sunken p-1">
        {tabs.map((tab) => (
          <Primitive.Tab
            key={tab.id}
            value={tab.id}
            className="min-h-9 flex-1 rounded-sm px-3 text-sm font-medium text-ink-soft hover:text-ink aria-selected:bg-surface aria-selected:text-ink aria-selected:shadow-card"
          >
            {tab.label}
          </Primitive.Tab>
        ))}
      </Primitive.List>
      <Primitive.Panel value={chosen} tabIndex={-1} className="pt-5">
        {children}
      </Primitive.Panel>
    </Primitive.Root>
  );
}
