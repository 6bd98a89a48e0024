import { Menu as Primitive } from "@base-ui/react/menu";
import { buttonClasses } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { MenuItem } from "../../design/menu.tsx";
import type { InputUse } from "./list-input-uses.ts";

type UseAsInputProps = { name: string; uses: readonly InputUse[]; onUse(use: InputUse): void };

export function UseAsInput({ name, uses, onUse }: UseAsInputProps) {
  if (uses.length === 0) return null;
  return (
    <Primitive.Root modal={false}>
      <Primitive.Trigger aria-label={`Use ${name} as input`} className={buttonClasses("quiet", "-ml-2 self-start")}>
        Use as input
        <Icon name="chevron" className="size-3 rotate-90" />
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Positioner align="start" sideOffset={4} className="z-20">
          <Primitive.Popup className="w-64 rounded-lg border border-line bg-surface p-1.5 text-ink shadow-float outline-none">
            {uses.map((use) => (
              <MenuItem key={`${use.type} ${use.field}`} onSelect={() => onUse(use)}>
                {use.label}
              </MenuItem>
            ))}
          </Primitive.Popup>
        </Primitive.Positioner>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
