const promises = [
  {
    title: "OpenAI-compatible",
    text: "Change the base URL and the key. OpenAI’s clients, the AI SDK and LangChain work unchanged. Unsupported parameters are rejected by name, never silently dropped.",
  },
  {
    title: "Prepaid and exact",
    text: "The maximum cost of a call is put on hold before it starts. The rest is released when it ends. Every charge shows its price, quantities and total. Undelivered output costs nothing.",
  },
  {
    title: "Idempotent",
    text: "Send an idempotency key, and a retry after a timeout returns the first result: run once, charged once. Webhooks are signed and retried for three days.",
  },
] as const;

export function Promises() {
  return (
    <ul aria-label="Guarantees" className="flex flex-col gap-6">
      {promises.map(({ title, text }) => (
        <li key={title} className="flex flex-col gap-2 border-t border-line pt-5">
          <h2 className="font-semibold">{title}</h2>
          <p className="text-sm text-ink-soft">{text}</p>
        </li>
      ))}
    </ul>
  );
}
