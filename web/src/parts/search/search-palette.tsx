import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { Spinner } from "../../design/spinner.tsx";
import { useSession } from "../session/use-session.ts";
import type { PlaceGroup } from "./list-pages.ts";
import { rememberEntry } from "./recent-entries.ts";
import type { SearchEntry, SearchGroup } from "./search-entry.ts";
import { SearchList } from "./search-list.tsx";
import { useSearchGroups } from "./use-search-groups.ts";

type SearchPaletteProps = { places: readonly PlaceGroup[]; onClose(): void };

/**
 * One field that leads everywhere. The focus stays in it; arrow keys go through what was found, Enter opens it, and when it
 * closes the focus is where it was.
 */
export function SearchPalette({ places, onClose }: SearchPaletteProps) {
  const [text, setText] = useState("");
  const { groups, isSearching, error } = useSearchGroups(text, places);
  const entries = groups.flatMap((group) => group.entries);
  const [chosenAt, setChosenAt] = useState(0);
  const at = Math.min(chosenAt, entries.length - 1);
  const listId = useId();
  const dialog = useModal();
  const open = useOpenEntry(onClose);
  // An id is pasted and Enter pressed before the server has answered: it opens when it has.
  const [isAwaited, setAwaited] = useState(false);
  const first = entries[0];
  useEffect(() => {
    if (!isAwaited || isSearching) return;
    setAwaited(false);
    if (first !== undefined) open(first);
  }, [isAwaited, isSearching, first, open]);

  const press = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setChosenAt((at + step + entries.length) % entries.length);
    }
    if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      const entry = entries[at];
      if (entry !== undefined) open(entry);
      else setAwaited(isSearching);
    }
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it as well.
    <dialog
      ref={dialog}
      aria-label="Search"
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && onClose()}
      className="mx-auto mt-3 max-h-[calc(100dvh-1.5rem)] w-[min(40rem,calc(100vw-1.5rem))] max-w-none overflow-hidden rounded-lg border border-line bg-surface text-ink shadow-float sm:mt-[12vh] sm:max-h-[70vh]"
    >
      <div className="flex max-h-[inherit] flex-col">
        <div className="flex items-center gap-3 border-b border-line px-4">
          <span className="flex size-4 items-center justify-center text-ink-soft">
            {isSearching ? <Spinner /> : <Icon name="search" />}
          </span>
          <input
            role="combobox"
            aria-label="Search"
            aria-expanded={entries.length > 0}
            aria-controls={entries.length > 0 ? listId : undefined}
            aria-activedescendant={entries.length > 0 ? `${listId}-${at}` : undefined}
            aria-autocomplete="list"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={200}
            placeholder="Search by name or ID"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setChosenAt(0);
              setAwaited(false);
            }}
            onKeyDown={press}
            className="min-h-13 min-w-0 flex-1 bg-transparent text-base outline-none placeholder:text-ink-soft"
          />
          <button
            type="button"
            onClick={onClose}
            className="rounded-sm border border-line px-1.5 py-0.5 text-xs text-ink-soft hover:bg-sunken"
          >
            <span className="sr-only">Close search</span>
            <span aria-hidden="true">Esc</span>
          </button>
        </div>
        <div className="min-h-0 overflow-y-auto p-2">
          <SearchList id={listId} groups={groups} chosenAt={at} onChoose={setChosenAt} onOpen={open} />
          {error !== null && (
            <p className="px-3 py-4 text-sm text-danger">Your account could not be searched: {error.message}</p>
          )}
          {entries.length === 0 && error === null && <Nothing text={text.trim()} isSearching={isSearching} />}
        </div>
        <p role="status" className="sr-only">
          {isSearching ? "" : countEntries(groups)}
        </p>
        <Hints hasText={text.trim() !== ""} />
      </div>
    </dialog>
  );
}

const searchable =
  "A request, task, transaction, key, file or event by its ID; a model, key, file, page or chapter by its name.";

function Nothing({ text, isSearching }: { text: string; isSearching: boolean }) {
  if (isSearching) return <p className="px-3 py-8 text-center text-sm text-ink-soft">Searching…</p>;
  return (
    <div className="flex flex-col items-center gap-1.5 px-6 py-10 text-center">
      <p className="font-medium wrap-anywhere">Nothing found for “{text}”</p>
      <p className="max-w-md text-sm text-ink-soft">{searchable}</p>
    </div>
  );
}

function Hints({ hasText }: { hasText: boolean }) {
  return (
    <div
      className={joinClasses(
        "flex flex-wrap items-center justify-between gap-x-6 gap-y-1 border-t border-line px-4 py-2.5 text-xs text-ink-soft",
        hasText && "max-sm:hidden",
      )}
    >
      <p className="max-sm:hidden">
        <Key>↑</Key> <Key>↓</Key> to move, <Key>↵</Key> to open
      </p>
      {!hasText && (
        <p>
          Paste any ID: <code className="font-mono">req_ task_ txn_ key_ file_ evt_</code>
        </p>
      )}
    </div>
  );
}

function Key({ children }: { children: string }) {
  return <kbd className="rounded-sm border border-line px-1 font-sans">{children}</kbd>;
}

function countEntries(groups: readonly SearchGroup[]): string {
  const count = groups.reduce((sum, { entries }) => sum + entries.length, 0);
  return count === 1 ? "1 result" : `${count} results`;
}

function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  // Closed while it is still in the page, so that the focus goes back to where it was.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return dialog;
}

/** Goes where an entry leads, and remembers that it did. */
function useOpenEntry(onClose: () => void): (entry: SearchEntry) => void {
  const router = useRouter();
  const { account } = useSession();
  return (entry) => {
    rememberEntry(account.id, entry);
    onClose();
    if (entry.opens === undefined) router.history.push(entry.to);
    else if (entry.opens === "document") location.assign(entry.to);
    else save(entry.to);
  };
}

function save(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}
