import type { ReactNode } from "react";
import { PageHeading } from "../../design/page-heading.tsx";
import { Section } from "../../design/section.tsx";
import { ShownActions } from "./shown-actions.tsx";
import { ShownFields } from "./shown-fields.tsx";
import { ShownFigures } from "./shown-figures.tsx";
import { ShownLists } from "./shown-lists.tsx";
import { ShownWords } from "./shown-words.tsx";

/** Every component in every state, light and dark. For development only; not in any build. */
export function DesignPage() {
  return (
    <main className="flex flex-col gap-6 p-6">
      <PageHeading intro="Every component in every state, light and dark.">Design</PageHeading>
      <div className="grid items-start gap-6 xl:grid-cols-2">
        <Theme name="light" />
        <Theme name="dark" />
      </div>
    </main>
  );
}

function Theme({ name }: { name: "light" | "dark" }) {
  return (
    <div
      style={{ colorScheme: name }}
      className="flex min-w-0 flex-col gap-12 rounded-lg border border-line bg-canvas p-6 text-ink"
    >
      <Shown title={`Words, ${name}`} part={<ShownWords />} />
      <Shown title={`Actions, ${name}`} part={<ShownActions />} />
      <Shown title={`Fields, ${name}`} part={<ShownFields />} />
      <Shown title={`Figures, ${name}`} part={<ShownFigures />} />
      <Shown title={`Lists, ${name}`} part={<ShownLists />} />
    </div>
  );
}

function Shown({ title, part }: { title: string; part: ReactNode }) {
  return (
    <Section title={title}>
      <div className="flex min-w-0 flex-col gap-6">{part}</div>
    </Section>
  );
}
