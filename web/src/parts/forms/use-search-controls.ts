import { startTransition, useOptimistic } from "react";

type SearchWords = { [name: string]: string | undefined };

/**
 * The search parameters of a page as its controls show and change them; an empty value removes one. A change is shown at
 * once, because the router takes a moment to navigate, and React reverts a controlled field until its value has changed.
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
