import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Icon } from "../../design/icon.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { Spinner } from "../../design/spinner.tsx";
import { rememberEntry } from "./recent-entries.ts";
import type { SearchEntry, SearchGroup } from "./search-entry.ts";
import { useSearchGroups } from "./use-search-groups.ts";

type SearchPaletteProps = {
  /** Text typed before the field mounted. */
  typed: { take(): string };
  onClose(): void;
};

/**
 * Search over pages, docs and the account. Focus stays in the field; arrow keys highlight, Enter opens, and closing
 * restores focus.
 */
export function SearchPalette({ typed, onClose }: SearchPaletteProps) {
  const [text, setText] = useState("");
  useLayoutEffect(() => setText(typed.take()), [typed]);
  const { groups, isSearching, error, isSignedIn } = useSearchGroups(text);
  const entries = groups.flatMap((group) => group.entries);
  const [chosenAt, setChosenAt] = useState(0);
  const at = Math.min(chosenAt, entries.length - 1);
  const listId = useId();
  const dialog = useModal();
  const open = useOpenEntry(onClose);
  // Enter pressed before the response opens the hit when it arrives, as for a pasted id.
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
      // Not `onClose`, which fires late: a shortcut pressed meanwhile would act on a closed dialog.
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A second Escape closes it regardless of `preventDefault`.
      onClose={(event) => !event.currentTarget.open && onClose()}
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
            placeholder={isSignedIn ? "Search by name or ID" : "Search guide and reference"}
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
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset belongs in a form. */}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: makes the results scrollable by keyboard. */}
        <div role="group" aria-label="Results" tabIndex={0} className="min-h-0 overflow-y-auto p-2">
          <SearchList id={listId} groups={groups} chosenAt={at} onChoose={setChosenAt} onOpen={open} />
          {error !== null && (
            <p className="px-3 py-4 text-sm text-danger">
              Your account could not be searched: <InlineCodeText text={error.message} />
            </p>
          )}
          {entries.length === 0 && error === null && (
            <Nothing text={text.trim()} isSearching={isSearching} isSignedIn={isSignedIn} />
          )}
        </div>
        <p role="status" className="sr-only">
          {isSearching ? "" : countEntries(groups)}
        </p>
        <Hints showsIds={isSignedIn && text.trim() === ""} hasText={text.trim() !== ""} />
      </div>
    </dialog>
  );
}

const searchable =
  "A request, task, transaction, key, file or event by its ID; a task by its prompt; a model, key, file, page, chapter, endpoint, field or error by its name.";
const openSearchable = "A chapter or heading of the guide, an endpoint, a field or an error code by its name.";

type NothingProps = { text: string; isSearching: boolean; isSignedIn: boolean };

function Nothing({ text, isSearching, isSignedIn }: NothingProps) {
  if (isSearching) return <p className="px-3 py-8 text-center text-sm text-ink-soft">Searching…</p>;
  return (
    <div className="flex flex-col items-center gap-1.5 px-6 py-10 text-center">
      <p className="font-medium wrap-anywhere">Nothing found for “{text}”</p>
      <p className="max-w-md text-sm text-ink-soft">{isSignedIn ? searchable : openSearchable}</p>
    </div>
  );
}

function Hints({ hasText, showsIds }: { hasText: boolean; showsIds: boolean }) {
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
      {showsIds && (
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
  // Close before unmounting, so the browser restores focus.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return dialog;
}

/** Opens an entry and adds it to the recent ones. */
function useOpenEntry(onClose: () => void): (entry: SearchEntry) => void {
  const router = useRouter();
  const { data: session } = useTableQuery(queryTable.session.current());
  return (entry) => {
    if (session != null) rememberEntry(session.account.id, entry);
    onClose();
    if (entry.opens === "download") save(entry.to);
    else router.history.push(entry.to);
  };
}

function save(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}

type SearchListProps = {
  id: string;
  groups: readonly SearchGroup[];
  /** Index of the highlighted entry. */
  chosenAt: number;
  onChoose(at: number): void;
  onOpen(entry: SearchEntry): void;
};

/** Results by kind: the listbox of the search field, which keeps focus. */
function SearchList({ id, groups, chosenAt, onChoose, onOpen }: SearchListProps) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the highlighted option is found in the DOM.
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosenAt]);
  if (groups.length === 0) return null;
  const starts = groups.map((_, index) => groups.slice(0, index).reduce((sum, { entries }) => sum + entries.length, 0));
  return (
    <div ref={list} id={id} role="listbox" aria-label="Search results" className="flex flex-col gap-2">
      {groups.map((group, index) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs in a form.
        <div key={group.name} role="group" aria-label={group.name}>
          <p aria-hidden="true" className="px-3 py-1.5 text-xs font-medium text-ink-soft">
            {group.name}
          </p>
          {group.entries.map((entry, place) => {
            const at = (starts[index] ?? 0) + place;
            return (
              <Option
                key={`${entry.to} ${entry.title} ${entry.detail}`}
                id={`${id}-${at}`}
                entry={entry}
                isChosen={at === chosenAt}
                onPoint={() => onChoose(at)}
                onOpen={() => onOpen(entry)}
              />
            );
          })}
        </div>
      ))}
    </div>
  );
}

type OptionProps = { id: string; entry: SearchEntry; isChosen: boolean; onPoint(): void; onOpen(): void };

function Option({ id, entry, isChosen, onPoint, onOpen }: OptionProps) {
  const { title, detail, tag, icon } = entry;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the field.
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      onPointerMove={onPoint}
      onClick={onOpen}
      className="flex min-h-11 cursor-pointer items-center gap-3 rounded-md px-3 py-1.5 text-sm aria-selected:bg-accent-soft aria-selected:text-accent"
    >
      <Icon name={icon} />
      <span className="flex min-w-0 flex-1 flex-col">
        <span className="truncate font-medium">{title}</span>
        {detail !== undefined && <span className="truncate text-xs text-ink-soft">{detail}</span>}
      </span>
      {tag !== undefined && (
        <span className="shrink-0 text-xs text-ink-soft max-sm:max-w-28 max-sm:truncate">{tag}</span>
      )}
    </div>
  );
}
