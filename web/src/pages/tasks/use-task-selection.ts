import { useMemo, useState } from "react";

export type TaskSelection = {
  ids: ReadonlySet<string>;
  has(id: string): boolean;
  toggle(id: string): void;
  clear(): void;
};

export function useTaskSelection(): TaskSelection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return useMemo(
    () => ({
      ids,
      has: (id) => ids.has(id),
      toggle: (id) =>
        setIds((last) => (last.has(id) ? new Set([...last].filter((each) => each !== id)) : new Set([...last, id]))),
      clear: () => setIds(new Set()),
    }),
    [ids],
  );
}
