import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { joinClasses } from "./join-classes.ts";

type MenuProps = {
  label: ReactNode;
  accessibleName: string;
  /** Where there is room for it. */
  opens?: "downwards" | "upwards";
  children: ReactNode;
};

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

/** Links and actions behind one button. Escape and a click elsewhere close it; arrow keys go through it. */
export function Menu({ label, accessibleName, opens = "downwards", children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const panelId = useId();

  useEffect(() => {
    if (!isOpen) return;
    const closeOutside = (event: Event) => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) setOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
    };
  }, [isOpen]);

  const handleKey = (event: KeyboardEvent) => {
    if (event.key === "Escape" && isOpen) {
      setOpen(false);
      trigger.current?.focus();
    }
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    // What is not shown yet cannot take the focus.
    if (!isOpen) flushSync(() => setOpen(true));
    const items = [...(panel.current?.querySelectorAll<HTMLElement>("a[href], button") ?? [])].filter((item) =>
      item.checkVisibility(),
    );
    const index = items.findIndex((item) => item.matches(":focus"));
    items.at((index + step) % items.length)?.focus();
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the button and the items inside.
    <div ref={root} className="relative" onKeyDown={handleKey}>
      <button
        ref={trigger}
        type="button"
        aria-expanded={isOpen}
        aria-controls={panelId}
        aria-label={accessibleName}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-10 max-w-56 items-center gap-2 rounded-md px-3 text-sm hover:bg-sunken"
      >
        {label}
        <svg
          viewBox="0 0 12 12"
          className="size-3 shrink-0 fill-none stroke-current"
          strokeWidth="1.5"
          aria-hidden="true"
        >
          <path d="m2.5 4.5 3.5 3.5 3.5-3.5" />
        </svg>
      </button>
      <div
        ref={panel}
        id={panelId}
        hidden={!isOpen}
        className={joinClasses(
          "absolute z-20 w-60 rounded-lg border border-line bg-surface p-1.5 shadow-float",
          opens === "downwards" ? "right-0 mt-1" : "bottom-full left-0 mb-1",
        )}
      >
        {children}
      </div>
    </div>
  );
}

export const menuItemClasses =
  "flex min-h-10 w-full items-center rounded-sm px-3 text-left text-sm hover:bg-sunken focus-visible:bg-sunken";
