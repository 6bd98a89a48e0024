import { startTransition, useOptimistic } from "react";

type SearchWords = { [name: string]: string | undefined };

/**
 * A page's search parameters; an empty value removes one. Changes show at once: the router navigates asynchronously,
 * and React would revert a controlled field meanwhile.
 */
export function useSearchControls<Search extends SearchWords>(
  search: Search,
  navigate: (options: { search: Search; replace: true; resetScroll: false }) => Promise<void>,
): [search: Search, change: (part: Search) => void] {
  const [shown, show] = useOptimistic(search);
  const change = (part: Search) => {
    const words = Object.entries({ ...shown, ...part }).filter(([, word]) => word !== "" && word !== undefined);
    const next = Object.fromEntries(words) as Search;
    startTransition(async () => {
      show(next);
      await navigate({ search: next, replace: true, resetScroll: false });
    });
  };
  return [shown, change];
}
