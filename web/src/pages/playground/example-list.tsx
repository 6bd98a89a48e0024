type ExampleListProps<Item extends { name: string }> = {
  examples: readonly Item[];
  describe(example: Item): string;
  onChoose(example: Item): void;
};

/** Fills the form; sends nothing. */
export function ExampleList<Item extends { name: string }>({ examples, describe, onChoose }: ExampleListProps<Item>) {
  if (examples.length === 0) return null;
  return (
    <section aria-label="Examples" className="flex w-full flex-col gap-2 text-left">
      <h2 className="text-sm font-medium">Start with an example</h2>
      <ul className="grid gap-3 sm:grid-cols-[repeat(auto-fit,minmax(13rem,1fr))]">
        {examples.map((example) => (
          <li key={example.name} className="min-w-0">
            <button
              type="button"
              onClick={() => onChoose(example)}
              className="flex h-full w-full flex-col gap-1 rounded-md border border-line bg-surface p-3 text-left transition-colors hover:border-line-strong hover:bg-accent-soft"
            >
              <span className="text-sm font-medium">{example.name}</span>
              <span className="line-clamp-3 text-xs text-ink-soft">{describe(example)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
