import { Combobox as Primitive } from "@base-ui/react/combobox";
import { Icon } from "./icon.tsx";
import type { SelectOption } from "./select-field.tsx";

type ComboboxProps = {
  label: string;
  options: readonly SelectOption[];
  value: string;
  onChange(value: string): void;
};

/** One of many options, found by typing part of its name. */
export function Combobox({ label, options, value, onChange }: ComboboxProps) {
  const chosen = options.find((option) => option.value === value) ?? null;
  return (
    <Primitive.Root
      items={options}
      value={chosen}
      onValueChange={(option) => option !== null && onChange(option.value)}
      autoHighlight
      isItemEqualToValue={(one, other) => one.value === other.value}
    >
      <Primitive.Trigger
        aria-label={`${label}: ${chosen?.label ?? "none"}`}
        className="flex min-h-10 max-w-full min-w-0 items-center gap-2 rounded-md border border-line-strong bg-surface px-2.5 text-left text-sm sm:max-w-72"
      >
        <span className="truncate">{chosen?.label ?? label}</span>
        <Icon name="chevron" className="size-3 rotate-90" />
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Positioner align="start" sideOffset={4} className="z-20">
          <Primitive.Popup
            aria-label={label}
            className="flex max-h-80 w-72 max-w-(--available-width) animate-appear flex-col rounded-lg border border-line bg-surface shadow-float outline-none"
          >
            <Primitive.Input
              aria-label={`Search: ${label}`}
              placeholder="Search"
              className="min-h-10 rounded-t-lg border-b border-line bg-transparent px-3 text-sm outline-none placeholder:text-ink-soft"
            />
            <Primitive.Empty className="px-3 py-2.5 text-sm text-ink-soft empty:hidden">No matches.</Primitive.Empty>
            <Primitive.List className="overflow-y-auto overscroll-contain p-1.5 empty:hidden">
              {(option: SelectOption) => (
                <Primitive.Item
                  key={option.value}
                  value={option}
                  className="flex min-h-8 cursor-pointer items-center gap-2 rounded-sm px-2 text-sm outline-none data-highlighted:bg-sunken"
                >
                  <span className="min-w-0 flex-1 truncate">{option.label}</span>
                  <Primitive.ItemIndicator>
                    <Icon name="check" />
                  </Primitive.ItemIndicator>
                </Primitive.Item>
              )}
            </Primitive.List>
          </Primitive.Popup>
        </Primitive.Positioner>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
