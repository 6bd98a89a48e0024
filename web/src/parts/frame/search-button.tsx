import { type ComponentType, useEffect, useState } from "react";
import { Icon } from "../../design/icon.tsx";
import { useToast } from "../../design/toast.tsx";
import type { PlaceGroup } from "../search/list-pages.ts";

type PaletteProps = { places: readonly PlaceGroup[]; onClose(): void };

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens the search box, as ⌘K or Ctrl K does. Its code is loaded when it is first wanted. */
export function SearchButton({ places }: { places: readonly PlaceGroup[] }) {
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null);
  const [isOpen, setOpen] = useState(false);
  const showToast = useToast();
  const load = () =>
    import("../search/search-palette.tsx").then(({ SearchPalette }) => setPalette(() => SearchPalette));
  const open = () => {
    setOpen(true);
    load().catch(() => {
      setOpen(false);
      showToast("Search could not be loaded. Try again, or reload the page.");
    });
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isShortcut = event.key.toLowerCase() === "k" && (isApple ? event.metaKey : event.ctrlKey);
      if (!isShortcut || event.altKey || event.shiftKey) return;
      // The browser has a search of its own under these keys.
      event.preventDefault();
      if (isOpen) setOpen(false);
      else open();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  return (
    <>
      <button
        type="button"
        aria-keyshortcuts={isApple ? "Meta+K" : "Control+K"}
        aria-haspopup="dialog"
        onClick={open}
        // Begun early; where it fails, the press tells.
        onPointerEnter={() => void load().catch(() => {})}
        className="flex min-h-10 items-center gap-2 rounded-md px-3 text-sm text-ink-soft hover:bg-sunken hover:text-ink lg:min-h-9 lg:border lg:border-line-strong lg:bg-surface"
      >
        <Icon name="search" />
        <span className="max-sm:sr-only">Search</span>
        <span aria-hidden="true" className="ml-auto text-xs max-lg:hidden">
          {isApple ? "⌘K" : "Ctrl K"}
        </span>
      </button>
      {isOpen && Palette !== null && <Palette places={places} onClose={() => setOpen(false)} />}
    </>
  );
}
