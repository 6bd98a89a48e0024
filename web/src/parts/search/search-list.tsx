import { useEffect, useRef } from "react";
import { Icon } from "../../design/icon.tsx";
import type { SearchEntry, SearchGroup } from "./search-entry.ts";

type SearchListProps = {
  id: string;
  groups: readonly SearchGroup[];
  /** Index of the highlighted entry. */
  chosenAt: number;
  onChoose(at: number): void;
  onOpen(entry: SearchEntry): void;
};

/** Results by kind: the listbox of the search field, which keeps focus. */
export function SearchList({ id, groups, chosenAt, onChoose, onOpen }: SearchListProps) {
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
