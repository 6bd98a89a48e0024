/** Renders `backticks` as code. The tint is of the text's colour, so that it fits every background. */
export function InlineCodeText({ text }: { text: string }) {
  return text.split(/`([^`]+)`/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by position.
      <code key={index} className="rounded-sm bg-current/6 px-1 py-0.5 font-mono text-[0.875em]">
        {part}
      </code>
    ),
  );
}
