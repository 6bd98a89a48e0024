import { type ReactNode, useState } from "react";
import { Badge } from "../../design/badge.tsx";
import { Breadcrumbs } from "../../design/breadcrumbs.tsx";
import { Button, buttonClasses } from "../../design/button.tsx";
import { Card } from "../../design/card.tsx";
import type { ChartBar } from "../../design/chart-bar.ts";
import { CheckField } from "../../design/check-field.tsx";
import { CheckList } from "../../design/check-list.tsx";
import { ChoiceField } from "../../design/choice-field.tsx";
import { CodeBlock, CodeSamples, TitledCode } from "../../design/code-block.tsx";
import { CodeField } from "../../design/code-field.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { DataListText } from "../../design/data-list.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { DayField } from "../../design/day-field.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { ExactFigure } from "../../design/exact-figure.tsx";
import { FactList } from "../../design/fact-list.tsx";
import { Icon } from "../../design/icon.tsx";
import { LazyBarChart } from "../../design/lazy-bar-chart.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Mark } from "../../design/mark.tsx";
import { Menu, MenuChoice, MenuItem } from "../../design/menu.tsx";
import { Notice } from "../../design/notice.tsx";
import { PageHeading } from "../../design/page-heading.tsx";
import { PageSection } from "../../design/page-section.tsx";
import { PasswordField } from "../../design/password-field.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { RequestId } from "../../design/request-id.tsx";
import { SecretText } from "../../design/secret-text.tsx";
import { Section } from "../../design/section.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { assignColours } from "../../design/series-colours.ts";
import { Skeleton } from "../../design/skeleton.tsx";
import { Spinner } from "../../design/spinner.tsx";
import { Stat } from "../../design/stat.tsx";
import { type Tab, Tabs } from "../../design/tabs.tsx";
import { TextArea } from "../../design/text-area.tsx";
import { TextField } from "../../design/text-field.tsx";
import { useToast } from "../../design/toast.tsx";

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

const failure = Object.assign(new Error("The service is busy."), { requestId: "req_0190000000000000" });
const json = '{ "model": "sandbox-chat", "stream": true, "n": 1 }';

function ShownWords() {
  return (
    <>
      <Mark />
      <Breadcrumbs links={[{ id: "usage", link: <a href="#usage">Usage</a> }]} current="Charge" />
      {["text-4xl", "text-2xl", "text-xl", "text-lg", "text-base", "text-sm", "text-xs"].map((size) => (
        <p key={size} className={`${size} font-semibold`}>
          {size} One API, $1,234.56
        </p>
      ))}
      <p className="text-ink-soft">Secondary text.</p>
      <div className="flex flex-wrap gap-2">
        {(["neutral", "good", "busy", "warning", "bad"] as const).map((kind) => (
          <Badge key={kind} kind={kind}>
            {kind}
          </Badge>
        ))}
      </div>
      {(["hint", "success", "warning", "error"] as const).map((kind) => (
        <Notice key={kind} kind={kind} title={`A notice: ${kind}`}>
          What happened and what to do.
        </Notice>
      ))}
      <LoadFailure error={failure} onRetry={() => {}} />
      <Card title="A card" intro="One subject on a page." actions={<Badge>new</Badge>}>
        Card content.
      </Card>
      <PageSection title="A section of a page" intro="Without a box." />
      <EmptyState title="Nothing yet" action={<Badge>an action</Badge>}>
        What belongs here, and how to add it.
      </EmptyState>
      <RequestId id={failure.requestId} />
      <CopyableText text="task_0190000000000000" label="the task's id" />
      <SecretText label="A key" text="sk-slc-0000-0000-0000-0000" />
      <TitledCode label="JSON" code={json} />
      <CodeBlock label="Shell" code={'curl -sS "$BASE_URL/models" # all of them'} />
      <CodeSamples
        label="Languages"
        samples={[
          { id: "python", label: "Python", code: 'import os\nprint(os.environ["KEY"], 42)  # a comment' },
          { id: "typescript", label: "TypeScript", code: "const answer: string = await ask(`${42}`); // a comment" },
          { id: "yaml", label: "YAML", code: "models:\n  - id: chat # a comment" },
        ]}
      />
    </>
  );
}

const looks = ["primary", "plain", "danger", "quiet"] as const;
const icons = ["overview", "playground", "models", "keys", "tasks", "webhooks", "usage", "billing", "search"] as const;
const themes: readonly { value: "system" | "dark"; label: string }[] = [
  { value: "system", label: "System" },
  { value: "dark", label: "Dark" },
];
const tabs: readonly Tab<"one" | "two">[] = [
  { id: "one", label: "One" },
  { id: "two", label: "Two" },
];

