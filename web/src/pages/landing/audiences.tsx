const audiences = [
  {
    who: "Apps that show something",
    what: "Images, video, avatars and dramas are tasks: with progress, signed webhooks and files that are kept.",
  },
  {
    who: "Agents and their tools",
    what: "Chat Completions, Responses and Messages on one address: Claude Code, the AI SDK and LangChain just work.",
  },
  {
    who: "Teams with a budget",
    what: "Keys with limits, usage by model and key, and a balance that is never exceeded by a cent.",
  },
] as const;

/** For whom it is, in one glance. */
export function Audiences() {
  return (
    <ul
      aria-label="Who it is for"
      className="grid overflow-hidden rounded-lg border border-line bg-surface md:grid-cols-3"
    >
      {audiences.map(({ who, what }) => (
        <li
          key={who}
          className="flex flex-col gap-1.5 border-line p-5 not-first:border-t sm:p-6 md:not-first:border-t-0 md:not-first:border-l"
        >
          <h2 className="font-semibold">{who}</h2>
          <p className="text-sm text-ink-soft">{what}</p>
        </li>
      ))}
    </ul>
  );
}
