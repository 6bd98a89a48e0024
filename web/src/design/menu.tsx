import { Menu as Primitive } from "@base-ui/react/menu";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import { joinClasses } from "./join-classes.ts";

const itemClasses =
  "flex min-h-10 cursor-pointer items-center rounded-sm px-3 text-left text-sm outline-none data-highlighted:bg-sunken";

type MenuProps = { label: ReactNode; name: string; side?: "top" | "bottom"; children: ReactNode };

/** Actions behind one button; opens upwards by default, if there is room. */
export function Menu({ label, name, side = "top", children }: MenuProps) {
  return (
    <Primitive.Root modal={false}>
      <Primitive.Trigger
        aria-label={name}
        className="flex min-h-10 max-w-56 items-center gap-2 rounded-md px-3 text-sm hover:bg-sunken"
      >
        {label}
        <Icon name="chevron" className="size-3 rotate-90" />
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Positioner side={side} align="start" sideOffset={4} className="z-20">
          <Primitive.Popup className="w-60 rounded-lg border border-line bg-surface p-1.5 shadow-float outline-none">
            {children}
          </Primitive.Popup>
        </Primitive.Positioner>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

type MenuItemProps = {
  onSelect(): void;
  /** For screen readers, if the content is an icon. */
  name?: string;
  children: ReactNode;
};

export function MenuItem({ onSelect, name, children }: MenuItemProps) {
  return (
    <Primitive.Item
      onClick={onSelect}
      aria-label={name}
      className={joinClasses(itemClasses, name === undefined && "min-w-0 flex-1")}
    >
      {children}
    </Primitive.Item>
  );
}

type MenuChoiceProps<Value extends string> = {
  label: string;
  options: readonly { value: Value; label: string }[];
  chosen: Value;
  onChoose(value: Value): void;
};

/** A radio group in the menu. The menu stays open so the effect is visible. */
export function MenuChoice<Value extends string>({ label, options, chosen, onChoose }: MenuChoiceProps<Value>) {
  return (
    <Primitive.RadioGroup
      aria-label={label}
      value={chosen}
      onValueChange={onChoose}
      className="border-b border-line pb-1.5 mb-1.5"
    >
      {options.map((option) => (
        <Primitive.RadioItem key={option.value} value={option.value} className={itemClasses}>
          {option.label}
          <Primitive.RadioItemIndicator className="ml-auto">
            <Icon name="check" />
          </Primitive.RadioItemIndicator>
        </Primitive.RadioItem>
      ))}
    </Primitive.RadioGroup>
  );
}
