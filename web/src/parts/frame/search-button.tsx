import { type ComponentType, useEffect, useState } from "react";
import { Icon } from "../../design/icon.tsx";
import { useToast } from "../../design/toast.tsx";

/** Read when the field mounts, not before: it grows until then. */
type Typed = { take(): string };

type PaletteProps = { typed: Typed; onClose(): void };

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens search, like ⌘K or Ctrl K. Its code loads on first use. */
export function SearchButton() {
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState<Typed>({ take: () => "" });
  const showToast = useToast();
  const load = () =>
    import("../search/search-palette.tsx").then(({ SearchPalette }) => setPalette(() => SearchPalette));
  const open = () => {
    const gathered = gatherTyped();
    setTyped(gathered);
    setOpen(true);
    load().catch(() => {
      gathered.take();
      setOpen(false);
      showToast("Search could not be loaded. Try again, or reload the page.");
    });
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isShortcut = event.key.toLowerCase() === "k" && (isApple ? event.metaKey : event.ctrlKey);
      if (!isShortcut || event.altKey || event.shiftKey) return;
      // Overrides the browser's own shortcut.
      event.preventDefault();
      if (!isOpen) return open();
      typed.take();
      setOpen(false);
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
        // Preload; the click reports a failure.
        onPointerEnter={() => void load().catch(() => {})}
        className="flex min-h-10 items-center gap-2 rounded-md px-3 text-sm text-ink-soft hover:bg-sunken hover:text-ink lg:min-h-9 lg:border lg:border-line-strong lg:bg-surface"
      >
        <Icon name="search" />
        <span className="max-sm:sr-only">Search</span>
        <span aria-hidden="true" className="ml-auto min-w-8 text-right text-xs max-lg:hidden">
          {/* The prerendered page cannot know the platform. */}
          {!import.meta.env.SSR && (isApple ? "⌘K" : "Ctrl K")}
        </span>
      </button>
      {isOpen && Palette !== null && <Palette typed={typed} onClose={() => setOpen(false)} />}
    </>
  );
}

/**
 * Collects keystrokes between the shortcut and the mounted field, so typing need not wait for code. Starts with the
 * shortcut itself, not with the next render.
 */
function gatherTyped(): Typed {
  let text = "";
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Backspace") text = text.slice(0, -1);
    else if (event.key.length === 1) text += event.key;
    else return;
    // Meant for search, not for the focused element.
    event.preventDefault();
  };
  addEventListener("keydown", press);
  return {
    take() {
      removeEventListener("keydown", press);
      return text;
    },
  };
}
