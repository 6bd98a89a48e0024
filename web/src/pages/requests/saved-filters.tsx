import { type FormEvent, useState } from "react";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { Icon } from "../../design/icon.tsx";
import { Menu, MenuItem } from "../../design/menu.tsx";
import { TextField } from "../../design/text-field.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import type { RequestsSearch } from "./requests-view.ts";
import { addFilter, parseFilters, type SavedFilter } from "./saved-filter.ts";

type SavedFiltersProps = { search: RequestsSearch; onOpen(search: RequestsSearch): void };

/** Filters that the user saved in this browser, by account. */
export function SavedFilters({ search, onOpen }: SavedFiltersProps) {
  const key = `sluice-request-filters:${useSession().account.id}`;
  const [filters, setFilters] = useState(() => parseFilters(localStorage.getItem(key)));
  const [isSaving, setSaving] = useState(false);
  const store = (next: SavedFilter[]): void => {
    setFilters(next);
    localStorage.setItem(key, JSON.stringify(next));
  };
  return (
    <>
      <Menu side="bottom" name="Saved filters" label="Saved filters">
        {filters.map((filter) => (
          <div key={filter.name} className="flex items-center">
            <MenuItem onSelect={() => onOpen(filter.search)}>
              <span className="truncate">{filter.name}</span>
            </MenuItem>
            <MenuItem
              name={`Delete the filter ${filter.name}`}
              onSelect={() => store(filters.filter(({ name }) => name !== filter.name))}
            >
              <Icon name="close" className="size-3" />
            </MenuItem>
          </div>
        ))}
        <MenuItem onSelect={() => setSaving(true)}>Save the current filter</MenuItem>
      </Menu>
      {isSaving && (
        <SaveFilter
          onClose={() => setSaving(false)}
          onSave={(name) => {
            store(addFilter(filters, { name, search }));
            setSaving(false);
          }}
        />
      )}
    </>
  );
}

function SaveFilter({ onSave, onClose }: { onSave(name: string): void; onClose(): void }) {
  const [name, setName] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== "") onSave(name.trim());
  };
  return (
    <Dialog title="Save the current filter" onClose={onClose}>
      <form className="flex flex-col gap-5" onSubmit={submit}>
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          hint="Saved in this browser. A filter of the same name is replaced."
        />
        <div className="flex justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isDisabled={name.trim() === ""}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
