import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../../design/button.tsx";
import { useAdminPlace } from "../admin-place.tsx";

/** On every operators' page: an id or a name leads to its object. */
export function SearchBar() {
  const { search } = useAdminPlace();
  const [words, setWords] = useState(search.find ?? "");
  const navigate = useNavigate();
  return (
    <search className="mx-auto block w-full max-w-6xl px-4 pt-4 sm:px-8">
      <form
        className="flex gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          const find = words.trim();
          if (find !== "") void navigate({ to: "/console/admin/$", params: { _splat: "search" }, search: { find } });
        }}
      >
        <input
          type="search"
          aria-label="Find by ID, e-mail, key or payment"
          placeholder="Find by ID, e-mail, key or payment"
          maxLength={300}
          value={words}
          onChange={(event) => setWords(event.target.value)}
          className="min-h-10 min-w-0 grow rounded-md border border-line-strong bg-surface px-3 text-sm placeholder:text-ink-soft"
        />
        <Button type="submit">Find</Button>
      </form>
    </search>
  );
}
