const promises = [
  {
    title: "Your code stays",
    text: "Change the base address and the key; OpenAI’s clients, the AI SDK and LangChain work as they are. What a model cannot do is refused with the field’s name, never silently left out.",
  },
  {
    title: "Prepaid and exact",
    text: "The most a call may cost is set aside before it begins, and what it does not need comes back. Every charge shows its price, its quantities and its sum. What was not delivered costs nothing.",
  },
  {
    title: "Nothing done twice",
    text: "Send an idempotency key, and a call that is repeated after a time-out is answered by the first one: made once, paid once. Webhooks are signed, and tried again for three days.",
  },
] as const;

/** What one may rely on; the guide tells each of them in full. */
export function Promises() {
  return (
    <ul aria-label="What you can rely on" className="grid gap-8 md:grid-cols-3 md:gap-10">
      {promises.map(({ title, text }) => (
        <li key={title} className="flex flex-col gap-2 border-t border-line pt-5">
          <h2 className="font-semibold">{title}</h2>
          <p className="text-sm text-ink-soft">{text}</p>
        </li>
      ))}
    </ul>
  );
}
