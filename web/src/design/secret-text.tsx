import { CopyButton } from "./copy-button.tsx";

/** A secret in full, with a copy button. */
export function SecretText({ label, text }: { label: string; text: string }) {
  return (
    <section
      aria-label={label}
      className="flex flex-wrap items-center justify-between gap-3 rounded-md border border-line bg-sunken py-2 pr-2 pl-4"
    >
      <code className="min-w-0 font-mono text-sm break-all">{text}</code>
      <CopyButton text={text} />
    </section>
  );
}
