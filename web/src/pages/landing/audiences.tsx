const audiences = [
  {
    who: "Apps with media",
    what: "Images, video, avatars and dramas run as tasks, with progress, signed webhooks and stored files.",
  },
  {
    who: "Agents and their tools",
    what: "Chat Completions, Responses and Messages at one base URL. Claude Code, the AI SDK and LangChain just work.",
  },
  {
    who: "Teams with a budget",
    what: "Keys with limits, usage by model and key, and a prepaid balance that is never exceeded.",
  },
] as const;

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