function ShownActions() {
  const showToast = useToast();
  const [isOpen, setOpen] = useState(false);
  const [tab, setTab] = useState<"one" | "two">("one");
  const [choice, setChoice] = useState<"system" | "dark">("system");
  return (
    <>
      {[{}, { isBusy: true }, { isDisabled: true }].map((state) => (
        <div key={Object.keys(state).join()} className="flex flex-wrap gap-3">
          {looks.map((look) => (
            <Button key={look} look={look} {...state}>
              <Icon name="plus" />
              {look}
            </Button>
          ))}
        </div>
      ))}
      <div className="flex flex-wrap items-center gap-3">
        <a href="#link" className={buttonClasses("primary")}>
          See all usage
        </a>
        <CopyButton text="copied" />
        <Button onClick={() => setOpen(true)}>Open a dialog</Button>
        <Button onClick={() => showToast("Done.")}>Show a toast</Button>
        <Button onClick={() => showToast("Done.", () => {})}>Show a toast with undo</Button>
        <Menu label="A menu" name="A menu">
          <MenuChoice
            label="Theme"
            options={themes}
            chosen={choice}
            onChoose={(value) => setChoice(value === "dark" ? value : "system")}
          />
          <MenuItem onSelect={() => {}}>An item</MenuItem>
        </Menu>
      </div>
      {isOpen && (
        <Dialog title="A dialog" onClose={() => setOpen(false)}>
          <p>Dialog text.</p>
          <Button onClick={() => setOpen(false)}>Close</Button>
        </Dialog>
      )}
      <div className="flex flex-wrap gap-3 text-ink-soft">
        {icons.map((name) => (
          <Icon key={name} name={name} />
        ))}
      </div>
      <Tabs label="Tabs" tabs={tabs} chosen={tab} onChoose={(id) => setTab(id === "two" ? id : "one")}>
        Content of tab {tab}.
      </Tabs>
      <LoadMore hasMore isBusy={false} onMore={() => {}} />
    </>
  );
}

const listOptions = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ value: `model-${index}`, label: `Model ${index}` }));

function ShownFields() {
  const [text, setText] = useState("Something");
  const [option, setOption] = useState("model-1");
  const [isChecked, setChecked] = useState(true);
  const [chosen, setChosen] = useState<string[]>(["model-1"]);
  return (
    <>
      <TextField label="A text" value={text} onChange={setText} hint="A hint." />
      <TextField label="A text with an error" value={text} onChange={setText} error="This name is taken." />
      <TextField label="An empty text" value="" onChange={setText} placeholder="For example" />
      <TextArea label="A longer text" value={text} onChange={setText} />
      <PasswordField label="A password" value={text} onChange={setText} autoComplete="off" name="password" />
      <CodeField label="A code" name="code" kind="digits" value="123 456" onChange={() => {}} />
      <SelectField label="One of a few" options={listOptions(3)} value={option} onChange={setOption} />
      <div className="flex flex-wrap gap-3">
        <ChoiceField label="Few" options={listOptions(3)} value={option} onChange={setOption} />
        <ChoiceField label="Many" options={listOptions(300)} value={option} onChange={setOption} />
        <DayField label="A day" value="2026-11-17" onChange={() => {}} />
        <DayField label="A wrong day" value="2026-11-17" error="Choose a day after the first." onChange={() => {}} />
      </div>
      <CheckField label="A choice" isChecked={isChecked} onChange={setChecked} hint="A hint." />
      <CheckList
        legend="Models"
        allLabel="All models"
        isLimited
        onLimit={() => {}}
        options={listOptions(4)}
        chosen={chosen}
        onChoose={setChosen}
      />
    </>
  );
}

const models = ["sandbox-chat", "sandbox-chat-pro", "sandbox-image", "sandbox-video", "sandbox-drama"];
const colours = assignColours(models);
const bars = Array.from({ length: 24 }, (_, hour): ChartBar => {
  const parts = models.map((id, place) => {
    const size = (hour * (place + 3)) % 7;
    return { id, name: id, size, text: String(size), colour: colours.get(id) ?? 0 };
  });
  const name = `${String(hour).padStart(2, "0")}:00`;
  return { id: name, name, mark: name, text: String(parts.reduce((sum, { size }) => sum + size, 0)), parts };
});

function ShownFigures() {
  return (
    <>
      <div className="grid grid-cols-2 gap-6">
        <Stat label="A figure" value={<ExactFigure short="$79.83" exact="$79.830277015" />} detail="A detail" />
        <Stat label="Loading" value={undefined} />
      </div>
      <LazyBarChart
        label="Calls by hour and model"
        bars={bars}
        isWhole
        writeTick={String}
        openId="09:00"
        onOpen={() => {}}
      />
      <ProgressBar label="Progress" percent={40} />
      <FactList
        facts={[
          { name: "Cash", value: "$74.2470341" },
          { name: "Gift", value: "$1.28" },
        ]}
      />
      <Spinner />
      <Skeleton className="h-12" />
    </>
  );
}

type Row = { id: string; calls: number };

const listRows = (count: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({ id: `model-${index}`, calls: index * 17 }));

const columns: Column<Row>[] = [
  { name: "Model", cell: ({ id }) => id, total: "Total" },
  { name: "Calls", align: "right", cell: ({ calls }) => calls, total: 51 },
];

const empty = <EmptyState title="No models" />;

function ShownLists() {
  const shared = { columns, empty, keyOf: ({ id }: Row) => id };
  return (
    <>
      <DataTable label="Rows" rows={listRows(3)} {...shared} />
      <DataTable label="Loading" rows={undefined} expectedRows={2} {...shared} />
      <DataTable label="None" rows={[]} {...shared} />
      <DataTable label="Failed" rows={undefined} error={new Error("The service is busy.")} {...shared} />
      <DataListText title="A row of a list" detail="Details" />
      <DataTable label="Three hundred rows" rows={listRows(300)} {...shared} />
    </>
  );
}
