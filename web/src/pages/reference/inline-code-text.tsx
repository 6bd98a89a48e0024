/** Renders `backticks` as code. */
export function InlineCodeText({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: sentences are static.
      <code key={index} className="rounded-sm bg-sunken px-1 py-0.5 font-mono text-[0.875em]">
        {part}
      </code>
    ),
  );
}
